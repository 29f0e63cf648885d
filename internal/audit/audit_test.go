package audit_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/audit"
	"github.com/stepgap/stepgap/internal/runlog"
	"github.com/stepgap/stepgap/pkg/schema"
	rewardagg "github.com/stepgap/stepgap/services/reward-agg"
)

func profile(t testing.TB, name string) *rewardagg.Profile {
	t.Helper()
	p, err := rewardagg.LoadProfile(name)
	require.NoError(t, err)
	return p
}

// made is a rollout under profile paper with these labels.
func made(p *rewardagg.Profile, n int, right bool, labels ...schema.Label) *runlog.Rollout {
	end := &schema.RolloutEnd{Run: "r", Rollout: fmt.Sprint(n), Answer: "no", Gold: []string{"yes"}}
	if right {
		end.Answer = "yes"
	}
	byIndex := map[int]*schema.Label{}
	for i := range labels {
		l := &labels[i]
		l.Run, l.Rollout, l.Index, l.Digest = end.Run, end.Rollout, i+1, strings.Repeat("a", 64)
		l.Repair = l.Label.Repair()
		if l.Stage == "" {
			l.Stage = schema.StageLocal
		}
		end.Steps = append(end.Steps, schema.StepRef{Index: l.Index, Digest: l.Digest})
		byIndex[l.Index] = l
	}
	r := rewardagg.Compute(end, byIndex, p)
	return &runlog.Rollout{Reward: &r, Labels: byIndex}
}

func search(gap schema.Gap, query, claim string) schema.Label {
	return schema.Label{Label: gap, Facts: &schema.Facts{Kind: schema.KindSearch, Query: query, Text: claim, Claim: claim}}
}

// honest is a rollout of a policy that works.
func honest(p *rewardagg.Profile, n int, rng *rand.Rand) *runlog.Rollout {
	labels := []schema.Label{search(schema.GapNone, fmt.Sprintf("author of book%d", n), fmt.Sprintf("Book%d was written by Mara.", n))}
	if rng.IntN(2) == 0 {
		labels = append(labels, search(schema.GapIrrelevant, "birthplace", ""))
	}
	labels = append(labels, search(schema.GapNone, "Mara birthplace town", "Mara was born in Leeds."))
	return made(p, n, rng.IntN(2) == 0, labels...)
}

func run(t *testing.T, n int, rollout func(i int, rng *rand.Rand) *runlog.Rollout) audit.Report {
	t.Helper()
	a, err := audit.New(audit.Defaults(profile(t, "stepgap")))
	require.NoError(t, err)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		a.Add(rollout(i, rng))
	}
	return a.Report()
}

func kinds(r audit.Report) map[string]bool {
	out := map[string]bool{}
	for _, f := range r.Findings {
		if f.Suspicious {
			out[string(f.Kind)+" "+f.What] = true
		}
	}
	return out
}

func TestAnHonestRunIsNotSuspicious(t *testing.T) {
	t.Parallel()
	p := profile(t, "paper")
	for _, n := range []int{1, 39, 40, 400} {
		r := run(t, n, func(i int, rng *rand.Rand) *runlog.Rollout { return honest(p, i, rng) })
		require.Empty(t, kinds(r), n)
		require.Equal(t, n >= 40, r.Compared, n)
		require.False(t, r.Suspicious())
	}
}

// Each trick of the policy enumeration, learned half-way through a run that the
// paper's own numbers reward, is found: by its share, its growth, or both.
func TestATrickThatIsLearnedIsFound(t *testing.T) {
	t.Parallel()
	p := profile(t, "paper")
	noop := search(schema.GapNone, "", "")
	noop.Reason = schema.ReasonNoClaim
	claimed := search(schema.GapNone, "Mara birthplace town", "Mara was born in Leeds.")
	wrong := search(schema.GapContradicted, "Mara birthplace", "Mara was born in York.")
	back := search(schema.GapNone, "Mara town register", "Mara was born in Leeds.")
	back.Facts.Text = "Actually, that was wrong. Mara was born in Leeds."
	abstains := search(schema.GapNone, "Mara birthplace town", "")
	abstains.Reason, abstains.Facts.Abstains = schema.ReasonAbstainOK, true
	for name, c := range map[string]struct {
		labels []schema.Label
		want   []string
	}{
		"pad with no-ops":         {[]schema.Label{claimed, noop, noop, noop}, []string{"level vacuous", "rise vacuous", "reward_without_outcome process"}},
		"duplicate queries":       {[]schema.Label{claimed, claimed, claimed, claimed}, []string{"rise near_duplicate_query", "rise vacuous"}},
		"contradict then retract": {[]schema.Label{wrong, back}, []string{"level retracted", "rise retracted"}},
		"abstain always":          {[]schema.Label{abstains, abstains}, []string{"rise abstains"}},
		"never claim":             {[]schema.Label{search(schema.GapNone, "author of book", ""), search(schema.GapNone, "Mara town", "")}, []string{"rise vacuous"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := run(t, 200, func(i int, rng *rand.Rand) *runlog.Rollout {
				if i < 100 {
					return honest(p, i, rng)
				}
				labels := make([]schema.Label, len(c.labels))
				copy(labels, c.labels)
				return made(p, i, rng.IntN(2) == 0, labels...)
			})
			got := kinds(r)
			for _, want := range c.want {
				require.Contains(t, got, want, "%+v", r.Findings)
			}
		})
	}
}

func TestWhatWentToVacuousStepsIsTold(t *testing.T) {
	t.Parallel()
	noop := search(schema.GapNone, "", "")
	noop.Reason = schema.ReasonNoClaim
	claimed := search(schema.GapNone, "Mara birthplace town", "Mara was born in Leeds.")
	share := func(name string) float64 {
		p := profile(t, name)
		r := run(t, 1, func(i int, _ *rand.Rand) *runlog.Rollout { return made(p, i, true, claimed, noop, noop, noop) })
		require.NotNil(t, r.All.Unearned)
		return *r.All.Unearned
	}
	require.InDelta(t, 0.75, share("paper"), 1e-9)
	require.Zero(t, share("stepgap"))
}

func TestNothingCountedIsNoShare(t *testing.T) {
	t.Parallel()
	r := run(t, 0, nil)
	require.Nil(t, r.All.Signals[audit.Vacuous].Share)
	require.Nil(t, r.All.Process)
	require.Nil(t, r.All.Unearned)
	var text strings.Builder
	require.NoError(t, audit.WriteText(&text, r))
	require.NotContains(t, text.String(), "NaN")
	require.Contains(t, text.String(), "too few rollouts")
}

// Labels don't say what an NLI model would: without it nothing counts as taken
// back, and a share of 0 would be made up.
func TestRulesThatTakeAModelAreRefused(t *testing.T) {
	t.Parallel()
	src, err := rewardagg.ProfileYAML("stepgap")
	require.NoError(t, err)
	p, err := rewardagg.ParseProfile([]byte(strings.Replace(string(src), "mode: pattern", "mode: nli\n  contradiction: {value: 0.5, source: test}", 1)))
	require.NoError(t, err)
	_, err = audit.New(audit.Defaults(p))
	require.ErrorContains(t, err, "asks an NLI model")
}

func TestOptionsNameWhatIsWrong(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*audit.Options){
		"profile":       func(o *audit.Options) { o.Rules = nil },
		"windows":       func(o *audit.Options) { o.Windows = 1 },
		"alpha":         func(o *audit.Options) { o.Alpha = 0 },
		"rise":          func(o *audit.Options) { o.Rise = 1 },
		"is no signal":  func(o *audit.Options) { o.Limits["vacuum"] = 0.1 },
		"limit of vacu": func(o *audit.Options) { o.Limits[audit.Vacuous] = 1.1 },
	} {
		o := audit.Defaults(profile(t, "stepgap"))
		change(&o)
		_, err := audit.New(o)
		require.ErrorContains(t, err, want)
	}
}
