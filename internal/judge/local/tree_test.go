package local

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/claim"
	"github.com/stepgap/stepgap/internal/docblock/docblocktest"
	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/nli/onnx"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
	abstaincheck "github.com/stepgap/stepgap/services/abstain-check"
	entitycheck "github.com/stepgap/stepgap/services/entity-check"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
	quoteextract "github.com/stepgap/stepgap/services/quote-extract"
)

// wholeTree is the rules for A to C with the real model for D and E, without
// a wire between them.
type wholeTree struct {
	stages map[tree.Hop]tree.Decider
}

func newWholeTree(t *testing.T) wholeTree {
	t.Helper()
	model, library := os.Getenv("STEPGAP_NLI_MODEL"), os.Getenv("STEPGAP_ORT_LIB")
	if model == "" || library == "" {
		t.Skip("STEPGAP_NLI_MODEL and STEPGAP_ORT_LIB are not set (make test sets them)")
	}
	scorer, err := onnx.OpenScorer(onnx.Options{Dir: model, Library: library, Device: "cpu", Log: slog.New(slog.DiscardHandler)}, nli.BatcherOptions{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, scorer.Close()) })
	d, err := nliworker.NewLocal(scorer, nliworker.Defaults())
	require.NoError(t, err)
	e, err := nliworker.NewCross(scorer, nliworker.Defaults())
	require.NoError(t, err)
	return wholeTree{map[tree.Hop]tree.Decider{
		"": entitycheck.New(New()), tree.HopAbstain: abstaincheck.New(New()), tree.HopQuote: quoteextract.New(New()),
		tree.HopLocal: d, tree.HopCross: e,
	}}
}

// label moves a step through the tree until it has a label.
func (w wholeTree) label(t *testing.T, step *schema.Step, earlier map[int]*schema.Label) *schema.Label {
	t.Helper()
	item := &tree.Item{Step: step, Earlier: earlier, Final: true}
	for hop := tree.Hop(""); ; {
		d, err := w.stages[hop].Decide(t.Context(), item)
		require.NoError(t, err)
		item.Trail = append(item.Trail, d.Entry)
		item.Abstaining, item.Quotes = d.Abstaining, d.Quotes
		if d.Next == tree.HopDone {
			return &schema.Label{Index: step.Index, Label: d.Gap, Stage: d.Entry.Stage, Reason: d.Reason, Detail: d.Detail, Quotes: d.Quotes, Trail: item.Trail}
		}
		hop = d.Next
	}
}

// confusion counts labels given against labels wanted.
type confusion map[schema.Gap]map[schema.Gap]int

func (c confusion) add(want, got schema.Gap) {
	if c[want] == nil {
		c[want] = map[schema.Gap]int{}
	}
	c[want][got]++
}

func (c confusion) String() string {
	var b strings.Builder
	recall, classes := 0.0, 0.0
	for _, want := range schema.Gaps() {
		total := 0
		for _, n := range c[want] {
			total += n
		}
		if total == 0 {
			continue
		}
		classes++
		recall += float64(c[want][want]) / float64(total)
		fmt.Fprintf(&b, "\n  %s:", want.Short())
		for _, got := range schema.Gaps() {
			fmt.Fprintf(&b, " %s %3d", got.Short(), c[want][got])
		}
	}
	fmt.Fprintf(&b, "\n  balanced accuracy %.1f %%; step F1 of any gap %.1f %%", 100*recall/classes, 100*c.f1())
	return b.String()
}

// markdown is the table, with what a reader asks of it.
func (c confusion) markdown() string {
	var b strings.Builder
	gaps := schema.Gaps()[:4]
	b.WriteString("| |")
	for _, got := range gaps {
		fmt.Fprintf(&b, " %s |", got.Short())
	}
	b.WriteString(" right |\n|---|" + strings.Repeat("---|", len(gaps)+1) + "\n")
	recall, classes := 0.0, 0.0
	for _, want := range gaps {
		total := 0
		for _, n := range c[want] {
			total += n
		}
		share := float64(c[want][want]) / float64(max(1, total))
		recall, classes = recall+share, classes+1
		fmt.Fprintf(&b, "| %s |", want.Short())
		for _, got := range gaps {
			fmt.Fprintf(&b, " %d |", c[want][got])
		}
		fmt.Fprintf(&b, " %.0f%% |\n", 100*share)
	}
	fmt.Fprintf(&b, "\nBalanced accuracy %.1f%%; F1 of any gap %.1f%%.\n", 100*recall/classes, 100*c.f1())
	return b.String()
}

// f1 is the F1 of telling steps with a gap from steps without.
func (c confusion) f1() float64 {
	tp, fp, fn := 0.0, 0.0, 0.0
	for want, row := range c {
		for got, n := range row {
			switch {
			case want != schema.GapNone && got != schema.GapNone:
				tp += float64(n)
			case want == schema.GapNone && got != schema.GapNone:
				fp += float64(n)
			case want != schema.GapNone:
				fn += float64(n)
			}
		}
	}
	return 2 * tp / (2*tp + fp + fn)
}

// TestFiguresOfTree prints the labels that the rules and the model give real
// steps, beside the annotated ones.
func TestFiguresOfTree(t *testing.T) {
	t.Parallel()
	w := newWholeTree(t)
	search, all := confusion{}, confusion{}
	for _, r := range labelledRollouts(t) {
		var passages []schema.Passage
		var history []schema.Prior
		earlier := map[int]*schema.Label{}
		for i, s := range r.Steps {
			own := docPassages(s.Docs, i+1)
			passages = append(append([]schema.Passage{}, own...), passages...)
			step := &schema.Step{
				Run: "r", Rollout: "o", Index: i + 1, Kind: schema.KindSearch, Question: r.Question,
				Query: s.Query, Text: s.After, Passages: passages, History: history,
			}
			if s.Kind == "final" {
				step.Kind, step.Answer = schema.KindConclusion, s.Answer
			}
			history = append(history, schema.Prior{Index: i + 1, Query: s.Query, Claim: strings.Join(claim.Read(step).Claims, " ")})
			got := w.label(t, step, earlier)
			earlier[step.Index] = got
			want := schema.Gap(s.Label)
			all.add(want, got.Label)
			if s.Kind != "final" {
				search.add(want, got.Label)
			}
			if testing.Verbose() && want != got.Label {
				last := got.Trail[len(got.Trail)-1]
				quote := ""
				if len(got.Quotes) > 0 {
					quote = got.Quotes[0].Text
				}
				t.Logf("DEV %s want %s got %s at %s | q=%q | claims %q | premise %.250q | quote %.250q | hyp %q | %s", r.ID, want.Short(), got.Label.Short(), last.Stage.Letter(), s.Query, claim.Read(step).Claims, last.Premise, quote, last.Hypothesis, got.Detail)
			}
		}
	}
	t.Logf("search steps: %s", search)
	t.Logf("all steps: %s", all)
}

// TestFiguresOfTreeOnMusique prints the same for steps made from MuSiQue.
func TestFiguresOfTreeOnMusique(t *testing.T) {
	t.Parallel()
	w := newWholeTree(t)
	c := confusion{}
	all := musiques(t)
	var answers []string
	for _, m := range all {
		for _, h := range m.Hops {
			answers = append(answers, h.Answer)
		}
	}
	for n, m := range all {
		supports := func(idx int) bool {
			for _, h := range m.Hops {
				if h.Support == idx {
					return true
				}
			}
			return false
		}
		var history []schema.Prior // the hops before, rightly claimed
		ask := func(want schema.Gap, question, answer string, passages []schema.Passage) {
			step := &schema.Step{Run: "m", Rollout: "r", Index: len(history) + 1, Kind: schema.KindSearch, Question: m.Question, Query: question,
				Claim: claim.Statement(question, answer), Passages: passages, History: history}
			got := w.label(t, step, nil)
			c.add(want, got.Label)
			if testing.Verbose() && want != got.Label {
				last := got.Trail[len(got.Trail)-1]
				t.Logf("MUSIQUE want %s got %s at %s | claim %q | premise %.300q | %s", want.Short(), got.Label.Short(), last.Stage.Letter(), step.Claim, last.Premise, got.Detail)
			}
		}
		for i, hop := range m.Hops {
			question := m.hopQuestion(i)
			distractors := m.passages(func(idx int) bool { return !supports(idx) }, 5)
			with := append(append([]schema.Passage{}, distractors[:min(4, len(distractors))]...), m.passages(func(idx int) bool { return idx == hop.Support }, 1)...)
			ask(schema.GapNone, question, hop.Answer, with)
			for k := range answers {
				other := answers[(n*31+i*7+k)%len(answers)]
				if sameShape(other, hop.Answer) && !strings.Contains(with[len(with)-1].Text, other) {
					ask(schema.GapContradicted, question, other, with)
					break
				}
			}
			ask(schema.GapIrrelevant, question, hop.Answer, distractors)
			history = append(history, schema.Prior{Index: i + 1, Query: question, Claim: claim.Statement(question, hop.Answer)})
		}
		left := m.Hops[len(m.Hops)-2].Support
		ask(schema.GapMissingBridge, m.Question, m.Answer, m.passages(func(idx int) bool {
			if supports(idx) {
				return idx != left
			}
			return idx%5 == 0
		}, 6))
	}
	t.Logf("steps made from MuSiQue: %s", c)
	docblocktest.Holds(t, page, "local-musique", c.markdown())
}

func sameShape(a, b string) bool {
	digits := func(s string) bool { return strings.ContainsFunc(s, unicode.IsDigit) }
	upper := func(s string) bool { return unicode.IsUpper([]rune(s)[0]) }
	return a != b && digits(a) == digits(b) && upper(a) == upper(b)
}
