// Package systems lists what a study compares: a system is a change of
// settings, and so goes through the same pipeline as everything else.
package systems

import (
	"fmt"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/pkg/schema"
)

// System is one way to label steps.
type System struct {
	// Name is its key in reports and the name of its files.
	Name string
	// About says which judges it has.
	About string
	// Of and Without say which system it is without which stage; empty for one
	// of its own.
	Of      string
	Without schema.Stage
	Config  app.Config
}

// Names of systems.
const (
	Hybrid    = "hybrid"
	LLMOnly   = "llm-only"
	RulesOnly = "rules-only"
	SingleLLM = "single-llm"
	NLIOnly   = "nli-only"
	Student   = "student"
)

// Of is the system that cfg describes, under a name.
func Of(name string, cfg app.Config) System {
	return System{Name: name, About: about(cfg), Config: cfg}
}

// Matrix lists the systems of the study over cfg, whose judges of A to C are
// the hybrid's: the hybrid, the tree without an NLI model (by the language
// model if there is one, else by rules), one language model in place of the
// tree, the NLI model by itself, a student; and the first two without each
// stage. missing says what the settings do not suffice for.
func Matrix(cfg app.Config) (list []System, missing []string) {
	whole := func(name, tree string) System {
		c := cfg
		c.Judge = tree
		c.JudgeEntity, c.JudgeAbstain, c.JudgeQuote, c.JudgeNLI, c.JudgeLocal, c.JudgeCross = "", "", "", "", "", ""
		return Of(name, c)
	}
	asks := cfg.LLMURL != "" || cfg.Replay != ""
	hybrid := Of(Hybrid, cfg)
	second := whole(RulesOnly, RulesOnly)
	if asks {
		second = whole(LLMOnly, LLMOnly)
	} else {
		missing = append(missing, LLMOnly+" and "+SingleLLM+": no language model was given (--llm-url and --llm-model, or --replay); rules-only stands for llm-only")
	}
	list = append(list, hybrid, second)
	if asks {
		list = append(list, whole(SingleLLM, SingleLLM))
	}
	list = append(list, whole(NLIOnly, NLIOnly))
	if cfg.StudentModel != "" {
		list = append(list, whole(Student, Student))
	}
	for _, base := range []System{hybrid, second} {
		list = append(list, removals(base)...)
	}
	return list, missing
}

// removals are a system without each stage.
func removals(base System) []System {
	off := string(judge.KindOff)
	var list []System
	for _, r := range []struct {
		stage schema.Stage
		set   func(*app.Config)
	}{
		{schema.StageEntity, func(c *app.Config) { c.JudgeEntity = off }},
		{schema.StageAbstain, func(c *app.Config) { c.JudgeAbstain = off }},
		{schema.StageQuote, func(c *app.Config) { c.JudgeQuote = off }},
		{schema.StageLocal, func(c *app.Config) { c.JudgeLocal = off }},
		{schema.StageCross, func(c *app.Config) { c.JudgeCross = off }},
	} {
		c := base.Config
		r.set(&c)
		s := Of(base.Name+"-no-"+r.stage.Letter(), c)
		s.Of, s.Without = base.Name, r.stage
		list = append(list, s)
	}
	return list
}

// about names the judges of A to E, the last two with their model.
func about(cfg app.Config) string {
	k := app.KindsOf(cfg)
	s := fmt.Sprintf("A %s, B %s, C %s, D %s, E %s", k.Entity, k.Abstain, k.Quote, k.Local, k.Cross)
	if Asks(k) && cfg.LLMModel != "" {
		s += "; model " + cfg.LLMModel
	}
	return s
}

// Asks reports whether some stage asks a language model.
func Asks(k app.Kinds) bool { return some(k, judge.Kind.Asks) }

func some(k app.Kinds, is func(judge.Kind) bool) bool {
	return is(k.Entity) || is(k.Abstain) || is(k.Quote) || is(k.Local) || is(k.Cross)
}
