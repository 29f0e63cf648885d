package nlieval

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/pkg/schema"
)

// alone asks the model about each pair and takes its likeliest label.
func alone(ctx context.Context, scorer nli.Scorer, set Set) ([]Label, error) {
	var asked []nli.Pair
	var from []int // the pair of the set that each of asked belongs to
	for i, p := range set.Pairs {
		pieces := []string{p.Premise}
		if p.Sentences != nil {
			var err error
			if pieces, err = divide(p, scorer); err != nil {
				return nil, fmt.Errorf("pair %d: %w", i+1, err)
			}
		}
		for _, piece := range pieces {
			asked = append(asked, nli.Pair{Premise: piece, Hypothesis: p.Hypothesis})
			from = append(from, i)
		}
	}
	scores, err := scorer.Score(ctx, asked)
	if err != nil {
		return nil, err
	}
	out := make([]Label, len(set.Pairs))
	for i := range out {
		out[i] = -1
	}
	for k, s := range scores {
		l := likeliest(s)
		if set.TwoWay && l != Entailment {
			l = Neutral
		}
		if i := from[k]; out[i] < 0 || l == Entailment {
			out[i] = l
		}
	}
	return out, nil
}

func likeliest(s schema.Scores) Label {
	switch {
	case s.Entailment >= s.Neutral && s.Entailment >= s.Contradiction:
		return Entailment
	case s.Contradiction > s.Neutral:
		return Contradiction
	}
	return Neutral
}

// pieceTokens bounds the pieces of a page, in tokens of the model; they are as
// long as the premises that a worker asks about.
const pieceTokens = 192

// divide joins the sentences of a page, in order, to pieces of at most
// pieceTokens. A longer sentence is cut in two, between words where it has any.
func divide(p Pair, counter nli.TokenCounter) ([]string, error) {
	var pieces, piece []string
	tokens := 0
	flush := func() {
		if len(piece) > 0 {
			pieces = append(pieces, strings.Join(piece, " "))
		}
		piece, tokens = nil, 0
	}
	var add func(text string) error
	add = func(text string) error {
		n, err := counter.CountTokens(text)
		if err != nil {
			return err
		}
		if n > pieceTokens {
			first, second := cut(text)
			return errors.Join(add(first), add(second))
		}
		if tokens+n > pieceTokens {
			flush()
		}
		if n > 0 {
			piece, tokens = append(piece, text), tokens+n
		}
		return nil
	}
	for _, s := range p.Sentences {
		if err := add(s); err != nil {
			return nil, err
		}
	}
	flush()
	if pieces == nil {
		return nil, fmt.Errorf("the evidence of %q has no text", p.Hypothesis)
	}
	return pieces, nil
}

// cut divides a text of more than one character near its middle.
func cut(text string) (first, second string) {
	if words := strings.Fields(text); len(words) > 1 {
		half := len(words) / 2
		return strings.Join(words[:half], " "), strings.Join(words[half:], " ")
	}
	runes := []rune(text)
	return string(runes[:len(runes)/2]), string(runes[len(runes)/2:])
}
