package advantage

import (
	"fmt"
	"math"
)

// Epsilon is added to a standard deviation before it divides. TRL's GRPOTrainer
// has the same value.
const Epsilon = 1e-4

// GRPO returns the advantage of each rollout of one group by its outcome reward:
//
//	A_i = (r_i - mean(r)) / (std(r) + Epsilon)
//
// as in DeepSeekMath (arXiv 2402.03300, section 4.1.2), with the sample standard
// deviation (divisor n-1) and the Epsilon of TRL's GRPOTrainer. A NaN or an
// infinity among the rewards is an error.
func GRPO(rewards []*float64) ([]*float64, error) {
	return normalise(rewards, true)
}

// DrGRPO is GRPO without the division by the standard deviation, which favours
// questions that are nearly always or nearly never answered (Dr. GRPO, arXiv
// 2503.20783):
//
//	A_i = r_i - mean(r)
//
// The other half of Dr. GRPO, a loss that is not divided by a completion's
// length, is the trainer's.
func DrGRPO(rewards []*float64) ([]*float64, error) {
	return normalise(rewards, false)
}

// Process returns the advantage of each step of each rollout of one group by
// process supervision (DeepSeekMath, section 4.1.3): step rewards are normalised
// over all steps of the group, and a step's advantage is the sum of its own
// normalised reward and of those that follow in its rollout:
//
//	n_ij = (r_ij - mean(R)) / (std(R) + Epsilon)      R: all rewards given in the group
//	A_ij = sum of n_ik over k >= j
//
// The tokens of step j, after the anchor of step j-1 up to that of step j, take
// A_ij. A step without a reward has none of its own to learn from: its advantage
// is nil, and it adds nothing to the sums of the steps before it, which is what
// a reward equal to the group's mean would add. A rollout without step rewards
// (its reward is null, or it is missing from a partial group) is an empty slice
// and takes no part.
func Process(rollouts [][]*float64) ([][]*float64, error) {
	var all []*float64
	for _, steps := range rollouts {
		all = append(all, steps...)
	}
	normal, err := normalise(all, true)
	if err != nil {
		return nil, err
	}
	out := make([][]*float64, len(rollouts))
	for i, steps := range rollouts {
		out[i] = sumWhatFollows(normal[:len(steps)])
		normal = normal[len(steps):]
	}
	return out, nil
}

func sumWhatFollows(normal []*float64) []*float64 {
	out := make([]*float64, len(normal))
	sum := 0.0
	for j := len(normal) - 1; j >= 0; j-- {
		if normal[j] == nil {
			continue
		}
		sum += *normal[j]
		value := sum
		out[j] = &value
	}
	return out
}

func normalise(rewards []*float64, divide bool) ([]*float64, error) {
	b, err := baselineOf(rewards)
	if err != nil {
		return nil, err
	}
	out := make([]*float64, len(rewards))
	if b.given < 2 {
		return out, nil
	}
	for i, r := range rewards {
		if r == nil {
			continue
		}
		value := 0.0
		if !b.equal {
			value = *r - b.mean
			if divide {
				value /= b.std + Epsilon
			}
		}
		out[i] = &value
	}
	return out, nil
}

// baseline is what the given rewards of a group have in common.
type baseline struct {
	given     int
	mean, std float64
	// equal says that all are the same number. The mean of equal numbers need
	// not be that number in floating point, and the rest would be blown up by
	// the division.
	equal bool
}

func baselineOf(rewards []*float64) (baseline, error) {
	b := baseline{equal: true}
	first, sum := 0.0, 0.0
	for i, r := range rewards {
		if r == nil {
			continue
		}
		if math.IsNaN(*r) || math.IsInf(*r, 0) {
			return b, fmt.Errorf("reward %d of the group is %v; a reward that was not given is nil", i, *r)
		}
		if b.given == 0 {
			first = *r
		}
		b.given++
		b.equal = b.equal && *r == first
		sum += *r
	}
	if b.given < 2 {
		return b, nil
	}
	b.mean = sum / float64(b.given)
	squares := 0.0
	for _, r := range rewards {
		if r != nil {
			squares += (*r - b.mean) * (*r - b.mean)
		}
	}
	b.std = math.Sqrt(squares / float64(b.given-1))
	return b, nil
}
