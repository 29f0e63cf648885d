package nliworker

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/judge/llm"
	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Values of the answer's "verdict".
const (
	verdictEntailed     = "entailed"
	verdictContradicted = "contradicted"
	verdictOpen         = "open"
)

const (
	// maxAnswerTokens is room for the answer at its longest.
	maxAnswerTokens = 100
	// pairsAtOnce is how many pairs of one decision are asked at the same time.
	pairsAtOnce = 4
	// llmTokens bounds a pair, in words; windows are as wide as an NLI model's.
	llmTokens = 2048
)

// answer is what the model is asked for; see prompts/nli-worker.schema.json.
type answer struct {
	// Says comes first: a model that has to look the fact up before it judges
	// is wrong less often.
	Says    string `json:"says"`
	Verdict string `json:"verdict"`
}

// Validate implements llm.Validator.
func (a *answer) Validate() error {
	switch a.Verdict {
	case verdictEntailed, verdictContradicted, verdictOpen:
		return nil
	}
	return fmt.Errorf("verdict %q: want %q, %q or %q", a.Verdict, verdictEntailed, verdictContradicted, verdictOpen)
}

// LLM is the judge llm of D and E: a language model is asked about a premise
// and a hypothesis as an NLI model would be. Its verdict is the whole score:
// the class has 1 and the others 0, and no score goes into a trail.
type LLM struct {
	setup    llm.Setup
	template *llm.Template
	model    string
}

var _ Judge = (*LLM)(nil)

// NewLLM returns the judge, which asks the model of that name. It fails where
// the prompt, or its replacement, is not usable.
func NewLLM(setup llm.Setup, model string) (*LLM, error) {
	setup, err := setup.Checked()
	if err != nil {
		return nil, err
	}
	template, err := llm.Load(PromptSpec(), setup.PromptDir)
	if err != nil {
		return nil, err
	}
	return &LLM{setup: setup, template: template, model: model}, nil
}

// PromptVersion names the prompt and its content.
func (j *LLM) PromptVersion() string { return j.template.Version() }

// Info implements nli.Scorer.
func (j *LLM) Info() nli.Info {
	return nli.Info{Name: j.model, Hash: j.template.Version(), MaxTokens: llmTokens}
}

// CountTokens counts words: the model's own tokens are the endpoint's.
func (j *LLM) CountTokens(text string) (int, error) { return len(evidence.Words(text)), nil }

// Score implements nli.Scorer, where no one counts what it costs.
func (j *LLM) Score(ctx context.Context, pairs []nli.Pair) ([]schema.Scores, error) {
	return j.Begin().Score(ctx, pairs)
}

// Begin implements Judge.
func (j *LLM) Begin() Session {
	return &llmSession{LLM: j, spent: judge.Meta{Judge: judge.KindLLM, Model: j.model, Prompt: j.PromptVersion()}, known: map[nli.Pair]told{}}
}

// ask asks about one pair. Every failure is a *judge.Error.
func (j *LLM) ask(ctx context.Context, p nli.Pair) (string, judge.Meta, error) {
	req, err := j.template.Render(j.setup.Fencer, map[string]string{"premise": p.Premise, "hypothesis": p.Hypothesis})
	if err != nil {
		return "", judge.Meta{}, err
	}
	req.MaxTokens = maxAnswerTokens
	req.Verdict, req.Legal = "verdict", []string{verdictEntailed, verdictContradicted, verdictOpen}
	got, meta, err := llm.Ask[answer](ctx, j.setup.Completer, req)
	if err != nil {
		return "", meta, fmt.Errorf("asking what the premise says of the claim: %w", err)
	}
	return got.Verdict, meta, nil
}

// told is what the model said of a pair.
type told struct {
	scores     schema.Scores
	confidence *float64
}

// llmSession counts what one decision costs, and asks about no pair twice.
type llmSession struct {
	*LLM

	mu    sync.Mutex
	spent judge.Meta
	hits  int // verdicts that cost nothing
	asked int
	known map[nli.Pair]told
}

// Meta implements Session. It is a cache hit where nothing was spent at all.
func (s *llmSession) Meta(of nli.Pair) judge.Meta {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.spent
	m.Confidence = s.known[of].confidence
	m.CacheHit = s.asked > 0 && s.hits == s.asked
	return m
}

// Score implements nli.Scorer.
func (s *llmSession) Score(ctx context.Context, pairs []nli.Pair) ([]schema.Scores, error) {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(pairsAtOnce)
	started := map[nli.Pair]bool{}
	for _, p := range pairs {
		if _, ok := s.told(p); ok || started[p] {
			continue
		}
		started[p] = true
		group.Go(func() error {
			verdict, meta, err := s.ask(ctx, p)
			if err != nil {
				if je := judge.AsError(err); je != nil {
					meta = je.Meta
				}
				s.spend(meta)
				return err
			}
			s.spend(meta)
			s.keep(p, told{oneHot(verdict), meta.Confidence})
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	out := make([]schema.Scores, len(pairs))
	for i, p := range pairs {
		t, _ := s.told(p)
		out[i] = t.scores
	}
	return out, nil
}

func (s *llmSession) told(p nli.Pair) (told, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, ok := s.known[p]
	return t, ok
}

func (s *llmSession) keep(p nli.Pair, t told) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[p] = t
}

func (s *llmSession) spend(m judge.Meta) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	if m.CacheHit {
		s.hits++
	}
	s.spent.Calls += m.Calls
	s.spent.TokensIn += m.TokensIn
	s.spent.TokensOut += m.TokensOut
	s.spent.TokensCached += m.TokensCached
}

func oneHot(verdict string) schema.Scores {
	switch verdict {
	case verdictEntailed:
		return schema.Scores{Entailment: 1}
	case verdictContradicted:
		return schema.Scores{Contradiction: 1}
	default:
		return schema.Scores{Neutral: 1}
	}
}

var _ llm.Validator = (*answer)(nil)
