package llm

import (
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"unicode"
)

const redacted = "[redacted]"

// Secret is a string that does not print: every formatter, encoder and logger
// sees "[redacted]". Reveal gives the text.
type Secret struct{ text string }

// NewSecret wraps text.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal returns the secret itself. Only what sends or hashes it should ask.
func (s Secret) Reveal() string { return s.text }

// Empty reports whether there is no secret.
func (s Secret) Empty() bool { return s.text == "" }

// String implements fmt.Stringer.
func (s Secret) String() string { return redacted }

// Format implements fmt.Formatter, so that no verb reaches the text.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalText implements encoding.TextMarshaler, for JSON and YAML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue implements slog.LogValuer.
func (s Secret) LogValue() slog.Value { return slog.StringValue(redacted) }

// maxSecretFile bounds what is read from a key file, in bytes.
const maxSecretFile = 16 << 10

// LoadSecret reads a secret from file or, where file is empty, from the
// environment variable env. An unset variable gives an empty secret: a local
// endpoint may need none. A file that is missing, empty or holds more than one
// line is an error; the error never holds the content.
func LoadSecret(env, file string) (Secret, error) {
	text, from := os.Getenv(env), "environment variable "+env
	if file != "" {
		from = "file " + file
		f, err := os.Open(file)
		if err != nil {
			return Secret{}, fmt.Errorf("reading a secret: %w", err)
		}
		defer f.Close()
		data, err := io.ReadAll(io.LimitReader(f, maxSecretFile+1))
		if err != nil {
			return Secret{}, fmt.Errorf("reading a secret from %s: %w", from, err)
		}
		if len(data) > maxSecretFile {
			return Secret{}, fmt.Errorf("reading a secret from %s: over %d bytes", from, maxSecretFile)
		}
		if len(bytes.TrimSpace(data)) == 0 {
			return Secret{}, fmt.Errorf("reading a secret from %s: it is empty", from)
		}
		text = string(data)
	}
	text = strings.TrimSpace(text)
	// A line break or control character would end up inside an HTTP header.
	if strings.IndexFunc(text, unicode.IsControl) >= 0 {
		return Secret{}, fmt.Errorf("reading a secret from %s: it must be one line of printable text", from)
	}
	return Secret{text}, nil
}
