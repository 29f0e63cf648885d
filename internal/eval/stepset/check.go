package stepset

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/stepgap/stepgap/pkg/schema"
)

// Check checks the whole set as Read does, for sets made in memory.
func (s *Set) Check() error {
	seen := newLedger()
	for i := range s.Rollouts {
		r := &s.Rollouts[i]
		if err := errors.Join(r.check(), seen.enter(r, i+1)); err != nil {
			return fmt.Errorf("rollout %q: %w", r.ID, err)
		}
	}
	return nil
}

// check returns what is wrong with one rollout.
func (r *Rollout) check() error {
	switch {
	case strings.TrimSpace(r.ID) == "":
		return errors.New(`"id" is missing; every rollout needs a name that is unique in the set`)
	case strings.TrimSpace(r.QuestionID) == "":
		return errors.New(`"question_id" is missing; rollouts of one question share it (use the rollout's id if each has its own question)`)
	case strings.TrimSpace(r.Question) == "":
		return errors.New(`"question" is missing; steps are judged by the question that they answer`)
	case r.Source == "":
		return errors.New(`"source" is missing; say what the rollout was made from`)
	case r.Split != "" && r.Split != SplitDev && r.Split != SplitHeld:
		return fmt.Errorf(`"split" is %.40q; use %q, %q or leave it out`, r.Split, SplitDev, SplitHeld)
	case len(r.Steps) == 0:
		return errors.New(`"steps" is empty; a rollout has at least one step`)
	case len(r.Steps) > schema.MaxSteps:
		return fmt.Errorf(`"steps" has %d entries, the limit is %d`, len(r.Steps), schema.MaxSteps)
	}
	if err := errors.Join(within("question", r.Question, schema.MaxQuestion), within("answer", r.Answer, schema.MaxAnswer)); err != nil {
		return err
	}
	for i := range r.Steps {
		if err := r.checkStep(i); err != nil {
			return fmt.Errorf("steps[%d]: %w", i, err)
		}
	}
	return nil
}

func (r *Rollout) checkStep(i int) error {
	s := &r.Steps[i]
	switch s.Kind {
	case schema.KindSearch:
		if s.Answer != "" {
			return errors.New(`"answer" stands at a search step; only a conclusion has one`)
		}
	case schema.KindConclusion:
		if s.Query != "" || len(s.Passages) > 0 {
			return errors.New(`a conclusion has no "query" and no "passages" of its own; give them at the search step before`)
		}
	default:
		return fmt.Errorf(`"kind" is %.40q; use %q or %q`, string(s.Kind), schema.KindSearch, schema.KindConclusion)
	}
	if s.Label != "" && !s.Label.Graded() {
		return fmt.Errorf(`"label" is %.40q; use %q, %q, %q or %q, or leave it out for a step that is not scored`, string(s.Label),
			schema.GapNone, schema.GapContradicted, schema.GapIrrelevant, schema.GapMissingBridge)
	}
	if s.Sure < 0 || s.Sure > 3 {
		return fmt.Errorf(`"sure" is %d; use 1 to 3, or leave it out`, s.Sure)
	}
	for j, p := range s.Passages {
		if strings.TrimSpace(p.Text) == "" {
			return fmt.Errorf(`passages[%d]: "text" is empty; leave out what brought no text`, j)
		}
		if err := errors.Join(within("title", p.Title, schema.MaxTitle), within("text", p.Text, schema.MaxPassageText)); err != nil {
			return fmt.Errorf("passages[%d]: %w", j, err)
		}
	}
	if s.Quote != "" && !quoted(s.Quote, r.Seen(i+1)) {
		return fmt.Errorf(`"quote" %.60q stands in no passage of this or an earlier step; copy it as it stands, or leave it out`, s.Quote)
	}
	return errors.Join(within("plan", s.Plan, schema.MaxText), within("query", s.Query, schema.MaxQuery),
		within("text", s.Text, schema.MaxText), within("claim", s.Claim, schema.MaxText), within("answer", s.Answer, schema.MaxAnswer))
}

func quoted(quote string, passages []Passage) bool {
	for _, p := range passages {
		if strings.Contains(p.Text, quote) {
			return true
		}
	}
	return false
}

func within(field, s string, limit int) error {
	if len(s) > limit {
		return fmt.Errorf("%q has %d bytes, the limit is %d", field, len(s), limit)
	}
	if !utf8.ValidString(s) {
		return fmt.Errorf("%q is not valid UTF-8", field)
	}
	return nil
}

// ledger notes what the lines of a set have in common.
type ledger struct {
	rollouts  map[string]int
	questions map[string]known
}

type known struct {
	question, split string
	line            int
}

func newLedger() *ledger {
	return &ledger{rollouts: map[string]int{}, questions: map[string]known{}}
}

func (l *ledger) enter(r *Rollout, line int) error {
	if first, ok := l.rollouts[r.ID]; ok {
		return fmt.Errorf(`"id" %q stands on line %d already; ids are unique`, r.ID, first)
	}
	l.rollouts[r.ID] = line
	q, ok := l.questions[r.QuestionID]
	switch {
	case !ok:
		l.questions[r.QuestionID] = known{r.Question, r.Split, line}
	case q.question != r.Question:
		return fmt.Errorf(`"question_id" %q has another question on line %d; give each question its own id`, r.QuestionID, q.line)
	case q.split != r.Split:
		return fmt.Errorf(`"question_id" %q is in split %q on line %d; all rollouts of a question are in the same split`, r.QuestionID, q.split, q.line)
	}
	return nil
}
