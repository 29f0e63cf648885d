package nlieval

import (
	"math/rand/v2"
	"slices"
)

// Figure is a share with its 95 % bootstrap interval.
type Figure struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Quality is how well predictions fit a set.
type Quality struct {
	Accuracy Figure `json:"accuracy"`
	// MacroF1 is the mean F1 over the labels that occur in the set.
	MacroF1 Figure `json:"macro_f1"`
}

// confusion counts pairs by true and predicted label.
type confusion [labels][labels]int

func (c *confusion) accuracy() float64 {
	right, all := 0, 0
	for truth, row := range c {
		for predicted, n := range row {
			all += n
			if truth == predicted {
				right += n
			}
		}
	}
	return float64(right) / float64(all)
}

func (c *confusion) macroF1() float64 {
	sum, occurring := 0.0, 0
	for l := range labels {
		truth, predicted := 0, 0
		for other := range labels {
			truth += c[l][other]
			predicted += c[other][l]
		}
		if truth == 0 {
			continue
		}
		occurring++
		sum += 2 * float64(c[l][l]) / float64(truth+predicted)
	}
	return sum / float64(occurring)
}

const (
	resamples = 1000
	seed      = 1
)

// measure compares predictions with a set of at least one pair. The intervals
// are percentiles over resamples of premises, not of pairs: pairs of one
// premise are right or wrong together.
func measure(pairs []Pair, predicted []Label) Quality {
	groups := byPremise(pairs, predicted)
	var whole confusion
	for _, g := range groups {
		for _, c := range g {
			whole[c[0]][c[1]]++
		}
	}
	random := rand.New(rand.NewPCG(seed, seed))
	accuracy, f1 := make([]float64, resamples), make([]float64, resamples)
	for i := range resamples {
		var sample confusion
		for range groups {
			for _, c := range groups[random.IntN(len(groups))] {
				sample[c[0]][c[1]]++
			}
		}
		accuracy[i], f1[i] = sample.accuracy(), sample.macroF1()
	}
	return Quality{Accuracy: interval(whole.accuracy(), accuracy), MacroF1: interval(whole.macroF1(), f1)}
}

// byPremise groups (truth, prediction) by premise, in order of appearance.
func byPremise(pairs []Pair, predicted []Label) [][][2]Label {
	var groups [][][2]Label
	at := make(map[string]int)
	for i, p := range pairs {
		g, ok := at[p.Premise]
		if !ok {
			g = len(groups)
			at[p.Premise] = g
			groups = append(groups, nil)
		}
		groups[g] = append(groups[g], [2]Label{p.Label, predicted[i]})
	}
	return groups
}

func interval(value float64, resampled []float64) Figure {
	slices.Sort(resampled)
	at := func(share float64) float64 { return resampled[int(share*float64(len(resampled)-1)+0.5)] }
	return Figure{Value: value, Low: at(0.025), High: at(0.975)}
}
