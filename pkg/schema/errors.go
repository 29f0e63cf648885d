package schema

import (
	"errors"
	"fmt"
)

// FieldError says which field of a message is wrong, and how.
type FieldError struct {
	// Field is a path such as "passages[3].text".
	Field string
	// Problem says what is wrong and what would be right.
	Problem string
	// Reason is ReasonMalformed or ReasonTooLarge.
	Reason Reason
}

func (e *FieldError) Error() string { return fmt.Sprintf("field %s: %s", e.Field, e.Problem) }

// FrameError says that bytes are not an acceptable MessagePack body; nothing
// was decoded.
type FrameError struct {
	Offset  int
	Problem string
	Reason  Reason
}

func (e *FrameError) Error() string {
	return fmt.Sprintf("MessagePack body, byte %d: %s", e.Offset, e.Problem)
}

// ReasonOf returns the typed reason that err carries, or ReasonMalformed.
func ReasonOf(err error) Reason {
	var fe *FieldError
	if errors.As(err, &fe) && fe.Reason != "" {
		return fe.Reason
	}
	var fr *FrameError
	if errors.As(err, &fr) && fr.Reason != "" {
		return fr.Reason
	}
	return ReasonMalformed
}

func malformed(field, format string, args ...any) error {
	return &FieldError{Field: field, Problem: fmt.Sprintf(format, args...), Reason: ReasonMalformed}
}

func tooLarge(field string, got, limit int, unit string) error {
	return &FieldError{Field: field, Problem: fmt.Sprintf("%d %s, the limit is %d", got, unit, limit), Reason: ReasonTooLarge}
}
