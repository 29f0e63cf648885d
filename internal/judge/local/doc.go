// Package local is the judge that needs no model: overlap of entities for what
// a step aims at and what passages are about, patterns for facts that are
// stated, and a relevance score for the sentence that decides a claim. It is
// deterministic, makes no calls, and says in every trail entry that it is
// rules. It serves the demo and CI, and is the floor that an LLM judge must
// beat.
package local

import (
	"github.com/stepgap/stepgap/internal/judge"
	abstaincheck "github.com/stepgap/stepgap/services/abstain-check"
	entitycheck "github.com/stepgap/stepgap/services/entity-check"
	quoteextract "github.com/stepgap/stepgap/services/quote-extract"
)

// Model names the rules in trails and in a run's configuration hash. It changes
// with every change of the rules that can change a verdict.
const Model = "local-rules/3"

// Judge answers the questions of stages A, B and C by rules. The zero value is
// ready for use and safe for concurrent use.
type Judge struct{}

var (
	_ entitycheck.Judge  = Judge{}
	_ abstaincheck.Judge = Judge{}
	_ quoteextract.Judge = Judge{}
)

// New returns the judge.
func New() Judge { return Judge{} }

func meta(detail string) judge.Meta {
	return judge.Meta{Judge: judge.KindLocal, Model: Model, Detail: detail}
}
