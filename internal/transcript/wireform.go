package transcript

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/stepgap/stepgap/pkg/schema"
)

// errWireForm says that a record holds steps as the wire has them.
var errWireForm = errors.New("steps in wire form")

// isWireForm tells schema.Step in JSON from simple turns.
func isWireForm(steps []record) bool {
	for _, s := range steps {
		if s.has("kind") || s.has("index") || s.has("claim") {
			return true
		}
	}
	return false
}

// fromWire takes steps as the wire has them. What a publisher may leave out is
// filled in: indices, the question, digests, who fetched a passage (the step
// that lists it), earlier steps' passages and the history.
func fromWire(r record) (*Rollout, error) {
	var steps []schema.Step
	if err := json.Unmarshal(r["steps"], &steps); err != nil {
		return nil, fmt.Errorf("reading steps in wire form: %w", err)
	}
	tooMany := len(steps) > schema.MaxIndex
	if tooMany {
		steps = steps[:schema.MaxIndex]
	}
	out := &Rollout{Format: FormatStepGap, Question: r.str("question"), Text: r.str("text"), Answer: r.id("answer")}
	if tooMany {
		out.warn(WarnTooManySteps, 0, "the wire's limit")
	}
	given := out.Text != ""
	var w script
	var pass pile
	for i := range steps {
		s := &steps[i]
		s.Run, s.Rollout, s.Index, s.History = "", "", i+1, nil
		switch s.Kind {
		case schema.KindSearch, schema.KindConclusion:
		case "":
			s.Kind = schema.KindSearch
		default:
			out.warn(WarnUnexpectedSource, s.Index, fmt.Sprintf("%.40q is no kind of step", string(s.Kind)))
			s.Kind = schema.KindSearch
		}
		if s.Saw < 0 || s.Saw >= s.Index {
			s.Saw = 0
		}
		if s.Kind == schema.KindConclusion {
			s.Query, s.Passages = "", nil
		}
		if s.Question == "" {
			s.Question = out.Question
		} else if out.Question == "" {
			out.Question = s.Question
		}
		var own []document
		var refs []schema.Passage
		for _, p := range s.Passages {
			switch {
			case p.ByStep != 0 && p.ByStep != s.Index:
			case p.Text == "" && len(p.Ref) == len(schema.PassageDigest("", "")):
				p.Digest, p.Title = p.Ref, cut(p.Title, schema.MaxTitle)
				refs = append(refs, p)
			case deny(p.Text) == denyNothing:
				own = append(own, document{p.Title, p.Text})
			default:
				out.warn(WarnNoEvidence, s.Index, brief(p.Text))
			}
		}
		s.Passages = pass.fetch(s.Index, own)
		for _, p := range refs {
			p.ByStep = s.Index
			s.Passages = append(s.Passages, p)
		}
		if !given {
			s.Spans = writeStep(&w, s)
		}
		if s.Kind == schema.KindConclusion && out.Answer == "" {
			out.Answer = s.Answer
		}
	}
	if !given {
		out.Text = w.b.String()
	}
	out.Steps = steps
	x := newRuneIndex(out.Text)
	total := x.at(len(out.Text))
	for i := range out.Steps {
		s := &out.Steps[i]
		kept := s.Spans[:0]
		for _, sp := range s.Spans {
			if !given {
				sp.Start, sp.End = x.at(sp.Start), x.at(sp.End)
			}
			if !known(sp.Kind) || sp.Start < 0 || sp.End < sp.Start || sp.End > total {
				out.warn(WarnBadSpan, s.Index, fmt.Sprintf("[%d, %d) of %d", sp.Start, sp.End, total))
				continue
			}
			kept = append(kept, sp)
		}
		s.Spans = kept
	}
	return out, nil
}

func known(k schema.SpanKind) bool {
	switch k {
	case schema.SpanPlan, schema.SpanAction, schema.SpanClaim, schema.SpanAnswer:
		return true
	}
	return false
}

// writeStep writes what the policy said in a step; its spans are in bytes.
func writeStep(w *script, s *schema.Step) []schema.Span {
	var spans []schema.Span
	w.gap()
	for _, part := range []struct {
		kind schema.SpanKind
		text string
	}{{schema.SpanPlan, s.Plan}, {schema.SpanAction, s.Query}, {schema.SpanClaim, firstOf(s.Text, s.Claim)}, {schema.SpanAnswer, s.Answer}} {
		if part.text == "" {
			continue
		}
		at := w.line(part.text).trimmed(w.b.String())
		if at.empty() {
			continue
		}
		spans = append(spans, schema.Span{Kind: part.kind, Start: at.start, End: at.end})
	}
	return spans
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
