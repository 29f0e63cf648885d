package llm

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// retryable reports whether the same request may succeed if sent again.
func retryable(err error) bool {
	var status *statusError
	switch {
	case errors.As(err, &status):
		switch status.code {
		case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
			return true
		}
		return status.code >= 500
	case errors.Is(err, errTooLarge), errors.Is(err, errRedirect), isTrustError(err):
		return false
	case errors.Is(err, context.Canceled), errors.Is(err, errQueued), errors.Is(err, ErrOverLimit), isDown(err):
		return false
	default: // refused, reset, cut in mid-body, timed out, not JSON
		return true
	}
}

// isDown reports whether nothing was sent, since no endpoint is up.
func isDown(err error) bool {
	var down *downError
	return errors.As(err, &down)
}

// isTrustError reports whether TLS failed for a reason that time won't mend.
func isTrustError(err error) bool {
	var (
		verify    *tls.CertificateVerificationError
		record    tls.RecordHeaderError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
	)
	return errors.Is(err, http.ErrSchemeMismatch) || errors.As(err, &verify) || errors.As(err, &record) ||
		errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &invalid)
}

// backoff is the wait before the next attempt: full jitter, on top of what the
// endpoint asked for, so that workers told the same time don't come together.
// What one endpoint asked for keeps nobody from another.
func (t *transport) backoff(attempts int, err error, elsewhere bool) time.Duration {
	limit := float64(t.cfg.BackoffBase) * math.Pow(2, float64(attempts-1))
	limit = min(limit, float64(t.cfg.BackoffMax))
	wait := time.Duration(t.rand() * limit)
	var status *statusError
	if errors.As(err, &status) && !elsewhere {
		wait += status.wait
	}
	return wait
}

// maxRetryAfter caps what an endpoint can ask for; a date far off is a broken
// clock more often than a wish.
const maxRetryAfter = time.Hour

// retryAfter reads how long the endpoint asks to be left alone: Retry-After in
// seconds or as a date, or retry-after-ms. 0 where it doesn't say or makes no
// sense.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil {
		return clampWait(ms * float64(time.Millisecond))
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(value, 64); err == nil {
		return clampWait(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return clampWait(float64(at.Sub(now)))
	}
	return 0
}

func clampWait(d float64) time.Duration {
	if math.IsNaN(d) || d <= 0 {
		return 0
	}
	return time.Duration(min(d, float64(maxRetryAfter)))
}

// errorMessage finds the endpoint's own words in an error body; vendors nest
// them differently, and proxies send HTML, of which nothing is kept.
func errorMessage(body []byte) string {
	var shapes struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(body, &shapes) != nil {
		return ""
	}
	for _, raw := range []json.RawMessage{shapes.Error, shapes.Detail} {
		var text string
		if json.Unmarshal(raw, &text) == nil && text != "" {
			return text
		}
		var nested struct {
			Message string `json:"message"`
		}
		if json.Unmarshal(raw, &nested) == nil && nested.Message != "" {
			return nested.Message
		}
	}
	return shapes.Message
}

// maxMessage bounds what is repeated of an endpoint's words, in runes.
const maxMessage = 300

// scrub makes an endpoint's words fit for a log or a label: without the key,
// which some endpoints echo, on one line, and short.
func scrub(text string, key Secret) string {
	if !key.Empty() {
		text = strings.ReplaceAll(text, key.Reveal(), redacted)
	}
	return clip(strings.Join(strings.Fields(text), " "), maxMessage)
}

// clip cuts text to at most limit runes, saying so.
func clip(text string, limit int) string {
	count := 0
	for i := range text {
		if count == limit {
			return text[:i] + "…"
		}
		count++
	}
	return text
}
