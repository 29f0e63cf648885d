package schema

import (
	"fmt"
	"math"
	"unicode/utf8"
)

func text(field, s string, limit int) error {
	if len(s) > limit {
		return tooLarge(field, len(s), limit, "bytes")
	}
	if !utf8.ValidString(s) {
		return malformed(field, "is not valid UTF-8")
	}
	return nil
}

func count(field string, n, limit int) error {
	if n > limit {
		return tooLarge(field, n, limit, "entries")
	}
	return nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// BindStep takes run, rollout and index from id into s; a body that says
// otherwise is refused.
func (s *Step) BindStep(id StepID) error {
	if err := sameID(s.Run, s.Rollout, id.Run, id.Rollout); err != nil {
		return err
	}
	if s.Index != 0 && s.Index != id.Index {
		return malformed("index", "the body says %d, the subject %d", s.Index, id.Index)
	}
	s.Run, s.Rollout, s.Index = id.Run, id.Rollout, id.Index
	return nil
}

// BindRollout takes run and rollout from id into e; a body that says otherwise
// is refused.
func (e *RolloutEnd) BindRollout(id RolloutID) error {
	if err := sameID(e.Run, e.Rollout, id.Run, id.Rollout); err != nil {
		return err
	}
	e.Run, e.Rollout = id.Run, id.Rollout
	return nil
}

func sameID(run, rollout, subjectRun, subjectRollout string) error {
	if run != "" && run != subjectRun {
		return malformed("run", "the body says %.40q, the subject %q", run, subjectRun)
	}
	if rollout != "" && rollout != subjectRollout {
		return malformed("rollout", "the body says %.40q, the subject %q", rollout, subjectRollout)
	}
	return nil
}

// Validate checks every field of a bound step and returns a *FieldError naming
// the first that is wrong.
func (s *Step) Validate() error {
	if err := (StepID{s.Run, s.Rollout, s.Index}).Check(); err != nil {
		return err
	}
	switch s.Kind {
	case KindSearch, KindConclusion:
	default:
		return malformed("kind", "%.40q is no kind of step; use %q or %q", string(s.Kind), KindSearch, KindConclusion)
	}
	if s.Question == "" {
		return malformed("question", "is missing; every step names the question that its rollout answers")
	}
	if err := firstOf(
		text("question", s.Question, MaxQuestion),
		text("plan", s.Plan, MaxText),
		text("query", s.Query, MaxQuery),
		text("text", s.Text, MaxText),
		text("claim", s.Claim, MaxText),
		text("answer", s.Answer, MaxAnswer),
		count("passages", len(s.Passages), MaxPassages),
		count("history", len(s.History), MaxSteps),
		count("spans", len(s.Spans), MaxSpans),
	); err != nil {
		return err
	}
	for i := range s.Passages {
		if err := s.Passages[i].validate(fmt.Sprintf("passages[%d]", i), s.Index); err != nil {
			return err
		}
	}
	last := 0
	for i, p := range s.History {
		field := fmt.Sprintf("history[%d]", i)
		if p.Index <= last || p.Index >= s.Index {
			return malformed(field+".index", "%d; earlier steps are listed in rising order, below %d", p.Index, s.Index)
		}
		last = p.Index
		if err := firstOf(text(field+".query", p.Query, MaxQuery), text(field+".claim", p.Claim, MaxText)); err != nil {
			return err
		}
	}
	if s.Saw < 0 || s.Saw >= s.Index {
		return malformed("saw", "%d; a step can only have seen labels of earlier steps, 0 to %d", s.Saw, s.Index-1)
	}
	return validateSpans("spans", s.Spans)
}

func validateSpans(field string, spans []Span) error {
	for i, sp := range spans {
		at := fmt.Sprintf("%s[%d]", field, i)
		switch sp.Kind {
		case SpanPlan, SpanAction, SpanClaim, SpanAnswer:
		default:
			return malformed(at+".kind", "%.40q is no kind of span", string(sp.Kind))
		}
		if sp.Start < 0 || sp.End < sp.Start {
			return malformed(at, "[%d, %d) is no range", sp.Start, sp.End)
		}
	}
	return nil
}

func (p *Passage) validate(field string, index int) error {
	if err := firstOf(
		text(field+".title", p.Title, MaxTitle),
		text(field+".text", p.Text, MaxPassageText),
		text(field+".digest", p.Digest, maxPassageDigest),
		text(field+".ref", p.Ref, maxPassageDigest),
	); err != nil {
		return err
	}
	if p.ByStep < 1 || p.ByStep > index {
		return malformed(field+".by_step", "%d; a passage is fetched by this step or an earlier one, 1 to %d", p.ByStep, index)
	}
	switch {
	case p.Text == "" && p.Ref == "":
		return malformed(field, "has neither text nor ref")
	case p.Text != "" && p.Ref != "":
		return malformed(field, "has both text and ref; give one")
	case p.Text != "" && p.Digest != PassageDigest(p.Title, p.Text):
		return malformed(field+".digest", "is not the SHA-256 of title, NUL and text; leave it to the client library, or see PassageDigest")
	case p.Ref != "" && p.Digest != p.Ref:
		return malformed(field+".ref", "differs from the digest")
	}
	return nil
}

// Validate checks every field of a bound end and returns a *FieldError naming
// the first that is wrong.
func (e *RolloutEnd) Validate() error {
	if err := (RolloutID{e.Run, e.Rollout}).Check(); err != nil {
		return err
	}
	if err := firstOf(
		text("question", e.Question, MaxQuestion),
		text("answer", e.Answer, MaxAnswer),
		text("group", e.Group, maxGroupID),
		text("abort_reason", e.AbortReason, maxDetail),
		count("steps", len(e.Steps), MaxSteps),
		count("gold", len(e.Gold), MaxGold),
	); err != nil {
		return err
	}
	last := 0
	for i, st := range e.Steps {
		field := fmt.Sprintf("steps[%d]", i)
		if st.Index <= last || st.Index > MaxIndex {
			return malformed(field+".index", "%d; steps are listed in rising order, 1 to %d, each once", st.Index, MaxIndex)
		}
		last = st.Index
		if len(st.Digest) != 64 {
			return malformed(field+".digest", "is not a hex SHA-256 of the step's body")
		}
	}
	for i, g := range e.Gold {
		if err := text(fmt.Sprintf("gold[%d]", i), g, MaxAnswer); err != nil {
			return err
		}
	}
	if e.GroupSize < 0 || e.GroupSize > 1<<20 {
		return malformed("group_size", "%d is out of range", e.GroupSize)
	}
	if e.DeadlineMS < 0 {
		return malformed("deadline_ms", "%d is negative", e.DeadlineMS)
	}
	return nil
}

// Validate refuses a label that holds a number which is none, or a combination
// that the tree cannot give.
func (l *Label) Validate() error {
	if err := (StepID{l.Run, l.Rollout, l.Index}).Check(); err != nil {
		return err
	}
	if !l.Label.Valid() {
		return malformed("label", "%.40q is no label", string(l.Label))
	}
	if l.Repair != l.Label.Repair() {
		return malformed("repair", "%q does not belong to %q", l.Repair, l.Label)
	}
	if l.Label == GapUngraded && l.Reason == "" {
		return malformed("reason", "is missing; an ungraded label says why")
	}
	if err := firstOf(
		count("quotes", len(l.Quotes), MaxQuotes),
		count("trail", len(l.Trail), MaxTrail),
	); err != nil {
		return err
	}
	for i := range l.Trail {
		t := &l.Trail[i]
		if err := count(fmt.Sprintf("trail[%d].windows", i), len(t.Windows), MaxWindows); err != nil {
			return err
		}
		if t.Scores != nil && !(finite(t.Scores.Entailment) && finite(t.Scores.Neutral) && finite(t.Scores.Contradiction)) {
			return malformed(fmt.Sprintf("trail[%d].scores", i), "hold a number that is none")
		}
		if t.Confidence != nil && !finite(*t.Confidence) {
			return malformed(fmt.Sprintf("trail[%d].confidence", i), "is not a number")
		}
	}
	return nil
}

// Validate refuses a reward that holds a number which is none, or is null
// without a reason.
func (r *Reward) Validate() error {
	if err := (RolloutID{r.Run, r.Rollout}).Check(); err != nil {
		return err
	}
	if r.Process == nil && r.Reason == "" {
		return malformed("reason", "is missing; a null reward says why")
	}
	if err := firstOf(
		number("process", r.Process),
		number("outcome.em", r.Outcome.EM),
		number("outcome.f1", r.Outcome.F1),
		number("outcome.cover_em", r.Outcome.CoverEM),
	); err != nil {
		return err
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		field := fmt.Sprintf("steps[%d].", i)
		if err := firstOf(number(field+"base", s.Base), number(field+"shape", s.Shape), number(field+"reward", s.Reward)); err != nil {
			return err
		}
	}
	return nil
}

func number(field string, v *float64) error {
	if v != nil && !finite(*v) {
		return malformed(field, "%v is not a number", *v)
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
