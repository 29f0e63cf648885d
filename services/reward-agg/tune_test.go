package rewardagg

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/pkg/schema"
)

// rollouts of an untuned model: some right, some wrong, with all kinds of steps.
func untuned(t testing.TB, p *Profile) (acts [][]act, sample []Scored) {
	t.Helper()
	for g := range 12 {
		for i := range 4 {
			as := []act{ok(fmt.Sprintf("topic%d author", g), fmt.Sprintf("Alba %d wrote it.", g))}
			if i%2 == 0 {
				as = append(as, gap(schema.GapIrrelevant, fmt.Sprintf("topic%d birthplace", g), ""))
			}
			if i == 3 {
				as = append(as, gap(schema.GapContradicted, fmt.Sprintf("topic%d town", g), fmt.Sprintf("Alba %d was born in Leeds.", g)))
			}
			right := 0.0
			if (i+g)%3 == 0 {
				right = 1
			}
			acts = append(acts, as)
			v := reward(t, p, as...)
			sample = append(sample, Scored{Group: fmt.Sprint(g), Process: &v, Outcome: &right})
		}
	}
	return acts, sample
}

func TestTuneSetsTheSpreadAgainstTheOutcomes(t *testing.T) {
	t.Parallel()
	for _, name := range Profiles() {
		src, err := ProfileYAML(name)
		require.NoError(t, err)
		p := profile(t, name)
		acts, sample := untuned(t, p)
		got, err := Tune(src, sample, TuneOptions{Name: name + "-small", Share: 0.5, Model: "small-1B", Sample: "run tuesday"})
		require.NoError(t, err)
		require.Equal(t, 12, got.Groups)
		require.Equal(t, 48, got.Rollouts)

		tuned, err := ParseProfile(got.YAML)
		require.NoError(t, err)
		require.Equal(t, name+"-small", tuned.Name)
		require.NotEqual(t, p.Hash(), tuned.Hash())
		require.Contains(t, tuned.Base.None.Source, "model small-1B, run tuesday, 48 rollouts in 12 groups")
		// The sample under the tuned profile has the spread that was asked for.
		for i := range acts {
			v := reward(t, tuned, acts[i]...)
			sample[i].Process = &v
		}
		_, process, outcome := spreads(sample)
		require.InEpsilon(t, 0.5*outcome, process, 1e-3, name)
		// Signs, order and rules stay.
		require.Equal(t, p.Unpaid, tuned.Unpaid)
		require.Equal(t, p.CapGaps, tuned.CapGaps)
		require.Equal(t, p.Divide, tuned.Divide)
		for _, m := range [][2]Magnitude{{p.Base.None, tuned.Base.None}, {p.Base.Irrelevant, tuned.Base.Irrelevant}, {p.Shape.NearDuplicate, tuned.Shape.NearDuplicate}} {
			require.InEpsilon(t, m[0].Value*got.Factor, m[1].Value, 1e-3)
		}
	}
}

// A tuned profile is as safe as the one it was made of.
func TestPolicyNoTrickBeatsHonestyUnderATunedProfile(t *testing.T) {
	t.Parallel()
	src, err := ProfileYAML("stepgap")
	require.NoError(t, err)
	_, sample := untuned(t, profile(t, "stepgap"))
	for _, share := range []float64{0.1, 2} {
		got, err := Tune(src, sample, TuneOptions{Name: "tuned", Share: share})
		require.NoError(t, err)
		p, err := ParseProfile(got.YAML)
		require.NoError(t, err)
		for _, w := range append(worlds(), losing()) {
			honest := reward(t, p, w.honest...)
			for _, k := range tricks() {
				if !k.instead || w.name != losing().name {
					require.LessOrEqual(t, reward(t, p, k.apply(w.honest)...), honest+1e-9, "%s, %s", w.name, k.name)
				}
			}
		}
	}
}

func TestTuneRefusesTooLittleAndSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	src, err := ProfileYAML("stepgap")
	require.NoError(t, err)
	_, full := untuned(t, profile(t, "stepgap"))
	edit := func(f func(*Scored)) []Scored {
		out := append([]Scored{}, full...)
		for i := range out {
			f(&out[i])
		}
		return out
	}
	one := 1.0
	for want, sample := range map[string][]Scored{
		"0 groups of two or more":                     nil,
		"is the end's group set?":                     edit(func(s *Scored) { s.Group = "" }),
		"3 groups of two or more":                     full[:12],
		"48 rollouts were left out":                   edit(func(s *Scored) { s.Outcome = nil }),
		"the outcome differs in no group":             edit(func(s *Scored) { s.Outcome = &one }),
		"the process reward differs in no group":      edit(func(s *Scored) { s.Process = &one }),
		"12 rollouts in them, it takes 32":            full[:12],
		"0 rollouts in them, it takes 32; 0 rollouts": {},
	} {
		_, err := Tune(src, sample, TuneOptions{Name: "tuned", Share: 0.5})
		require.ErrorIs(t, err, ErrTooLittle, want)
		require.ErrorContains(t, err, want)
	}
	_, err = Tune(src, full, TuneOptions{Name: "tuned"})
	require.ErrorContains(t, err, "share")
}
