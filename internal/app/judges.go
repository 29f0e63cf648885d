package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/judge/llm"
	"github.com/stepgap/stepgap/internal/judge/local"
	"github.com/stepgap/stepgap/internal/stage"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
	abstaincheck "github.com/stepgap/stepgap/services/abstain-check"
	entitycheck "github.com/stepgap/stepgap/services/entity-check"
	quoteextract "github.com/stepgap/stepgap/services/quote-extract"
)

// identity is what a run is held to at one stage: everything that can change
// its labels.
type identity struct {
	Stage   schema.Stage `json:"stage"`
	Judge   judge.Kind   `json:"judge"`
	Model   string       `json:"model,omitempty"`
	Prompt  string       `json:"prompt,omitempty"`
	Options any          `json:"options,omitempty"`
}

func (i identity) hash() (string, error) {
	b, err := json.Marshal(i)
	if err != nil {
		return "", fmt.Errorf("configuration of %s: %w", i.Stage, err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// built is a stage's decider with what a run is held to.
type built struct {
	decider tree.Decider
	live    stage.LiveFunc
	identity
}

// judges builds deciders from the configuration, opening the LLM client once.
type judges struct {
	cfg   Config
	log   *slog.Logger
	setup *llm.Setup
	// open makes the client that asks the endpoints.
	open func(llm.Config) (*llm.Client, error)
	// remember gives what asks a memory, a meter, or a recording in its place.
	remember *verdicts
}

// kind resolves a stage's judge.
func (j *judges) kind(own string) judge.Kind {
	k := own
	if k == "" {
		k = j.cfg.Judge
	}
	if k == "auto" {
		k = string(judge.KindLocal)
		if j.cfg.LLMURL != "" || j.cfg.Replay != "" {
			k = string(judge.KindLLM)
		}
	}
	return judge.Kind(k)
}

func (j *judges) entity() (built, error) {
	b := built{identity: identity{Stage: schema.StageEntity, Judge: j.kind(j.cfg.JudgeEntity)}}
	var asked entitycheck.Judge
	switch b.Judge {
	case judge.KindLocal:
		asked, b.Model = local.New(), local.Model
	case judge.KindLLM:
		setup, err := j.llm()
		if err != nil {
			return b, err
		}
		own, err := entitycheck.NewLLM(setup)
		if err != nil {
			return b, err
		}
		asked, b.Model, b.Prompt = own, j.cfg.LLMModel, own.PromptVersion()
	default:
		b.decider = fixed(b.identity, tree.HopQuote)
		b.live = fixedLive(b.identity)
		return b, nil
	}
	b.decider = entitycheck.New(asked)
	b.live = func(ctx context.Context, s *schema.Step) (schema.Gap, string, schema.TrailEntry, error) {
		return entitycheck.Plan(ctx, asked, s)
	}
	return b, nil
}

func (j *judges) abstain() (built, error) {
	b := built{identity: identity{Stage: schema.StageAbstain, Judge: j.kind(j.cfg.JudgeAbstain)}}
	switch b.Judge {
	case judge.KindLocal:
		b.decider, b.Model = abstaincheck.New(local.New()), local.Model
	case judge.KindLLM:
		setup, err := j.llm()
		if err != nil {
			return b, err
		}
		own, err := abstaincheck.NewLLM(setup)
		if err != nil {
			return b, err
		}
		b.decider, b.Model, b.Prompt = abstaincheck.New(own), j.cfg.LLMModel, own.PromptVersion()
	default:
		b.decider = fixed(b.identity, tree.HopQuote)
	}
	return b, nil
}

func (j *judges) quote() (built, error) {
	b := built{identity: identity{Stage: schema.StageQuote, Judge: j.kind(j.cfg.JudgeQuote)}}
	var asked quoteextract.Judge
	switch b.Judge {
	case judge.KindLocal:
		asked, b.Model = local.New(), local.Model
	case judge.KindLLM:
		setup, err := j.llm()
		if err != nil {
			return b, err
		}
		own, err := quoteextract.NewLLM(setup)
		if err != nil {
			return b, err
		}
		asked, b.Model, b.Prompt = own, j.cfg.LLMModel, own.PromptVersion()
	default:
		b.decider = fixed(b.identity, tree.HopLocal)
		b.live = fixedLive(b.identity)
		return b, nil
	}
	b.decider = quoteextract.New(asked)
	b.live = func(ctx context.Context, s *schema.Step) (schema.Gap, string, schema.TrailEntry, error) {
		return quoteextract.Relevance(ctx, asked, s)
	}
	return b, nil
}

// llm opens the client that A, B and C share.
func (j *judges) llm() (llm.Setup, error) {
	if j.setup != nil {
		return *j.setup, nil
	}
	if j.cfg.Replay != "" {
		return j.replayed()
	}
	if j.cfg.LLMURL == "" || j.cfg.LLMModel == "" {
		return llm.Setup{}, errors.New("the llm judge needs llm_url and llm_model (--llm-url, --llm-model)")
	}
	key, err := llm.LoadSecret(KeyVariable, j.cfg.LLMKeyFile)
	if err != nil {
		return llm.Setup{}, err
	}
	c := llm.DefaultConfig()
	c.Model, c.Key = j.cfg.LLMModel, key
	c.BaseURL, c.MoreURLs = endpoints(j.cfg.LLMURL)
	c.Hedge, c.Breaker = j.cfg.LLMHedge, j.cfg.LLMBreaker
	c.Format = llm.Format(j.cfg.LLMFormat)
	c.TopLogProbs, c.ReasoningTokens = j.cfg.LLMLogProbs, j.cfg.LLMReasoning
	c.CallTimeout, c.MaxAttempts = j.cfg.LLMCallTimeout, j.cfg.LLMAttempts
	client, err := j.open(c)
	if err != nil {
		return llm.Setup{}, err
	}
	completer, err := j.remember.over(client)
	if err != nil {
		return llm.Setup{}, err
	}
	if err := j.checkPrompts(); err != nil {
		return llm.Setup{}, err
	}
	if j.cfg.Secret == "" {
		j.log.Info("no secret is set: data fences are derived from one made for this process, so prompts differ between processes (set STEPGAP_SECRET to share prompt caches)")
	}
	j.setup = &llm.Setup{Completer: completer, Fencer: llm.NewFencer(llm.NewSecret(j.cfg.Secret)), PromptDir: j.cfg.PromptDir}
	return *j.setup, nil
}

func (j *judges) checkPrompts() error {
	if j.cfg.PromptDir == "" {
		return nil
	}
	return llm.CheckDir(j.cfg.PromptDir, entitycheck.PromptSpec().Name, abstaincheck.PromptSpec().Name, quoteextract.PromptSpec().Name)
}

// fixed is a decider that asks nobody: the baselines flag-all and flag-none,
// and free, which passes every step on to next.
func fixed(id identity, next tree.Hop) tree.Decider {
	return tree.DeciderFunc(func(_ context.Context, item *tree.Item) (tree.Decision, error) {
		entry := schema.TrailEntry{Stage: id.Stage, Outcome: "fixed", Judge: string(id.Judge)}
		switch id.Judge {
		case judge.KindFlagAll:
			return tree.Verdict(item, schema.GapContradicted, "", "flag-all flags every step", entry), nil
		case judge.KindNone:
			return tree.Verdict(item, schema.GapNone, "", "flag-none flags no step", entry), nil
		}
		return tree.Forward(item, next, entry), nil
	})
}

func fixedLive(id identity) stage.LiveFunc {
	return func(context.Context, *schema.Step) (schema.Gap, string, schema.TrailEntry, error) {
		gap := schema.GapNone
		if id.Judge == judge.KindFlagAll {
			gap = schema.GapContradicted
		}
		return gap, "", schema.TrailEntry{Stage: id.Stage, Outcome: "fixed", Judge: string(id.Judge)}, nil
	}
}
