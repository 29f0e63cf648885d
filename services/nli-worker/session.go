package nliworker

import (
	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/nli"
)

// Session is a scorer for one decision.
type Session interface {
	nli.Scorer
	// Meta says who scored, and what all that was asked cost so far. Its
	// confidence is that of the pair, where it was asked and one is known.
	Meta(of nli.Pair) judge.Meta
}

// Judge is a scorer that is no NLI model: its decisions are counted by
// themselves, and its trail entries carry its own name.
type Judge interface {
	nli.Scorer
	// Begin starts a decision.
	Begin() Session
}

func begin(s nli.Scorer) Session {
	switch s := s.(type) {
	case Judge:
		return s.Begin()
	case modelSession: // there is nothing to count
		return s
	default:
		return modelSession{s}
	}
}

// modelSession is a decision by an NLI model, which costs nothing by the call.
type modelSession struct{ nli.Scorer }

func (s modelSession) Meta(nli.Pair) judge.Meta {
	return judge.Meta{Judge: judge.KindNLI, Model: s.Info().Short()}
}
