package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of an answer's text.
const (
	maxAnswer = 64 << 10 // bytes
	maxDepth  = 16       // nested objects and arrays
	maxBlocks = 64       // places at which a JSON object may begin
)

// Validator is implemented by answer types that check their own values. The
// error should name the field.
type Validator interface{ Validate() error }

// readAnswer reads text into a T, in this order: the whole text as one JSON
// object; the object in a code fence; the only balanced {...} block that reads
// as a T. Several blocks that read differently are ambiguous, never guessed at.
//
// An object must have exactly T's fields (those without omitempty are
// required), each once, of T's types; a T that is a Validator checks the
// values. Errors are *AnswerError.
func readAnswer[T any](text string) (T, error) {
	var zero T
	if len(text) > maxAnswer {
		return zero, faultf(FaultTooLarge, "%d bytes, at most %d", len(text), maxAnswer)
	}
	text = dropThinking(strings.TrimSpace(strings.TrimPrefix(text, "\ufeff")))
	if text == "" {
		return zero, faultf(FaultEmpty, "no text")
	}
	if !utf8.ValidString(text) {
		return zero, faultf(FaultNotJSON, "the text is not valid UTF-8")
	}
	value, err := readObject[T](text)
	if err == nil {
		return value, nil
	}
	// The strict reading's fault is the telling one if the whole text was an
	// object; otherwise look for one inside.
	if json.Valid([]byte(text)) {
		return zero, err
	}
	if fenced := fences(text); len(fenced) > 0 {
		if value, ferr := pick[T](fenced); ferr == nil || !isFault(ferr, FaultNotJSON) {
			return value, ferr
		}
	}
	found := blocks(text)
	if len(found) == 0 {
		return zero, err
	}
	return pick[T](found)
}

// pick reads every candidate and returns the value that all readable ones
// share.
func pick[T any](candidates []string) (T, error) {
	var (
		value T
		seen  bool
		first error
	)
	for _, c := range candidates {
		v, err := readObject[T](strings.TrimSpace(c))
		switch {
		case err != nil && first == nil:
			first = err
		case err != nil:
		case !seen:
			value, seen = v, true
		case !reflect.DeepEqual(v, value):
			var zero T
			return zero, faultf(FaultAmbiguous, "several objects that differ")
		}
	}
	if !seen {
		return value, first
	}
	return value, nil
}

// readObject reads text as exactly one T.
func readObject[T any](text string) (T, error) {
	var value, zero T
	var syntax json.RawMessage
	if err := json.Unmarshal([]byte(text), &syntax); err != nil {
		return zero, faultf(FaultNotJSON, "%v", err)
	}
	if err := checkObject(text, fieldsOf(reflect.TypeFor[T]())); err != nil {
		return zero, err
	}
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		var typeErr *json.UnmarshalTypeError
		if errors.As(err, &typeErr) {
			return zero, faultf(FaultType, "field %q: a JSON %s", typeErr.Field, typeErr.Value)
		}
		return zero, faultf(FaultNotJSON, "%v", err)
	}
	if v, ok := any(&value).(Validator); ok {
		if err := v.Validate(); err != nil {
			return zero, faultf(FaultValue, "%v", err)
		}
	}
	return value, nil
}

// field is what the reader must know of an answer's field.
type field struct {
	name     string
	required bool
}

func fieldsOf(t reflect.Type) []field {
	var out []field
	for i := range t.NumField() {
		name, opts, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		out = append(out, field{name: name, required: !strings.Contains(opts, "omitempty")})
	}
	return out
}

// checkObject checks what encoding/json lets pass in text, valid JSON: keys
// given twice, in another case, missing or unknown, a null, and depth.
func checkObject(text string, fields []field) error {
	dec := json.NewDecoder(strings.NewReader(text))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return faultf(FaultNotJSON, "it does not begin with a JSON object")
	}
	seen := map[string]bool{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return faultf(FaultNotJSON, "%v", err)
		}
		key, _ := tok.(string)
		if seen[key] {
			return faultf(FaultAmbiguous, "field %q is given twice", key)
		}
		seen[key] = true
		if !slices.ContainsFunc(fields, func(f field) bool { return f.name == key }) {
			return faultf(FaultField, "unknown field %q", key)
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return faultf(FaultNotJSON, "%v", err)
		}
		if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
			return faultf(FaultType, "field %q: a JSON null", key)
		}
		if depth(raw) > maxDepth {
			return faultf(FaultType, "field %q: nested too deeply", key)
		}
	}
	for _, f := range fields {
		if f.required && !seen[f.name] {
			return faultf(FaultField, "field %q is missing", f.name)
		}
	}
	return nil
}

// depth is how deeply raw, valid JSON, nests.
func depth(raw []byte) int {
	level, deepest, inString, escaped := 0, 0, false, false
	for _, b := range raw {
		switch {
		case escaped:
			escaped = false
		case inString:
			escaped, inString = b == '\\', b != '"'
		case b == '"':
			inString = true
		case b == '{', b == '[':
			level++
			deepest = max(deepest, level)
		case b == '}', b == ']':
			level--
		}
	}
	return deepest
}

// dropThinking removes the reasoning that some servers leave in the text.
func dropThinking(text string) string {
	if !strings.HasPrefix(text, "<think>") {
		return text
	}
	if i := strings.LastIndex(text, "</think>"); i >= 0 {
		return strings.TrimSpace(text[i+len("</think>"):])
	}
	return text
}

// fences returns the contents of ``` code fences.
func fences(text string) []string {
	parts := strings.Split(text, "```")
	var out []string
	for i := 1; i+1 < len(parts) && len(out) < maxBlocks; i += 2 {
		body := parts[i]
		if line, rest, ok := strings.Cut(body, "\n"); ok && !strings.ContainsAny(line, "{}\"") {
			body = rest // the language's name
		}
		out = append(out, strings.TrimSpace(strings.TrimPrefix(body, "json")))
	}
	return out
}

// blocks returns the outermost balanced {...} blocks, strings respected. An
// opening brace that never closes is passed over; only the first maxBlocks
// braces are tried, so that the work stays bounded.
func blocks(text string) []string {
	var out []string
	for tries, from := 0, 0; tries < maxBlocks; tries++ {
		open := strings.IndexByte(text[from:], '{')
		if open < 0 {
			break
		}
		open += from
		if end := balanced(text[open:]); end > 0 {
			out = append(out, text[open:open+end])
			from = open + end
		} else {
			from = open + 1
		}
	}
	return out
}

// balanced returns the length of the balanced block that text begins with, or 0.
func balanced(text string) int {
	level, inString, escaped := 0, false, false
	for i := range len(text) {
		switch b := text[i]; {
		case escaped:
			escaped = false
		case inString:
			escaped, inString = b == '\\', b != '"'
		case b == '"':
			inString = true
		case b == '{':
			level++
		case b == '}':
			if level--; level == 0 {
				return i + 1
			}
		}
	}
	return 0
}

func isFault(err error, fault Fault) bool {
	var answer *AnswerError
	return errors.As(err, &answer) && answer.Fault == fault
}
