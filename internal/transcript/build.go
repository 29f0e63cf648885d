package transcript

import (
	"strings"
	"unicode/utf8"

	"github.com/stepgap/stepgap/internal/claim"
	"github.com/stepgap/stepgap/pkg/schema"
)

// located is a sentence with where it stands in the rollout's text.
type located struct {
	claim.Sentence
	at seg
}

// builder cuts a draft into steps.
type builder struct {
	d    *draft
	out  *Rollout
	x    *runeIndex
	pile pile
	// open is the index in out.Steps of the step whose claim the next turn
	// gives; -1 where there is none.
	open int
}

// build cuts a draft into a rollout's steps.
func build(d *draft) *Rollout {
	b := &builder{d: d, open: -1, x: newRuneIndex(d.text)}
	b.out = &Rollout{Format: d.format, Question: strings.TrimSpace(d.question), Text: d.text,
		Gold: d.gold, Correct: d.correct, Group: d.group, Warnings: d.warnings}
	turns := d.turns
	last := len(turns)
	for last > 0 && turns[last-1].act != actSearch {
		last--
	}
	for i := range turns[:last] {
		if len(b.out.Steps) >= schema.MaxIndex-3 {
			b.out.warn(WarnTooManySteps, 0, "the wire's limit")
			break
		}
		b.turn(&turns[i])
	}
	b.final(turns[last:])
	return b.out
}

// sentences splits what a turn says.
func (b *builder) sentences(say []seg) []located {
	var out []located
	for _, s := range say {
		for _, sent := range claim.Split(s.in(b.d.text)) {
			out = append(out, located{sent, seg{s.start + sent.Start, s.start + sent.End}})
		}
	}
	return out
}

// turn reads a turn that isn't of the last ones: claims of the open step, the
// plan of the next, and its search.
func (b *builder) turn(t *turn) {
	sents := b.sentences(t.say)
	var claims, plan []located
	for _, s := range sents {
		if s.Class.Asserts() {
			claims = append(claims, s)
		} else {
			plan = append(plan, s)
		}
	}
	text := b.written(t.say)
	switch {
	case b.open >= 0:
		step := &b.out.Steps[b.open]
		step.Text, step.Claim = join(step.Text, text, "\n"), join(step.Claim, stripped(claims), " ")
		b.spans(step, schema.SpanClaim, claims)
	case len(claims) > 0:
		step := b.add(schema.Step{Kind: schema.KindSearch, Text: text, Claim: stripped(claims)}, nil)
		b.spans(step, schema.SpanClaim, claims)
	}
	b.note(t)
	if t.act != actSearch {
		// an action that is no search, in mid-rollout: its words count, it
		// makes no step
		return
	}
	step := b.add(schema.Step{Kind: schema.KindSearch, Plan: words(plan), Query: t.value}, t.docs)
	b.spans(step, schema.SpanPlan, plan)
	b.span(step, schema.SpanAction, t.at)
	b.noteSearch(t, step)
	b.open = len(b.out.Steps) - 1
}

// note carries a turn's warnings over; those of a search concern the step that
// it makes.
func (b *builder) note(t *turn) {
	at := len(b.out.Steps)
	if t.act == actSearch {
		at++
	}
	for _, w := range t.warnings {
		b.out.warn(w.Code, at, w.Detail)
	}
}

func (b *builder) noteSearch(t *turn, step *schema.Step) {
	if t.value == "" {
		b.out.warn(WarnEmptyQuery, step.Index, "a search without a query")
	}
	if !t.answered {
		b.out.warn(WarnNoEvidence, step.Index, "no observation follows the search")
	}
	for _, s := range b.out.Steps[:step.Index-1] {
		if t.value != "" && strings.EqualFold(s.Query, t.value) {
			b.out.warn(WarnDuplicateQuery, step.Index, brief(t.value))
			break
		}
	}
}

// final reads the turns after the last search: the claim of the last step, and
// the conclusion.
func (b *builder) final(turns []turn) {
	var say []seg
	var answer *turn
	for i := range turns {
		t := &turns[i]
		b.note(t)
		say = append(say, t.say...)
		if t.act == actAnswer {
			if answer != nil && answer.value != t.value {
				b.out.warn(WarnSeveralAnswers, 0, brief(answer.value))
			}
			answer = t
		}
	}
	sents := b.sentences(say)
	var facts, conclusions []located
	for _, s := range sents {
		switch {
		case s.Class == claim.Conclusion:
			conclusions = append(conclusions, s)
		case s.Class == claim.Claim:
			facts = append(facts, s)
		}
	}
	if answer != nil {
		b.out.Answer = answer.value
	} else {
		b.out.warn(WarnNoAnswer, 0, "the rollout ends without an answer")
	}
	concludes := answer != nil || len(conclusions) > 0
	head, tail := say, []seg(nil)
	if len(conclusions) > 0 {
		head, tail = cutAt(say, conclusions[0].at.start)
	}
	switch {
	case b.open >= 0:
		step := &b.out.Steps[b.open]
		step.Text, step.Claim = join(step.Text, b.written(head), "\n"), join(step.Claim, stripped(facts), " ")
		b.spans(step, schema.SpanClaim, facts)
	case len(facts) > 0:
		step := b.add(schema.Step{Kind: schema.KindSearch, Text: b.written(head), Claim: stripped(facts)}, nil)
		b.spans(step, schema.SpanClaim, facts)
	}
	if concludes {
		b.conclude(answer, conclusions, tail)
	}
}

// conclude adds the conclusion step.
func (b *builder) conclude(answer *turn, conclusions []located, tail []seg) {
	s := schema.Step{Kind: schema.KindConclusion, Text: b.written(tail)}
	used := conclusions
	if answer != nil {
		s.Answer = answer.value
	}
	switch {
	case answer == nil || strings.TrimSpace(answer.value) == "":
		if n := len(conclusions); n > 0 {
			s.Claim = conclusions[n-1].Stripped
			used = conclusions[n-1:]
		}
	case claim.AbstainingAnswer(b.out.Question, answer.value):
	default:
		s.Claim = claim.ConcludingClaim(b.out.Question, answer.value, "")
		for i := len(conclusions) - 1; i >= 0; i-- {
			if c := claim.ConcludingClaim(b.out.Question, answer.value, conclusions[i].Stripped); c == conclusions[i].Stripped {
				s.Claim, used = c, conclusions[i:i+1]
				break
			}
		}
	}
	step := b.add(s, nil)
	b.spans(step, schema.SpanClaim, used)
	if answer != nil {
		b.span(step, schema.SpanAnswer, answer.at)
	}
}

// add appends a step with its passages and returns it.
func (b *builder) add(s schema.Step, docs []document) *schema.Step {
	s.Index = len(b.out.Steps) + 1
	s.Question = b.out.Question
	s.Passages = b.pile.fetch(s.Index, docs)
	b.out.Steps = append(b.out.Steps, s)
	return &b.out.Steps[len(b.out.Steps)-1]
}

func (b *builder) span(step *schema.Step, kind schema.SpanKind, at seg) {
	if at.empty() {
		return
	}
	step.Spans = append(step.Spans, schema.Span{Kind: kind, Start: b.x.at(at.start), End: b.x.at(at.end)})
}

// spans adds one span for each run of sentences that only white space and
// joining words part.
func (b *builder) spans(step *schema.Step, kind schema.SpanKind, sents []located) {
	var run seg
	for _, s := range sents {
		if !run.empty() && s.at.start >= run.end && strings.TrimSpace(b.d.text[run.end:s.at.start]) == "" {
			run.end = s.at.end
			continue
		}
		b.span(step, kind, run)
		run = s.at
	}
	b.span(step, kind, run)
}

// written is what the policy wrote in segs, as written.
func (b *builder) written(segs []seg) string {
	var parts []string
	for _, s := range segs {
		if t := strings.TrimSpace(s.in(b.d.text)); t != "" {
			parts = append(parts, t)
		}
	}
	return strings.Join(parts, "\n")
}

// cutAt divides segs at an offset.
func cutAt(segs []seg, offset int) (head, tail []seg) {
	for _, s := range segs {
		switch {
		case s.end <= offset:
			head = append(head, s)
		case s.start >= offset:
			tail = append(tail, s)
		default:
			head = append(head, seg{s.start, offset})
			tail = append(tail, seg{offset, s.end})
		}
	}
	return head, tail
}

func stripped(sents []located) string {
	parts := make([]string, len(sents))
	for i, s := range sents {
		parts[i] = s.Stripped
	}
	return strings.Join(parts, " ")
}

func words(sents []located) string {
	parts := make([]string, len(sents))
	for i, s := range sents {
		parts[i] = strings.TrimSpace(s.Text)
	}
	return strings.Join(parts, " ")
}

func join(a, b, sep string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + sep + b
}

// cut shortens s to at most limit bytes, between characters.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// finish fits everything to the wire and writes the histories.
func (r *Rollout) finish() {
	if r.Question == "" {
		r.warn(WarnNoQuestion, 0, "steps need the question that they answer")
	}
	r.clip(&r.Question, schema.MaxQuestion, 0, "question")
	r.clip(&r.Answer, schema.MaxAnswer, 0, "answer")
	priors := make([]schema.Prior, 0, len(r.Steps))
	room := schema.MaxMessage / 16
	for i := range r.Steps {
		s := &r.Steps[i]
		s.Question = r.Question
		r.clip(&s.Plan, schema.MaxText, s.Index, "plan")
		r.clip(&s.Query, schema.MaxQuery, s.Index, "query")
		r.clip(&s.Text, schema.MaxText, s.Index, "text")
		r.clip(&s.Claim, schema.MaxText, s.Index, "claim")
		r.clip(&s.Answer, schema.MaxAnswer, s.Index, "answer")
		if len(s.Spans) > schema.MaxSpans {
			r.warn(WarnClipped, s.Index, "more spans than the wire takes")
			s.Spans = s.Spans[:schema.MaxSpans]
		}
		if n := fit(s); n > 0 {
			r.warn(WarnDroppedPassages, s.Index, "earlier passages beyond the wire's limit were left out")
		}
		if len(s.History) == 0 {
			s.History = priors[:len(priors):len(priors)]
		}
		p := schema.Prior{Index: s.Index, Query: cut(s.Query, 1<<10), Claim: cut(s.Claim, 4<<10)}
		if room -= len(p.Query) + len(p.Claim); room < 0 {
			p.Query, p.Claim = cut(p.Query, 64), cut(p.Claim, 64)
		}
		priors = append(priors, p)
	}
}
