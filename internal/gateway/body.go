package gateway

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/stepgap/stepgap/pkg/schema"
)

const doJSON = "send one JSON object as GET /openapi.json describes it"

// body reads the request's whole body.
func (s *Server) body(c *call) ([]byte, error) {
	kind, _, err := mime.ParseMediaType(c.r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		// A web page can't send this type to another's address without asking
		// first, so it is more than a formality.
		return nil, problem(http.StatusUnsupportedMediaType, codeMediaType, "send the header Content-Type: application/json", "the body is not declared as JSON")
	}
	if e := c.r.Header.Get("Content-Encoding"); e != "" && e != "identity" {
		return nil, problem(http.StatusUnsupportedMediaType, codeMediaType, "send the body as it is", "the body is encoded as %.20q", e)
	}
	b, err := io.ReadAll(http.MaxBytesReader(c.w, c.r.Body, s.o.MaxBody))
	var large *http.MaxBytesError
	var timeout net.Error
	switch {
	case errors.As(err, &large):
		return nil, problem(http.StatusRequestEntityTooLarge, codeTooLarge, "send fewer or shorter rollouts", "the body is over %d bytes", s.o.MaxBody)
	case errors.As(err, &timeout) && timeout.Timeout():
		return nil, problem(http.StatusRequestTimeout, codeSlow, "send it faster or in parts", "the body did not come within %s", s.o.BodyTimeout)
	case err != nil:
		return nil, problem(http.StatusBadRequest, codeBadJSON, doJSON, "the body ended early")
	}
	// The deadline of the body must not end the wait that may follow.
	_ = http.NewResponseController(c.w).SetReadDeadline(time.Time{})
	if !utf8.Valid(b) {
		return nil, problem(http.StatusBadRequest, codeBadJSON, "send UTF-8", "the body is not UTF-8")
	}
	return b, checkNodes(b, maxBodyNodes)
}

// decode reads one JSON object into v. A field that v lacks is refused where
// strict is set: a misspelt one must not pass unnoticed.
func decode(b []byte, v any, strict bool) error {
	dec := json.NewDecoder(bytes.NewReader(b))
	if strict {
		dec.DisallowUnknownFields()
	}
	if first := bytes.TrimLeft(b, " \t\r\n"); len(first) > 0 && first[0] != '{' {
		return problem(http.StatusBadRequest, codeBadJSON, doJSON, "the body is no JSON object")
	}
	if err := dec.Decode(v); err != nil {
		return jsonProblem(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return problem(http.StatusBadRequest, codeBadJSON, doJSON, "something follows the JSON object")
	}
	return nil
}

func jsonProblem(err error) error {
	var p *Problem
	var wrong *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &wrong):
		field := wrong.Field
		if field == "" {
			field = "body"
		}
		return invalid(field, doJSON, "field %s is a JSON %s and should be a %s", field, wrong.Value, wrong.Type.Kind())
	case errors.As(err, &syntax):
		return problem(http.StatusBadRequest, codeBadJSON, doJSON, "the body is no JSON: %v, at byte %d", syntax, syntax.Offset)
	case errors.Is(err, io.EOF):
		return problem(http.StatusBadRequest, codeBadJSON, doJSON, "the body is empty")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return problem(http.StatusBadRequest, codeBadJSON, doJSON, "the JSON is cut off")
	}
	if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
		name = strings.Trim(name, `"`)
		return invalid(name[:min(len(name), 60)], "leave it out, or look for its name in GET /openapi.json", "there is no field %.60q", name)
	}
	return problem(http.StatusBadRequest, codeBadJSON, doJSON, "the body could not be read: %v", err)
}

// wait reads how long the caller will wait: "30s", or a number of seconds.
func (s *Server) wait(q url.Values, fallback time.Duration) (time.Duration, error) {
	const do = "write wait=30s, or a number of seconds"
	text := q.Get("wait")
	if text == "" {
		return min(fallback, s.o.MaxWait), nil
	}
	d, err := time.ParseDuration(text)
	if n, isNumber := strconv.ParseFloat(text, 64); isNumber == nil && n >= 0 && n < 1e6 {
		d, err = time.Duration(n*float64(time.Second)), nil
	}
	if err != nil || d < 0 {
		return 0, invalid("wait", do, "%.40q is no time to wait", text)
	}
	if d > s.o.MaxWait {
		return 0, invalid("wait", "ask again when the wait is over", "%s is over the longest wait, %s", d, s.o.MaxWait)
	}
	return d, nil
}

// query refuses parameters that no one reads: a misspelt one must not pass
// unnoticed.
func query(r *http.Request, known ...string) (url.Values, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, problem(http.StatusBadRequest, codeInvalid, "escape it as URLs are", "the query of the URL could not be read")
	}
	for name, values := range q {
		found := false
		for _, k := range known {
			found = found || k == name
		}
		if !found {
			return nil, invalid(name[:min(len(name), 60)], "leave it out, or look for its name in GET /openapi.json", "there is no parameter %.60q", name)
		}
		if len(values) > 1 {
			return nil, invalid(name, "give it once", "the parameter %s is given %d times", name, len(values))
		}
	}
	return q, nil
}

// rolloutID reads the ids of a path.
func rolloutID(c *call) (schema.RolloutID, error) {
	id := schema.RolloutID{Run: c.r.PathValue("run"), Rollout: c.r.PathValue("rollout")}
	if err := id.Check(); err != nil {
		return id, err
	}
	if p := c.allowed(id.Run); p != nil {
		return id, p
	}
	return id, nil
}
