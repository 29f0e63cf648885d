package nliworker_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
	"github.com/stretchr/testify/require"
)

// rules is a scorer that answers by what a pair holds: the first rule whose
// premise and hypothesis both hold its words gives the scores, else neutral.
type rules struct {
	rules []rule
	err   error
	asked []nli.Pair
}

type rule struct {
	premise, hypothesis string
	entail, contradict  float64
}

func (r *rules) Info() nli.Info {
	return nli.Info{Name: "rules", Hash: "0123456789abcdef", MaxTokens: 128, PairOverhead: 3}
}
func (r *rules) CountTokens(text string) (int, error) { return len(strings.Fields(text)), nil }

func (r *rules) Score(_ context.Context, pairs []nli.Pair) ([]schema.Scores, error) {
	r.asked = append(r.asked, pairs...)
	if r.err != nil {
		return nil, r.err
	}
	out := make([]schema.Scores, len(pairs))
	for i, p := range pairs {
		n, _ := r.CountTokens(p.Premise + " " + p.Hypothesis)
		if n+3 > 128 {
			return nil, fmt.Errorf("pair of %d tokens: %w", n, nli.ErrTooLong)
		}
		out[i] = schema.Scores{Neutral: 1}
		for _, x := range r.rules {
			if strings.Contains(p.Premise, x.premise) && strings.Contains(p.Hypothesis, x.hypothesis) {
				out[i] = schema.Scores{Entailment: x.entail, Contradiction: x.contradict, Neutral: 1 - x.entail - x.contradict}
				break
			}
		}
	}
	return out, nil
}

func passage(title, text string, step int) schema.Passage {
	return schema.Passage{Digest: title + text, Title: title, Text: text, ByStep: step}
}

func quoteOf(p schema.Passage, text string) schema.Quote {
	at := strings.Index(p.Text, text)
	if at < 0 {
		panic("no such quote: " + text)
	}
	start := len([]rune(p.Text[:at]))
	return schema.Quote{Passage: p.Digest, Title: p.Title, ByStep: p.ByStep, Start: start, End: start + len([]rune(text)), Text: text, Match: schema.MatchExact}
}

func step(claim string, passages ...schema.Passage) *schema.Step {
	return &schema.Step{Run: "r", Rollout: "o", Index: 3, Kind: schema.KindSearch, Question: "Where was Orrin Vale born?", Claim: claim, Passages: passages}
}

func TestLocal(t *testing.T) {
	t.Parallel()
	vale := passage("Orrin Vale", "Orrin Vale was a miller. He was born in Hull. He kept bees in York.", 3)
	yes, no := rule{entail: 0.9}, rule{contradict: 0.9}
	on := func(r rule, premise, hypothesis string) rule { r.premise, r.hypothesis = premise, hypothesis; return r }
	for _, c := range []struct {
		name   string
		claim  string
		quote  string
		rules  []rule
		want   schema.Gap
		reason string
		flags  []string
	}{
		{name: "entailed", claim: "Orrin Vale was born in Hull.", quote: "born in Hull", rules: []rule{on(yes, "Hull", "Hull")}, want: schema.GapNone},
		{name: "contradicted", claim: "Orrin Vale was born in Leeds.", quote: "born in Hull", rules: []rule{on(no, "Hull", "Leeds")}, want: schema.GapContradicted},
		{name: "open", claim: "Orrin Vale had a dog.", quote: "born in Hull", want: schema.GapMissingBridge},
		{name: "contradiction is tested before entailment", claim: "Orrin Vale hailed from Hull.", quote: "born in Hull",
			rules: []rule{{"Hull", "Hull", 0.5, 0.5}}, want: schema.GapContradicted, flags: []string{"near_threshold"}},
		{name: "another window can't contradict", claim: "Orrin Vale kept bees in Hull.", quote: "born in Hull",
			rules: []rule{on(no, "bees", "bees")}, want: schema.GapMissingBridge},
		{name: "another window may entail", claim: "Orrin Vale kept bees in York.", quote: "born in Hull",
			rules: []rule{on(yes, "bees", "bees")}, want: schema.GapNone},
		{name: "any sentence contradicted", claim: "Orrin Vale was a miller. Orrin Vale was born in Leeds.", quote: "born in Hull",
			rules: []rule{on(yes, "miller", "miller"), on(no, "Hull", "Leeds")}, want: schema.GapContradicted},
		{name: "one sentence open", claim: "Orrin Vale was a miller. Orrin Vale had a dog.", quote: "born in Hull",
			rules: []rule{on(yes, "miller", "miller")}, want: schema.GapMissingBridge},
		{name: "all sentences entailed", claim: "Orrin Vale was a miller. Orrin Vale was born in Hull.", quote: "born in Hull",
			rules: []rule{on(yes, "miller", "miller"), on(yes, "Hull", "Hull")}, want: schema.GapNone},
		{name: "a premise that names nothing of the claim can't contradict it", claim: "Ida Moor was born in Leeds.", quote: "born in Hull",
			rules: []rule{on(no, "Hull", "Leeds")}, want: schema.GapMissingBridge, flags: []string{"guard"}},
		{name: "no entailment of a number that isn't there", claim: "Orrin Vale was born in Hull in 1790.", quote: "born in Hull",
			rules: []rule{on(yes, "Hull", "Hull")}, want: schema.GapMissingBridge, flags: []string{"guard"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			scorer := &rules{rules: c.rules}
			d, err := nliworker.NewLocal(scorer, nliworker.Defaults())
			require.NoError(t, err)
			q := quoteOf(vale, c.quote)
			got, err := d.Decide(t.Context(), &tree.Item{Step: step(c.claim, vale), Quotes: []schema.Quote{q}})
			require.NoError(t, err)
			require.Equal(t, c.want, got.Gap, "%+v", scorer.asked)
			require.Equal(t, tree.HopDone, got.Next)
			require.Contains(t, got.Quotes, q)
			require.Equal(t, c.flags, got.Entry.Flags)
			require.Equal(t, schema.StageLocal, got.Entry.Stage)
			require.Equal(t, "nli", got.Entry.Judge)
			require.Equal(t, "rules@0123456789ab", got.Entry.Model)
			require.NotNil(t, got.Entry.Scores)
			require.NotEmpty(t, got.Entry.Premise)
			require.NotEmpty(t, got.Entry.Hypothesis)
			require.Equal(t, len(scorer.asked), got.Entry.Calls)
			for _, p := range got.Quotes {
				require.Equal(t, p.Text, string([]rune(vale.Text)[p.Start:p.End]))
			}
		})
	}
}

func TestLocalPutsTheTitleInPlaceOfAPronoun(t *testing.T) {
	t.Parallel()
	vale := passage("Orrin Vale", "He was born in Hull.", 3)
	scorer := &rules{}
	d, err := nliworker.NewLocal(scorer, nliworker.Defaults())
	require.NoError(t, err)
	_, err = d.Decide(t.Context(), &tree.Item{Step: step("Orrin Vale was born in Hull.", vale), Quotes: []schema.Quote{quoteOf(vale, "Hull")}})
	require.NoError(t, err)
	require.Equal(t, "Orrin Vale was born in Hull.", scorer.asked[0].Premise)
}

func TestLabelHoldsEveryQuoteThatProved(t *testing.T) {
	t.Parallel()
	vale := passage("Orrin Vale", "Orrin Vale was a miller. Orrin Vale was born in Hull. He kept bees.", 3)
	scorer := &rules{rules: []rule{{"miller", "miller", 0.9, 0}, {"Hull", "Hull", 0.8, 0}}}
	d, err := nliworker.NewLocal(scorer, nliworker.Defaults())
	require.NoError(t, err)
	got, err := d.Decide(t.Context(), &tree.Item{
		Step:   step("Orrin Vale was a miller. Orrin Vale was born in Hull.", vale),
		Quotes: []schema.Quote{quoteOf(vale, "Orrin Vale was born in Hull.")},
	})
	require.NoError(t, err)
	require.Equal(t, schema.GapNone, got.Gap)
	require.Len(t, got.Quotes, 2)
	require.Equal(t, "Orrin Vale was born in Hull.", got.Quotes[0].Text, "the least sure sentence decides")
	require.Equal(t, "Orrin Vale was a miller.", got.Quotes[1].Text)
	require.Equal(t, schema.MatchWindow, got.Quotes[1].Match)
}

// The trail says where the premise stands, so that anyone can look it up, and
// where a title was put into it.
func TestTrailNamesTheWindowsThatDecided(t *testing.T) {
	t.Parallel()
	vale := passage("Orrin Vale", "Örrin’s kin were millers. He was born in Hull in 1901. The sea was near.", 2)
	other := passage("Hull", "Hull is a port. Orrin Vale kept bees there.", 3)
	scorer := &rules{rules: []rule{{"born in Hull", "born in Hull", 0.9, 0}, {"bees", "bees", 0.8, 0}}}
	d, err := nliworker.NewLocal(scorer, nliworker.Defaults())
	require.NoError(t, err)
	for _, c := range []struct {
		name, claim, text string
		passage           schema.Passage
		titled            bool
		quotes            []schema.Quote
	}{
		{"a quote", "Orrin Vale was born in Hull.", "He was born in Hull in 1901.", vale, true, []schema.Quote{quoteOf(vale, "born in Hull")}},
		{"a window", "Orrin Vale kept bees in Hull.", "Orrin Vale kept bees there.", other, true, nil},
		{"a quote whose passage isn't at hand", "Orrin Vale kept bees.", "Orrin Vale kept bees", other, false,
			[]schema.Quote{{Passage: "gone", ByStep: 1, Start: 40, End: 60, Text: "Orrin Vale kept bees", Match: schema.MatchExact}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := d.Decide(t.Context(), &tree.Item{Step: step(c.claim, vale, other), Quotes: c.quotes})
			require.NoError(t, err)
			require.Equal(t, schema.GapNone, got.Gap)
			require.Len(t, got.Entry.Windows, 1)
			w := got.Entry.Windows[0]
			require.Equal(t, c.titled, w.Titled, got.Entry.Premise)
			if w.Passage == "gone" {
				require.Equal(t, schema.Window{Passage: "gone", ByStep: 1, Start: 40, End: 60}, w)
				return
			}
			require.Equal(t, c.passage.Digest, w.Passage)
			require.Equal(t, c.passage.ByStep, w.ByStep)
			require.Equal(t, c.text, string([]rune(c.passage.Text)[w.Start:w.End]))
		})
	}
}

// Whatever score could have decided otherwise is flagged, not only those of the
// pair that is shown.
func TestScoresNearAThresholdAreFlagged(t *testing.T) {
	t.Parallel()
	vale := passage("Orrin Vale", "Orrin Vale was a miller. Orrin Vale was born in Hull. Orrin Vale bought a mill in 1901.", 3)
	for _, c := range []struct {
		name, claim, quote string
		rules              []rule
		want               schema.Gap
		near               bool
	}{
		{"sure", "Orrin Vale was born in Hull.", "Orrin Vale was born in Hull.", []rule{{"Hull", "Hull", 0.9, 0}}, schema.GapNone, false},
		{"hardly entailed", "Orrin Vale was born in Hull.", "Orrin Vale was born in Hull.", []rule{{"Hull", "Hull", 0.51, 0}}, schema.GapNone, true},
		{"nearly entailed", "Orrin Vale was a native of Hull.", "Orrin Vale was born in Hull.", []rule{{"Hull", "Hull", 0.49, 0}}, schema.GapMissingBridge, true},
		{"nearly contradicted", "Orrin Vale was born in Hull.", "Orrin Vale was born in Hull.", []rule{{"Hull", "Hull", 0.51, 0.49}}, schema.GapNone, true},
		{"another window nearly entails", "Orrin Vale was a miller in Hull.", "Orrin Vale was a miller.", []rule{{"born", "miller", 0.49, 0}}, schema.GapMissingBridge, true},
		{"an earlier sentence hardly entailed", "Orrin Vale was a miller. Orrin Vale was born in Hull.", "Orrin Vale was born in Hull.",
			[]rule{{"miller", "miller", 0.515, 0}, {"Hull", "Hull", 0.51, 0}}, schema.GapNone, true},
		{"code sees another year", "Orrin Vale bought a mill in 1911.", "Orrin Vale bought a mill in 1901.", []rule{{"1901", "1911", 0.51, 0}}, schema.GapContradicted, false},
		{"contradicted, whatever the other sentence is", "Orrin Vale was a miller. Orrin Vale was born in York.", "Orrin Vale was born in Hull.",
			[]rule{{"miller", "miller", 0.51, 0}, {"Hull", "York", 0, 0.9}}, schema.GapContradicted, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d, err := nliworker.NewLocal(&rules{rules: c.rules}, nliworker.Defaults())
			require.NoError(t, err)
			got, err := d.Decide(t.Context(), &tree.Item{Step: step(c.claim, vale), Quotes: []schema.Quote{quoteOf(vale, c.quote)}})
			require.NoError(t, err)
			require.Equal(t, c.want, got.Gap, got.Detail)
			require.Equal(t, c.near, slices.Contains(got.Entry.Flags, schema.FlagNearThreshold), "%+v", got.Entry)
			opts := nliworker.Defaults()
			opts.Epsilon = 0
			exact, err := nliworker.NewLocal(&rules{rules: c.rules}, opts)
			require.NoError(t, err)
			got, err = exact.Decide(t.Context(), &tree.Item{Step: step(c.claim, vale), Quotes: []schema.Quote{quoteOf(vale, c.quote)}})
			require.NoError(t, err)
			require.NotContains(t, got.Entry.Flags, schema.FlagNearThreshold)
		})
	}
}

func TestLongTextIsNeverCut(t *testing.T) {
	t.Parallel()
	long := passage("Orrin Vale", strings.Repeat("the mill by the river and ", 100)+"Orrin Vale was born in Hull.", 3)
	scorer := &rules{rules: []rule{{"born in Hull", "born in Hull", 0.9, 0}}}
	d, err := nliworker.NewLocal(scorer, nliworker.Defaults())
	require.NoError(t, err)
	item := &tree.Item{Step: step("Orrin Vale was born in Hull.", long), Quotes: []schema.Quote{quoteOf(long, long.Text)}}
	got, err := d.Decide(t.Context(), item)
	require.NoError(t, err)
	require.Equal(t, schema.GapNone, got.Gap)

	item.Step.Claim = "Orrin Vale was born in " + strings.Repeat("the far and ", 60) + "Hull."
	_, err = d.Decide(t.Context(), item)
	require.Equal(t, schema.ReasonTooLarge, judge.AsError(err).Reason)
	require.False(t, judge.AsError(err).Temporary)
}

func TestFailuresAreNoLabels(t *testing.T) {
	t.Parallel()
	vale := passage("Orrin Vale", "Orrin Vale was born in Hull.", 3)
	for _, c := range []struct {
		err       error
		reason    schema.Reason
		temporary bool
	}{
		{nli.ErrNotFinite, schema.ReasonModelError, false},
		{errors.New("out of memory"), schema.ReasonModelError, false},
		{nli.ErrClosed, schema.ReasonModelError, true},
		{context.DeadlineExceeded, schema.ReasonJudgeTimeout, true},
	} {
		scorer := &rules{err: fmt.Errorf("scoring: %w", c.err)}
		local, err := nliworker.NewLocal(scorer, nliworker.Defaults())
		require.NoError(t, err)
		cross, err := nliworker.NewCross(scorer, nliworker.Defaults())
		require.NoError(t, err)
		item := &tree.Item{Step: step("Orrin Vale was born in Hull.", vale), Quotes: []schema.Quote{quoteOf(vale, "Hull")},
			Earlier: map[int]*schema.Label{1: {Label: schema.GapNone, Quotes: []schema.Quote{quoteOf(vale, "Hull")}}}}
		for _, d := range []tree.Decider{local, cross} {
			got, err := d.Decide(t.Context(), item)
			require.Empty(t, got.Gap)
			require.ErrorIs(t, err, c.err)
			je := judge.AsError(err)
			require.NotNil(t, je)
			require.Equal(t, c.reason, je.Reason)
			require.Equal(t, c.temporary, je.Temporary)
			require.ErrorContains(t, err, "r/o step 3")
		}
	}
}

func TestEpsilonOf(t *testing.T) {
	t.Parallel()
	fp32, int8 := nli.Info{Precision: "fp32"}, nli.Info{Precision: "int8"}
	require.InDelta(t, nliworker.Defaults().Epsilon, nliworker.EpsilonOf(fp32, 0), 0)
	require.Greater(t, nliworker.EpsilonOf(int8, 0), nliworker.EpsilonOf(fp32, 0))
	require.InDelta(t, 0.1, nliworker.EpsilonOf(int8, 0.1), 0)
}

func TestOptionsValidate(t *testing.T) {
	t.Parallel()
	require.NoError(t, nliworker.Defaults().Validate())
	for name, edit := range map[string]func(*nliworker.Options){
		"contradiction":  func(o *nliworker.Options) { o.Contradiction = math.NaN() },
		"entailment":     func(o *nliworker.Options) { o.Entailment = 1.5 },
		"epsilon":        func(o *nliworker.Options) { o.Epsilon = -1 },
		"premise_tokens": func(o *nliworker.Options) { o.PremiseTokens = 5 },
		"windows":        func(o *nliworker.Options) { o.Windows = -1 },
	} {
		o := nliworker.Defaults()
		edit(&o)
		require.ErrorContains(t, o.Validate(), name)
		_, err := nliworker.NewLocal(&rules{}, o)
		require.Error(t, err)
		_, err = nliworker.NewCross(&rules{}, o)
		require.Error(t, err)
	}
}
