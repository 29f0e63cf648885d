package schema

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/vmihailenco/msgpack/v5"
)

// Message is any body that travels over the wire.
type Message interface {
	Step | RolloutEnd | Label | Reward | Dead | LiveAnswer | Work | Transcript
}

// Encode writes m as a MessagePack map, keys in the order of the struct, so
// that equal messages give equal bytes. It does not validate.
func Encode[T Message](m *T) ([]byte, error) {
	var buf bytes.Buffer
	enc := msgpack.NewEncoder(&buf)
	enc.UseCompactInts(true)
	enc.SetSortMapKeys(true)
	if err := enc.Encode(m); err != nil {
		return nil, fmt.Errorf("encoding %T: %w", *m, err)
	}
	if buf.Len() > MaxMessage {
		return nil, &FieldError{
			Field:   "message",
			Problem: fmt.Sprintf("%d bytes encoded, the limit is %d; publish long passages by ref", buf.Len(), MaxMessage),
			Reason:  ReasonTooLarge,
		}
	}
	return buf.Bytes(), nil
}

// Decode reads a MessagePack map into m after checking the frame, so that a
// hostile body costs no more memory than a small multiple of its own size.
// Unknown keys are ignored. It does not validate the fields.
func Decode[T Message](b []byte, m *T) error {
	if err := checkFrame(b); err != nil {
		return fmt.Errorf("decoding %T: %w", *m, err)
	}
	dec := msgpack.NewDecoder(bytes.NewReader(b))
	if err := dec.Decode(m); err != nil {
		return fmt.Errorf("decoding %T: %w", *m, &FrameError{Problem: err.Error(), Reason: ReasonMalformed})
	}
	return nil
}

// Digest is the hex SHA-256 of a body as published.
func Digest(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// PassageDigest is the hex SHA-256 of title, a NUL byte, and text.
func PassageDigest(title, text string) string {
	h := sha256.New()
	h.Write([]byte(title))
	h.Write([]byte{0})
	h.Write([]byte(text))
	return hex.EncodeToString(h.Sum(nil))
}
