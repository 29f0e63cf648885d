package schema

import (
	"fmt"
	"strconv"
	"strings"
)

// Subject prefixes; what follows is <run>.<rollout>[.<index>].
const (
	PrefixSteps   = "stepgap.steps"
	PrefixAbstain = "stepgap.abstain"
	PrefixQuote   = "stepgap.quote"
	PrefixLocal   = "stepgap.local"
	PrefixCross   = "stepgap.cross"
	PrefixLabels  = "stepgap.labels"
	PrefixEnds    = "stepgap.ends"
	PrefixRewards = "stepgap.rewards"
	PrefixLive    = "stepgap.live"
	PrefixDead    = "stepgap.dead"
	// PrefixTranscripts is that of whole rollouts, still to be cut into steps.
	PrefixTranscripts = "stepgap.transcripts"
)

// Headers.
const (
	// HeaderSchema carries Version on every message.
	HeaderSchema = "Stepgap-Schema"
	// HeaderAccepted is the server's time stamp of the accepted step, Unix
	// nanoseconds. Stages set it; a publisher's is ignored.
	HeaderAccepted = "Stepgap-Accepted"
	// HeaderDeadline is the step's deadline as a duration from its acceptance,
	// such as "30m"; "0" for none. Publishers may set it.
	HeaderDeadline = "Stepgap-Deadline"
	// HeaderDigest is the step's digest, so that a stage can label a step whose
	// body it never decodes. Stages set it.
	HeaderDigest = "Stepgap-Digest"
	// HeaderReply is the inbox on which a live check is answered.
	HeaderReply = "Stepgap-Reply"
	// HeaderReason is the reason of a dead letter, for reading without
	// decoding.
	HeaderReason = "Stepgap-Reason"
)

// StepID addresses one step.
type StepID struct {
	Run, Rollout string
	Index        int
}

func (id StepID) String() string {
	return fmt.Sprintf("run %s, rollout %s, step %d", id.Run, id.Rollout, id.Index)
}

// RolloutID addresses one rollout.
type RolloutID struct {
	Run, Rollout string
}

func (id RolloutID) String() string { return fmt.Sprintf("run %s, rollout %s", id.Run, id.Rollout) }

// ValidID reports whether s can be a run or rollout id: 1 to 128 of
// A-Z a-z 0-9 _ -.
func ValidID(s string) bool {
	if len(s) == 0 || len(s) > MaxID {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return false
		}
	}
	return true
}

// CheckID returns a FieldError naming field if s cannot be an id.
func CheckID(field, s string) error {
	if ValidID(s) {
		return nil
	}
	shown := s
	if len(shown) > 40 {
		shown = shown[:40] + "..."
	}
	return malformed(field, "%q is not an id; use 1 to %d of the characters A-Z a-z 0-9 _ -", shown, MaxID)
}

// Check returns an error naming the part of the id that is wrong.
func (id StepID) Check() error {
	if err := (RolloutID{id.Run, id.Rollout}).Check(); err != nil {
		return err
	}
	if id.Index < 1 || id.Index > MaxIndex {
		return malformed("index", "%d is out of range; steps count from 1 to %d", id.Index, MaxIndex)
	}
	return nil
}

// Check returns an error naming the part of the id that is wrong.
func (id RolloutID) Check() error {
	if err := CheckID("run", id.Run); err != nil {
		return err
	}
	return CheckID("rollout", id.Rollout)
}

// Subject returns prefix.<run>.<rollout>.<index>.
func (id StepID) Subject(prefix string) string {
	return prefix + "." + id.Run + "." + id.Rollout + "." + strconv.Itoa(id.Index)
}

// Subject returns prefix.<run>.<rollout>.
func (id RolloutID) Subject(prefix string) string { return prefix + "." + id.Run + "." + id.Rollout }

// Step returns the id of step index of the rollout.
func (id RolloutID) Step(index int) StepID { return StepID{id.Run, id.Rollout, index} }

// RolloutID returns the id of the step's rollout.
func (id StepID) RolloutID() RolloutID { return RolloutID{id.Run, id.Rollout} }

// LiveSubject returns stepgap.live.<kind>.<run>.<rollout>.<index>.
func LiveSubject(kind LiveKind, id StepID) string {
	return id.Subject(PrefixLive + "." + string(kind))
}

// DeadSubject returns stepgap.dead.<stage>.<run>.<rollout>.<index>. Ends have
// index 0. Ids that cannot stand in a subject become "_".
func DeadSubject(stage Stage, id StepID) string {
	if !ValidID(id.Run) {
		id.Run = "_"
	}
	if !ValidID(id.Rollout) {
		id.Rollout = "_"
	}
	return id.Subject(PrefixDead + "." + string(stage))
}

// ParseStep reads <prefix>.<run>.<rollout>.<index>, where prefix may itself
// hold any number of tokens.
func ParseStep(prefix, subject string) (StepID, error) {
	rest, ok := strings.CutPrefix(subject, prefix+".")
	if !ok {
		return StepID{}, malformed("subject", "%q does not start with %q", subject, prefix)
	}
	parts := strings.Split(rest, ".")
	if len(parts) != 3 {
		return StepID{}, malformed("subject", "%q is not %s.<run>.<rollout>.<index>", subject, prefix)
	}
	index, err := strconv.Atoi(parts[2])
	if err != nil || strconv.Itoa(index) != parts[2] {
		return StepID{Run: parts[0], Rollout: parts[1]}, malformed("subject", "index %q is not a number from 1 to %d", parts[2], MaxIndex)
	}
	id := StepID{Run: parts[0], Rollout: parts[1], Index: index}
	return id, id.Check()
}

// ParseRollout reads <prefix>.<run>.<rollout>.
func ParseRollout(prefix, subject string) (RolloutID, error) {
	rest, ok := strings.CutPrefix(subject, prefix+".")
	if !ok {
		return RolloutID{}, malformed("subject", "%q does not start with %q", subject, prefix)
	}
	parts := strings.Split(rest, ".")
	if len(parts) != 2 {
		return RolloutID{}, malformed("subject", "%q is not %s.<run>.<rollout>", subject, prefix)
	}
	id := RolloutID{parts[0], parts[1]}
	return id, id.Check()
}

// ParseLive reads stepgap.live.<kind>.<run>.<rollout>.<index>.
func ParseLive(subject string) (LiveKind, StepID, error) {
	rest, ok := strings.CutPrefix(subject, PrefixLive+".")
	if !ok {
		return "", StepID{}, malformed("subject", "%q does not start with %q", subject, PrefixLive)
	}
	kind, _, _ := strings.Cut(rest, ".")
	switch LiveKind(kind) {
	case LivePlan, LiveProbe, LiveRelevance:
	default:
		return "", StepID{}, malformed("subject", "%q is no live check; use plan or probe", kind)
	}
	id, err := ParseStep(PrefixLive+"."+kind, subject)
	return LiveKind(kind), id, err
}
