// Package nli scores pairs of premise and hypothesis with a natural language
// inference model: windows over the premise's text, a batcher that joins the
// requests of many goroutines, and a cache of results.
//
// It is pure Go. The model itself (tokenizer and ONNX session) stands behind
// the interface Model and lives in internal/nli/onnx; NATS, steps and labels
// are unknown here.
package nli

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/stepgap/stepgap/pkg/schema"
)

// Errors that callers match with errors.Is.
var (
	// ErrTooLong: a pair has more tokens than the model takes. Nothing is ever
	// cut to make it fit.
	ErrTooLong = errors.New("pair is longer than the model takes")
	// ErrNotFinite: the model gave NaN or an infinity, which is no score.
	ErrNotFinite = errors.New("model gave a score that is not finite")
	// ErrClosed: the model or batcher was closed.
	ErrClosed = errors.New("nli: closed")
)

// Pair is one question to the model: does Premise entail Hypothesis?
type Pair struct {
	Premise    string
	Hypothesis string
}

// Info names a model.
type Info struct {
	// Name is the model's folder name.
	Name string
	// Hash is the hex SHA-256 over model file, tokenizer and configuration.
	Hash string
	// MaxTokens is the most tokens a pair may have, special tokens included.
	MaxTokens int
	// PairOverhead is how many of them are special tokens.
	PairOverhead int
	// Device is where it runs: "cpu" or "cuda:n".
	Device string
	// File is the model file, relative to the folder, such as "model.onnx".
	File string
	// Precision is fp32, fp16 or int8, by what the file computes with.
	Precision string
	// TwoWay: the model has two labels, entailed or not. It can't tell a
	// contradiction from silence, so its Contradiction is always 0, and D can't
	// answer contradicted_claim by it.
	TwoWay bool
	// Reference is how many reference pairs the model reproduced when it was
	// loaded; 0: it has none, so nothing is known of its parity.
	Reference int
}

// Short is name@hash with the first twelve digits of the hash, as trails
// carry it.
func (i Info) Short() string {
	h := i.Hash
	if len(h) > 12 {
		h = h[:12]
	}
	return i.Name + "@" + h
}

// Quantised reports whether the model computes with rounded weights, so that
// its scores are only near those of the model that it was made from.
func (i Info) Quantised() bool { return i.Precision != "" && i.Precision != "fp32" }

// TokenCounter counts a text's tokens, special tokens not included.
type TokenCounter interface {
	CountTokens(text string) (int, error)
}

// Scorer scores pairs. Score returns one result a pair, in order, or an error;
// it never returns a number that the model didn't give. It is safe for
// concurrent use.
type Scorer interface {
	TokenCounter
	Score(ctx context.Context, pairs []Pair) ([]schema.Scores, error)
	Info() Info
}

// Encoding is a pair as the model reads it. IDs and TypeIDs have equal length.
type Encoding struct {
	IDs     []int64
	TypeIDs []int64
}

// Len is the number of tokens.
func (e Encoding) Len() int { return len(e.IDs) }

// Logits are a pair's raw outputs, whatever their order in the model.
type Logits struct {
	Entailment    float32
	Neutral       float32
	Contradiction float32
	// TwoWay: the model has no class for contradiction, and Contradiction means
	// nothing.
	TwoWay bool
}

// Model encodes pairs and runs padded batches. It is safe for concurrent use.
type Model interface {
	TokenCounter
	// Encode returns ErrTooLong (wrapped) rather than cut a pair.
	Encode(Pair) (Encoding, error)
	// Run returns one row of logits an encoding, in order. The caller keeps
	// batches to similar lengths; Run pads.
	Run(ctx context.Context, batch []Encoding) ([]Logits, error)
	Info() Info
}

// Probabilities turns logits into scores that sum to 1. Those of a two-way
// model are shared out between entailment and neutral.
func Probabilities(l Logits) (schema.Scores, error) {
	e, n, c := float64(l.Entailment), float64(l.Neutral), float64(l.Contradiction)
	for _, x := range [...]float64{e, n, c} {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return schema.Scores{}, fmt.Errorf("logits (%v, %v, %v): %w", e, n, c, ErrNotFinite)
		}
	}
	if l.TwoWay {
		c = math.Inf(-1)
	}
	m := max(e, n, c)
	e, n, c = math.Exp(e-m), math.Exp(n-m), math.Exp(c-m)
	sum := e + n + c
	return schema.Scores{Entailment: e / sum, Neutral: n / sum, Contradiction: c / sum}, nil
}
