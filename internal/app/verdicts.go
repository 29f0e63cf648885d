package app

import (
	"context"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/stepgap/stepgap/internal/bus"
	"github.com/stepgap/stepgap/internal/cost"
	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/judge/cache"
	"github.com/stepgap/stepgap/internal/judge/cache/shared"
	"github.com/stepgap/stepgap/internal/judge/llm"
	"github.com/stepgap/stepgap/internal/spend"
	"github.com/stepgap/stepgap/internal/stage"
)

// verdicts is what a process remembers of its language model's verdicts, and
// what it spends on them.
type verdicts struct {
	process *Process
	account *spend.Account // nil without prices
}

// bucketTimeout bounds the opening of a bucket.
const bucketTimeout = 10 * time.Second

// PricesOf is the price table that cfg describes.
func PricesOf(cfg Config) (cost.Prices, error) {
	var p cost.Prices
	if cfg.Prices != "" {
		models, err := cost.LoadPrices(cfg.Prices)
		if err != nil {
			return p, err
		}
		p.Models = models
	}
	if cfg.PriceIn > 0 || cfg.PriceOut > 0 {
		p.Other = &cost.Price{In: cfg.PriceIn, Out: cfg.PriceOut}
		if cfg.PriceCached >= 0 {
			p.Other.Cached = &cfg.PriceCached
		}
	}
	return p, p.Validate()
}

// over puts around client, from the inside out: the meter, which sees every
// call that is really made; the cache; the recording, which also gets what the
// cache knew.
func (v *verdicts) over(client llm.Completer) (llm.Completer, error) {
	p := v.process
	ctx, cancel := context.WithTimeout(context.Background(), bucketTimeout)
	defer cancel()
	completer, err := v.metered(ctx, client)
	if err != nil {
		return nil, err
	}
	scope := cache.Scope{
		Judge: judge.KindLLM, Model: p.cfg.LLMModel,
		Options: fmt.Sprintf("format=%s logprobs=%d reasoning=%d", p.cfg.LLMFormat, p.cfg.LLMLogProbs, p.cfg.LLMReasoning),
	}
	var memory llm.Memory
	if p.cfg.CacheTTL > 0 {
		bucket, err := p.conn.JS.KeyValue(ctx, bus.BucketVerdicts)
		if err != nil {
			return nil, fmt.Errorf("opening bucket %s: %w", bus.BucketVerdicts, err)
		}
		c := cache.New(cache.Options{Scope: scope, Entries: p.cfg.CacheEntries, Store: shared.New(bucket), Log: p.log})
		if err := p.countVerdicts(c); err != nil {
			return nil, err
		}
		memory = c
	}
	if p.cfg.Record != "" {
		r, err := cache.Record(p.cfg.Record, scope, memory, p.log)
		if err != nil {
			return nil, err
		}
		p.closers = append(p.closers, func() {
			if err := r.Close(); err != nil {
				p.log.Error("closing the recording", "error", err)
			}
		})
		memory = r
	}
	if memory == nil {
		return completer, nil
	}
	return llm.WithMemory(completer, memory), nil
}

// replayed is the setup of a process that judges by a recording.
func (j *judges) replayed() (llm.Setup, error) {
	r, err := cache.Replay(j.cfg.Replay)
	if err != nil {
		return llm.Setup{}, err
	}
	if model := r.Scope().Model; j.cfg.LLMModel == "" {
		j.cfg.LLMModel = model
	} else if j.cfg.LLMModel != model {
		return llm.Setup{}, fmt.Errorf("the recording %s is of model %q, and llm_model is %q", j.cfg.Replay, model, j.cfg.LLMModel)
	}
	if err := j.checkPrompts(); err != nil {
		return llm.Setup{}, err
	}
	j.log.Info("judging by a recording; nothing is asked", "file", j.cfg.Replay, "verdicts", r.Len(), "model", r.Scope().Model)
	j.setup = &llm.Setup{Completer: llm.WithMemory(r, r), Fencer: llm.NewFencer(llm.NewSecret(j.cfg.Secret)), PromptDir: j.cfg.PromptDir}
	return *j.setup, nil
}

// metered counts what client spends, where it has a price.
func (v *verdicts) metered(ctx context.Context, client llm.Completer) (llm.Completer, error) {
	p := v.process
	prices, err := PricesOf(p.cfg)
	if err != nil {
		return nil, err
	}
	price, ok := prices.Of(p.cfg.LLMModel)
	if !ok {
		if p.cfg.SpendCap > 0 {
			return nil, fmt.Errorf("setting spend_cap is %v, but the price of model %q is unknown; give price_in and price_out, or a table in prices", p.cfg.SpendCap, p.cfg.LLMModel)
		}
		return client, nil
	}
	bucket, err := p.conn.JS.KeyValue(ctx, bus.BucketSpend)
	if err != nil {
		return nil, fmt.Errorf("opening bucket %s: %w", bus.BucketSpend, err)
	}
	if v.account, err = spend.Open(ctx, bucket, p.cfg.SpendAccount, p.cfg.SpendCap, p.log); err != nil {
		return nil, err
	}
	p.closers = append(p.closers, v.account.Close)
	if err := p.showSpending(v.account); err != nil {
		return nil, err
	}
	return spend.Meter(client, price, v.account), nil
}

// gate holds stages back while the spend cap is reached; nil without prices.
func (v *verdicts) gate() stage.Gate {
	if v.account == nil {
		return nil
	}
	return v.account
}

// gate is that of a stage that asks an LLM about steps.
func (p *Process) gate() stage.Gate {
	var all stage.Gates
	if p.calls != nil {
		all = append(all, p.calls.gate(p.cfg))
	}
	if g := p.verdicts.gate(); g != nil {
		all = append(all, g)
	}
	return all
}

func (p *Process) countVerdicts(c *cache.Cache) error {
	for _, tier := range cache.Tiers() {
		err := p.registry.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "stepgap_judge_verdicts_total", ConstLabels: prometheus.Labels{"from": tier.String()},
			Help: "Verdicts of an LLM by where they came from: memory, flight, shared, waited cost nothing; asked, overdue were calls.",
		}, func() float64 { return float64(c.Count(tier)) }))
		if err != nil {
			return fmt.Errorf("registering metrics: %w", err)
		}
	}
	return nil
}

func (p *Process) showSpending(a *spend.Account) error {
	gauge := func(name, help string, value func(spend.State) float64) error {
		return p.registry.Register(prometheus.NewGaugeFunc(
			prometheus.GaugeOpts{Name: "stepgap_spend_" + name, Help: help}, func() float64 { return value(a.State()) }))
	}
	for _, err := range []error{
		gauge("spent", "What the account's processes spent on LLMs, in the currency of the prices.", func(s spend.State) float64 { return s.Spent }),
		gauge("cap", "The account's cap; 0 for none.", func(s spend.State) float64 {
			if s.Cap == nil {
				return 0
			}
			return *s.Cap
		}),
		gauge("stopped", "1 while the cap is reached and stages that ask an LLM don't pull.", func(s spend.State) float64 {
			if s.Stopped {
				return 1
			}
			return 0
		}),
	} {
		if err != nil {
			return fmt.Errorf("registering metrics: %w", err)
		}
	}
	return nil
}
