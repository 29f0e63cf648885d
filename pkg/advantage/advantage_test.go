package advantage

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func given(values ...float64) []*float64 {
	out := make([]*float64, len(values))
	for i := range values {
		out[i] = &values[i]
	}
	return out
}

func requireNear(t *testing.T, want, got []*float64) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		if want[i] == nil || got[i] == nil {
			require.Equal(t, want[i], got[i], "at %d", i)
			continue
		}
		require.InDelta(t, *want[i], *got[i], 1e-12, "at %d", i)
	}
}

func TestGRPO(t *testing.T) {
	t.Parallel()
	half := math.Sqrt(0.5) + Epsilon // the sample standard deviation of 0 and 1
	for name, c := range map[string]struct{ rewards, grpo, drgrpo []*float64 }{
		"two":                 {given(0, 1), given(-0.5/half, 0.5/half), given(-0.5, 0.5)},
		"a missing one":       {[]*float64{given(0)[0], nil, given(1)[0]}, []*float64{given(-0.5 / half)[0], nil, given(0.5 / half)[0]}, []*float64{given(-0.5)[0], nil, given(0.5)[0]}},
		"all equal":           {given(0.1, 0.1, 0.1), given(0, 0, 0), given(0, 0, 0)},
		"one alone":           {given(1), []*float64{nil}, []*float64{nil}},
		"one and missing":     {[]*float64{nil, given(1)[0]}, []*float64{nil, nil}, []*float64{nil, nil}},
		"nothing given":       {[]*float64{nil, nil}, []*float64{nil, nil}, []*float64{nil, nil}},
		"an empty group":      {nil, nil, nil},
		"zeros are given too": {given(0, 0), given(0, 0), given(0, 0)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := GRPO(c.rewards)
			require.NoError(t, err)
			requireNear(t, c.grpo, got)
			got, err = DrGRPO(c.rewards)
			require.NoError(t, err)
			requireNear(t, c.drgrpo, got)
		})
	}
}

func TestProcessSumsWhatFollows(t *testing.T) {
	t.Parallel()
	// R is 0, 1, 1, 0: mean 0.5, sample standard deviation sqrt(1/3).
	unit := 0.5 / (math.Sqrt(1.0/3) + Epsilon)
	got, err := Process([][]*float64{given(0, 1), {given(1)[0], nil, given(0)[0]}, nil})
	require.NoError(t, err)
	require.Len(t, got, 3)
	requireNear(t, given(0, unit), got[0])
	requireNear(t, []*float64{given(0)[0], nil, given(-unit)[0]}, got[1])
	require.Empty(t, got[2])
}

func TestANumberThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := GRPO(given(1, bad))
		require.ErrorContains(t, err, "reward 1")
		_, err = DrGRPO(given(bad))
		require.Error(t, err)
		_, err = Process([][]*float64{given(1), given(bad)})
		require.Error(t, err)
	}
}

// Whatever the group: None in, None out; the given advantages of GRPO and DrGRPO
// sum to 0; a shift of all rewards changes nothing.
func TestAdvantagesOfRandomGroups(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 1))
		rewards := randomRewards(rng, 1+rng.IntN(16))
		shifted := make([]*float64, len(rewards))
		count := 0
		for i, r := range rewards {
			if r != nil {
				count++
				shifted[i] = given(*r + 3)[0]
			}
		}
		for _, f := range []func([]*float64) ([]*float64, error){GRPO, DrGRPO} {
			got, err := f(rewards)
			require.NoError(t, err)
			other, err := f(shifted)
			require.NoError(t, err)
			sum := 0.0
			for i, a := range got {
				require.Equal(t, rewards[i] != nil && count > 1, a != nil, "seed %d, at %d", seed, i)
				if a != nil {
					sum += *a
					require.InDelta(t, *a, *other[i], 1e-6, "seed %d, at %d", seed, i)
				}
			}
			require.InDelta(t, 0, sum, 1e-9, "seed %d", seed)
		}
	}
}

// randomRewards draws n rewards as rollouts have them: often 0 or 1, often equal,
// about one in five missing.
func randomRewards(rng *rand.Rand, n int) []*float64 {
	palette := []float64{0, 1, rng.NormFloat64(), rng.Float64() / 10, 1e-9, -0.05}
	palette = palette[:1+rng.IntN(len(palette))]
	out := make([]*float64, n)
	for i := range out {
		if rng.IntN(5) > 0 {
			out[i] = given(palette[rng.IntN(len(palette))])[0]
		}
	}
	return out
}
