package distill

import (
	"fmt"
	"sort"

	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Options say what is taken into the training data.
type Options struct {
	// Files are rollouts or step sets, in any format that check reads.
	Files  []string
	Format transcript.Format
	// Teacher's labels; nil takes the step sets' own.
	Teacher *Labels
	// Second is another's labels on the same steps: only steps on which both
	// agree are taken. nil asks nobody.
	Second *Labels
	// MinConfidence leaves out what the teacher was less sure of, and what
	// nobody told its confidence on; 0 takes all.
	MinConfidence float64
	// Held also takes what a step set holds back for its last score.
	Held   bool
	Seed   uint64
	Shares []Share // default DefaultShares
}

// Example is one labelled step.
type Example struct {
	// ID is "<rollout id>#<index>".
	ID string
	// Question is the id of the question's group, the same for all steps of
	// one question, whatever file they come from.
	Question string
	Split    string
	Step     *schema.Step
	Verdict  Verdict
}

// Counts says what became of the steps that were read.
type Counts struct {
	Rollouts int `json:"rollouts"`
	Steps    int `json:"steps"`
	Taken    int `json:"taken"`
	// Why the others were left out.
	Held       int `json:"held_back"`
	Unlabelled int `json:"unlabelled"`
	Ungraded   int `json:"ungraded"`
	Unsure     int `json:"unsure"`
	NoTelling  int `json:"confidence_unknown"`
	Disagreed  int `json:"disagreed"`
	NoSecond   int `json:"second_unlabelled"`
	Questions  int `json:"questions"`
}

// Examples reads the files and returns what is to be trained on, in the order of
// the files.
func Examples(o Options) ([]Example, Counts, error) {
	if len(o.Shares) == 0 {
		o.Shares = DefaultShares()
	}
	var c Counts
	var out []Example
	same := newQuestions()
	for _, path := range o.Files {
		err := readRollouts(path, o.Format, func(s source) error {
			c.Rollouts++
			c.Steps += len(s.Steps)
			same.add(s.notes.QuestionID, s.Question)
			if s.notes.Split == setSplitHeld && !o.Held {
				c.Held += len(s.Steps)
				return nil
			}
			for i := range s.Steps {
				if v, ok := o.verdict(s, &s.Steps[i], &c); ok {
					out = append(out, Example{ID: fmt.Sprintf("%s#%d", s.ID, s.Steps[i].Index), Step: &s.Steps[i], Verdict: v})
				}
			}
			return nil
		})
		if err != nil {
			return nil, c, fmt.Errorf("%s: %w", path, err)
		}
	}
	groups := map[string]bool{}
	for i := range out {
		e := &out[i]
		e.Question = same.of(e.Step.Question)
		groups[e.Question] = true
		var err error
		if e.Split, err = splitOf(e.Question, o.Seed, o.Shares); err != nil {
			return nil, c, err
		}
	}
	c.Taken, c.Questions = len(out), len(groups)
	return out, c, nil
}

// verdict is the teacher's, if the step is to be taken; else it counts why not.
func (o Options) verdict(s source, step *schema.Step, c *Counts) (Verdict, bool) {
	var v Verdict
	var ok bool
	if o.Teacher == nil {
		v, ok = s.notes.gold(step.Index)
	} else {
		v, ok = o.Teacher.Of(s.ID, step)
	}
	switch {
	case !ok:
		c.Unlabelled++
		return v, false
	case !v.Label.Graded():
		c.Ungraded++
		return v, false
	}
	if o.MinConfidence > 0 {
		switch {
		case v.Confidence == nil:
			c.NoTelling++
			return v, false
		case *v.Confidence < o.MinConfidence:
			c.Unsure++
			return v, false
		}
	}
	if o.Second != nil {
		second, ok := o.Second.Of(s.ID, step)
		switch {
		case !ok || !second.Label.Graded():
			c.NoSecond++
			return v, false
		case second.Label != v.Label:
			c.Disagreed++
			return v, false
		}
	}
	return v, true
}

// teachers lists who gave the examples' labels, each once, sorted.
func teachers(examples []Example) []string {
	seen := map[string]bool{}
	var out []string
	for _, e := range examples {
		if !seen[e.Verdict.By] {
			seen[e.Verdict.By] = true
			out = append(out, e.Verdict.By)
		}
	}
	sort.Strings(out)
	return out
}
