package distill

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/stepgap/stepgap/internal/check"
	"github.com/stepgap/stepgap/internal/runlog"
	"github.com/stepgap/stepgap/pkg/client"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Verdict is what somebody says of a step.
type Verdict struct {
	Label schema.Gap
	// Quote is the span that decided; empty where there is none.
	Quote string
	// Confidence in [0, 1]; nil where nothing tells it.
	Confidence *float64
	// By names the judge that decided, with model and prompt.
	By string
}

// Labels are verdicts by step. The zero value is empty and ready for use.
type Labels struct {
	byDigest map[string]Verdict
	byPlace  map[place]Verdict
}

// place is where a step stands in a file of rollouts.
type place struct {
	source, question string
	index            int
}

// Len is how many verdicts there are.
func (l *Labels) Len() int { return len(l.byDigest) + len(l.byPlace) }

// Of finds the verdict on a step of the rollout that its file calls source.
func (l *Labels) Of(source string, step *schema.Step) (Verdict, bool) {
	if v, ok := l.byPlace[place{source, step.Question, step.Index}]; ok {
		return v, true
	}
	if len(l.byDigest) == 0 {
		return Verdict{}, false
	}
	s := *step
	s.Run, s.Rollout = "r", "o" // a step's digest is that of its body, which has no ids
	body, err := client.EncodeStep(&s)
	if err != nil {
		return Verdict{}, false
	}
	v, ok := l.byDigest[schema.Digest(body)]
	return v, ok
}

// Add takes the labels of a rollout that a pipeline rewarded. Two labels of the
// same step that differ are an error: they are of two teachers.
func (l *Labels) Add(r *runlog.Rollout) error {
	for _, label := range r.Labels {
		if label.Digest == "" {
			continue // the step never came
		}
		v := verdictOf(label.Label, label.Quotes, label.Trail)
		if before, ok := l.byDigest[label.Digest]; ok && before.Label != v.Label && before.Label.Graded() && v.Label.Graded() {
			return fmt.Errorf("%s step %d is %s here and %s elsewhere: the labels are of two teachers; export from one at a time", r.ID(), label.Index, v.Label, before.Label)
		} else if ok && before.Label.Graded() {
			continue
		}
		if l.byDigest == nil {
			l.byDigest = map[string]Verdict{}
		}
		l.byDigest[label.Digest] = v
	}
	return nil
}

// maxLine bounds a line of labels, in bytes.
const maxLine = 64 << 20

// Read adds the labels of a file: what `stepgap check --json --trail` prints, or
// what `stepgap watch --json` prints of labels and rewards.
func (l *Labels) Read(file io.Reader) error {
	buffered := bufio.NewReaderSize(file, 1<<20)
	head, err := buffered.Peek(1 << 20)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
		return fmt.Errorf("reading labels: %w", err)
	}
	if !checked(head) {
		return runlog.Read(buffered, l.Add)
	}
	lines := bufio.NewScanner(buffered)
	lines.Buffer(make([]byte, 64<<10), maxLine)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var r check.Result
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			return fmt.Errorf("line %d: not a result of stepgap check --json: %w", n, err)
		}
		if err := l.addResult(&r); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("reading labels: %w", err)
	}
	return nil
}

// checked tells results of check from labels and rewards: only they name the
// question.
func checked(head []byte) bool {
	line, _, _ := bytes.Cut(bytes.TrimSpace(head), []byte("\n"))
	return bytes.Contains(line, []byte(`"question":`)) && bytes.Contains(line, []byte(`"steps":`)) && bytes.Contains(line, []byte(`"run":`))
}

func (l *Labels) addResult(r *check.Result) error {
	if l.byPlace == nil {
		l.byPlace = map[place]Verdict{}
	}
	source := r.Source
	if source == "" {
		source = r.Rollout
	}
	for i := range r.Steps {
		s := &r.Steps[i]
		at := place{source, r.Question, s.Index}
		v := verdictOf(s.Label, nil, s.Trail)
		v.Quote = s.Quote
		if before, ok := l.byPlace[at]; ok && before.Label != v.Label && before.Label.Graded() && v.Label.Graded() {
			return fmt.Errorf("step %d of rollout %q is %s here and %s elsewhere: two rollouts have the same id and question, or the labels are of two teachers", s.Index, source, v.Label, before.Label)
		}
		l.byPlace[at] = v
	}
	return nil
}

func verdictOf(label schema.Gap, quotes []schema.Quote, trail []schema.TrailEntry) Verdict {
	v := Verdict{Label: label, Confidence: Confidence(trail)}
	if len(quotes) > 0 {
		v.Quote = quotes[0].Text
	}
	if n := len(trail); n > 0 {
		e := trail[n-1]
		v.By = string(e.Stage) + " " + e.Judge
		if e.Model != "" {
			v.By += " " + e.Model
		}
		if e.Prompt != "" {
			v.By += " " + e.Prompt
		}
	}
	return v
}

// Confidence is how sure the judges of a trail were together: that of the least
// sure one. A judge's own confidence counts where it gives one, and of an NLI
// model the probability of the branch that was taken. Judges that tell nothing
// (rules, a language model without log probabilities) don't count; nil where
// none tells anything.
func Confidence(trail []schema.TrailEntry) *float64 {
	var least *float64
	for i := range trail {
		e := &trail[i]
		p := e.Confidence
		if p == nil && e.Scores != nil {
			q := branch(e)
			p = &q
		}
		if p != nil && (least == nil || *p < *least) {
			value := *p
			least = &value
		}
	}
	return least
}

// branch is the probability of the branch that D or E took.
func branch(e *schema.TrailEntry) float64 {
	switch e.Outcome {
	case "entailment":
		return e.Scores.Entailment
	case "contradiction":
		return e.Scores.Contradiction
	case "not_entailed":
		return 1 - e.Scores.Entailment
	default:
		return e.Scores.Neutral
	}
}
