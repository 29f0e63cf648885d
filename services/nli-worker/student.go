package nliworker

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/stepgap/stepgap/internal/claim"
	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
)

// StudentForm names how a step is written for a student, in a run's
// configuration hash. It changes with every change of StudentInput: a student
// reads what it was trained on, or guesses.
const StudentForm = "student-input/1"

const (
	// studentWords bounds a premise: with question, query and claim it is well
	// within 512 tokens for all but the longest of claims.
	studentWords = 160
	// studentSeparator stands between the parts of a hypothesis.
	studentSeparator = " | "
)

// Classifier gives a pair one of the labels of StudentLabels: their
// probabilities, in that order. It never cuts a pair: one that is too long is
// nli.ErrTooLong (wrapped).
type Classifier interface {
	Classify(ctx context.Context, p nli.Pair) ([]float64, error)
	Info() nli.Info
}

// StudentLabels are the labels that a student gives.
func StudentLabels() []string {
	var out []string
	for _, g := range schema.Gaps() {
		if g.Graded() {
			out = append(out, string(g))
		}
	}
	return out
}

// StudentInput writes a step as a student reads it; training data must be
// written by it too. The hypothesis is question, query and what the step says
// (its claims, then its abstentions), each on its own side of a "|"; a part that
// the step lacks is empty. The premise is those sentences of the step's
// passages, its own and earlier ones, that are most relevant to query and
// claim, the most relevant first, each with its title where that says who is
// meant: 160 words at most. It is empty where no passage has a text.
func StudentInput(step *schema.Step) (premise, hypothesis string) {
	in := studentInputOf(step)
	return in.premise(len(in.windows)), in.hypothesis
}

type studentInput struct {
	windows    []window // the most relevant first
	hypothesis string
}

func studentInputOf(step *schema.Step) studentInput {
	reading := claim.Read(step)
	said := oneLine(strings.Join(append(append([]string{}, reading.Claims...), reading.Abstentions...), " "))
	query := oneLine(step.Query)
	in := studentInput{hypothesis: strings.Join([]string{oneLine(step.Question), query, said}, studentSeparator)}

	about := strings.TrimSpace(query + " " + said)
	if about == "" {
		about = step.Question
	}
	q := evidence.NewQuery(about)
	passages := tree.Readable(append(step.Own(), step.Earlier()...))
	for i := range passages {
		if passages[i].Digest == "" { // a step that never was on the wire
			passages[i].Digest = schema.PassageDigest(passages[i].Title, passages[i].Text)
		}
	}
	// Words are counted without a model, so neither limit nor error can come.
	windows, err := passageWindows(passages, []evidence.Query{q}, studentWords, wordCounter{})
	if err != nil {
		return in
	}
	room := studentWords
	seen := map[string]bool{}
	for _, r := range rank(windows, q) {
		n := len(evidence.Words(r.premise))
		if n > room || seen[r.premise] {
			continue
		}
		seen[r.premise] = true
		room -= n
		in.windows = append(in.windows, r.window)
	}
	return in
}

// premise is the text of the n most relevant windows.
func (s studentInput) premise(n int) string { return joined(s.windows[:n]).premise }

type wordCounter struct{}

func (wordCounter) CountTokens(text string) (int, error) { return len(evidence.Words(text)), nil }

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Student is the judge student: one small classifier in place of the whole
// tree. It stands where D or E stands, and ends every step with a label.
type Student struct {
	model   Classifier
	stage   schema.Stage
	epsilon float64
}

var _ tree.Decider = (*Student)(nil)

// NewStudent returns the judge for stage. Where the two likeliest labels are as
// near to each other as epsilon the trail is flagged near_threshold.
func NewStudent(model Classifier, stage schema.Stage, epsilon float64) *Student {
	return &Student{model: model, stage: stage, epsilon: epsilon}
}

// BeforeStudent stands in A's place under a student: code sees that nothing was
// retrieved, and the student judges all other steps.
func BeforeStudent() tree.Decider {
	return tree.DeciderFunc(func(_ context.Context, item *tree.Item) (tree.Decision, error) {
		if len(tree.Readable(item.Step.Passages)) == 0 {
			return nothingRetrieved(item, schema.StageEntity), nil
		}
		m := judge.Meta{Judge: judge.KindStudent, Detail: "The student judges the whole step."}
		return tree.Forward(item, tree.HopLocal, m.Entry(schema.StageEntity, "passed")), nil
	})
}

func nothingRetrieved(item *tree.Item, stage schema.Stage) tree.Decision {
	entry := schema.TrailEntry{Stage: stage, Outcome: "no_passages", Detail: "No passage was retrieved."}
	return tree.Verdict(item, schema.GapIrrelevant, "", "No passage supports the step: nothing was retrieved.", entry)
}

// Decide implements tree.Decider.
func (s *Student) Decide(ctx context.Context, item *tree.Item) (tree.Decision, error) {
	in := studentInputOf(item.Step)
	if len(in.windows) == 0 {
		return nothingRetrieved(item, s.stage), nil
	}
	pair, shown, p, err := s.classify(ctx, in)
	if err != nil {
		return tree.Decision{}, judgeError(item.Step, s.stage, studentSession{s.model}, err)
	}
	best, second := 0, -1
	for i := range p {
		switch {
		case p[i] > p[best]:
			best, second = i, best
		case i != best && (second < 0 || p[i] > p[second]):
			second = i
		}
	}
	gap := schema.Gap(StudentLabels()[best])
	entry := studentMeta(s.model, p, best).Entry(s.stage, string(gap))
	entry.Premise, entry.Hypothesis = pair.Premise, pair.Hypothesis
	if p[best]-p[second] <= s.epsilon {
		entry.Flags = []string{schema.FlagNearThreshold}
	}
	for _, w := range shown[:min(len(shown), schema.MaxWindows)] {
		entry.Windows = append(entry.Windows, w.place())
	}
	d := tree.Verdict(item, gap, "", fmt.Sprintf("the student calls it %s, with a probability of %.2f", gap, p[best]), entry)
	d.Quotes = []schema.Quote{shown[0].quote()}
	return d, nil
}

// classify asks about as many windows as the model has room for, the most
// relevant ones. What the step says is never cut.
func (s *Student) classify(ctx context.Context, in studentInput) (nli.Pair, []window, []float64, error) {
	for n := len(in.windows); ; n-- {
		pair := nli.Pair{Premise: in.premise(n), Hypothesis: in.hypothesis}
		p, err := s.model.Classify(ctx, pair)
		switch {
		case errors.Is(err, nli.ErrTooLong) && n > 1:
			continue
		case err != nil:
			return pair, nil, nil, fmt.Errorf("asking the student: %w", err)
		case len(p) != len(StudentLabels()):
			return pair, nil, nil, fmt.Errorf("the student gave %d probabilities for %d labels", len(p), len(StudentLabels()))
		}
		return pair, in.windows[:n], p, nil
	}
}

func studentMeta(model Classifier, p []float64, best int) judge.Meta {
	parts := make([]string, len(p))
	for i, l := range StudentLabels() {
		parts[i] = fmt.Sprintf("%s %.3f", l, p[i])
	}
	confidence := p[best]
	return judge.Meta{
		Judge: judge.KindStudent, Model: model.Info().Short(), Confidence: &confidence, Calls: 1, Detail: strings.Join(parts, ", "),
	}
}

// studentSession names a student in an error's bill.
type studentSession struct{ model Classifier }

func (s studentSession) Meta(nli.Pair) judge.Meta {
	return judge.Meta{Judge: judge.KindStudent, Model: s.model.Info().Short()}
}
