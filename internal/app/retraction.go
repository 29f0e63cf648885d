package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/internal/stage"
	"github.com/stepgap/stepgap/pkg/schema"
	rewardagg "github.com/stepgap/stepgap/services/reward-agg"
)

// retractions opens the NLI model for a profile that asks it about retractions,
// and says what a run is held to. Other profiles need no model.
func (p *Process) retractions(profile *rewardagg.Profile) (ask stage.AskFunc, hash string, err error) {
	if profile.Retraction.Mode != rewardagg.RetractByNLI {
		return nil, profile.Hash(), nil
	}
	if KindsOf(p.cfg).Local == judge.KindFree {
		return nil, "", fmt.Errorf("profile %s asks an NLI model about retractions, and judge_nli is free; set judge_nli to nli, or retraction.mode to %s", profile.Name, rewardagg.RetractByPattern)
	}
	scorer, err := p.model()
	if err != nil {
		return nil, "", fmt.Errorf("profile %s asks an NLI model about retractions: %w", profile.Name, err)
	}
	sum := sha256.Sum256([]byte(profile.Hash() + " " + scorer.Info().Hash))
	return askNLI(scorer), hex.EncodeToString(sum[:]), nil
}

// askNLI asks scorer. A pair that is longer than the model takes stays without an
// answer; any other failure may pass, and is an error.
func askNLI(scorer nli.Scorer) stage.AskFunc {
	return func(ctx context.Context, questions []rewardagg.Question) (map[rewardagg.Question]schema.Scores, error) {
		answers := make(map[rewardagg.Question]schema.Scores, len(questions))
		for _, q := range questions {
			scores, err := scorer.Score(ctx, []nli.Pair{{Premise: q.New, Hypothesis: q.Old}})
			switch {
			case errors.Is(err, nli.ErrTooLong):
			case err != nil:
				return nil, fmt.Errorf("asking whether a claim is contradicted: %w", err)
			default:
				answers[q] = scores[0]
			}
		}
		return answers, nil
	}
}
