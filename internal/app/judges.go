package app

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/judge/llm"
	"github.com/stepgap/stepgap/internal/judge/local"
	"github.com/stepgap/stepgap/internal/judge/off"
	"github.com/stepgap/stepgap/internal/judge/single"
	"github.com/stepgap/stepgap/internal/nli/onnx"
	"github.com/stepgap/stepgap/internal/stage"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
	abstaincheck "github.com/stepgap/stepgap/services/abstain-check"
	entitycheck "github.com/stepgap/stepgap/services/entity-check"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
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
	// Call is what of a language model's calls can change its answer, where it
	// is not the usual.
	Call *llmOptions `json:"call,omitempty"`
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
	// model gives the process's NLI model.
	model func() (*onnx.Scorer, error)
	// student gives the model of the judge student.
	student func() (nliworker.Classifier, error)
}

func (j *judges) entity() (built, error) {
	b := built{identity: identity{Stage: schema.StageEntity, Judge: KindsOf(j.cfg).Entity}}
	var asked entitycheck.Judge
	switch b.Judge {
	case judge.KindLocal:
		asked, b.Model = local.New(), local.Model
	case judge.KindOff:
		asked = off.New()
	case judge.KindLLM:
		setup, err := j.llm(&b.identity)
		if err != nil {
			return b, err
		}
		own, err := entitycheck.NewLLM(setup)
		if err != nil {
			return b, err
		}
		asked, b.Prompt = own, own.PromptVersion()
	case judge.KindSingle:
		setup, err := j.llm(&b.identity)
		if err != nil {
			return b, err
		}
		own, err := single.New(setup)
		if err != nil {
			return b, err
		}
		b.decider, b.Prompt, b.live = own, own.PromptVersion(), unchecked(b.identity)
		return b, nil
	case judge.KindStudent:
		b.decider, b.live = nliworker.BeforeStudent(), unchecked(b.identity)
		return b, nil
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
	b := built{identity: identity{Stage: schema.StageAbstain, Judge: KindsOf(j.cfg).Abstain}}
	switch b.Judge {
	case judge.KindLocal:
		b.decider, b.Model = abstaincheck.New(local.New()), local.Model
	case judge.KindOff:
		b.decider = abstaincheck.New(off.New())
	case judge.KindLLM:
		setup, err := j.llm(&b.identity)
		if err != nil {
			return b, err
		}
		own, err := abstaincheck.NewLLM(setup)
		if err != nil {
			return b, err
		}
		b.decider, b.Prompt = abstaincheck.New(own), own.PromptVersion()
	default:
		b.decider = fixed(b.identity, tree.HopQuote)
	}
	return b, nil
}

func (j *judges) quote() (built, error) {
	b := built{identity: identity{Stage: schema.StageQuote, Judge: KindsOf(j.cfg).Quote}}
	var asked quoteextract.Judge
	switch b.Judge {
	case judge.KindLocal:
		asked, b.Model = local.New(), local.Model
	case judge.KindOff:
		asked = off.New()
	case judge.KindLLM:
		setup, err := j.llm(&b.identity)
		if err != nil {
			return b, err
		}
		own, err := quoteextract.NewLLM(setup)
		if err != nil {
			return b, err
		}
		asked, b.Prompt = own, own.PromptVersion()
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

// llm gives what a judge that asks a language model is built from, and says in
// id what of it a run is held to.
func (j *judges) llm(id *identity) (llm.Setup, error) {
	setup, err := j.openLLM(id.Judge)
	if err != nil {
		return setup, err
	}
	id.Model = j.cfg.LLMModel
	if o := (llmOptions{j.cfg.LLMFormat, j.cfg.LLMReasoning}); o != (llmOptions{string(llm.FormatSchema), 0}) {
		id.Call = &o
	}
	return setup, nil
}

// llmOptions are those settings of a call that can change its answer.
type llmOptions struct {
	Format    string `json:"format"`
	Reasoning int    `json:"reasoning_tokens"`
}

// openLLM opens the client that all stages share; the judge of the first one
// that asks is named where that can't be done.
func (j *judges) openLLM(kind judge.Kind) (llm.Setup, error) {
	if j.setup != nil {
		return *j.setup, nil
	}
	if j.cfg.Replay != "" {
		return j.replayed()
	}
	if j.cfg.LLMURL == "" || j.cfg.LLMModel == "" {
		return llm.Setup{}, fmt.Errorf("the judge %s needs llm_url and llm_model (--llm-url, --llm-model), or replay", kind)
	}
	if j.open == nil {
		return llm.Setup{}, fmt.Errorf("the judge %s asks a language model, which takes a process", kind)
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
	return llm.CheckDir(j.cfg.PromptDir, entitycheck.PromptSpec().Name, abstaincheck.PromptSpec().Name, quoteextract.PromptSpec().Name, nliworker.PromptSpec().Name, single.PromptSpec().Name)
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

// unchecked refuses live checks under a judge that judges whole steps only.
func unchecked(id identity) stage.LiveFunc {
	return func(context.Context, *schema.Step) (schema.Gap, string, schema.TrailEntry, error) {
		return "", "", schema.TrailEntry{}, &judge.Error{
			Reason: schema.ReasonJudgeError, Meta: judge.Meta{Judge: id.Judge},
			Err: fmt.Errorf("the judge %s judges whole steps; it can't check a plan or passages by themselves", id.Judge),
		}
	}
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
