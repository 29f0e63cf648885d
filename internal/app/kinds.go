package app

import "github.com/stepgap/stepgap/internal/judge"

// Kinds are the judges of the stages A to E.
type Kinds struct {
	Entity, Abstain, Quote, Local, Cross judge.Kind
}

// Values of the setting judge that name the judges of all stages; the others
// name those of A, B and C.
const (
	treeNLIOnly = "nli-only"
	treeLLMOnly = "llm-only"
	treeRules   = "rules-only"
)

// wholeTree is the judges that a value of the setting judge stands for, if it
// names those of all stages.
func wholeTree(name string) (Kinds, bool) {
	const off, nli, llm, local, student = judge.KindOff, judge.KindNLI, judge.KindLLM, judge.KindLocal, judge.KindStudent
	switch name {
	case treeNLIOnly:
		return Kinds{off, off, off, nli, nli}, true
	case treeLLMOnly:
		return Kinds{llm, llm, llm, llm, llm}, true
	case treeRules:
		return Kinds{local, local, local, local, local}, true
	case string(judge.KindSingle), string(judge.KindFlagAll), string(judge.KindNone):
		k := judge.Kind(name)
		return Kinds{k, k, k, off, off}, true // A ends every step
	case string(judge.KindStudent):
		return Kinds{student, off, off, student, student}, true
	}
	return Kinds{}, false
}

// KindsOf resolves which judge each stage has under cfg. A stage's own setting
// goes before judge_nli, and that before judge.
func KindsOf(cfg Config) Kinds {
	k, whole := wholeTree(cfg.Judge)
	if !whole {
		abc := judge.Kind(cfg.Judge)
		if abc == "auto" || abc == "" {
			abc = auto(cfg)
		}
		k = Kinds{abc, abc, abc, judge.KindNLI, judge.KindNLI}
	}
	own := func(kind *judge.Kind, settings ...string) {
		for _, s := range settings {
			switch s {
			case "":
				continue
			case "auto":
				*kind = auto(cfg)
			default:
				*kind = judge.Kind(s)
			}
			return
		}
	}
	ends := k.Entity == judge.KindFlagAll || k.Entity == judge.KindNone || k.Entity == judge.KindSingle
	own(&k.Entity, cfg.JudgeEntity)
	own(&k.Abstain, cfg.JudgeAbstain)
	own(&k.Quote, cfg.JudgeQuote)
	if ends && cfg.JudgeEntity != "" {
		// Another A passes steps on, and then D and E are asked after all.
		k.Local, k.Cross = judge.KindNLI, judge.KindNLI
	}
	own(&k.Local, cfg.JudgeLocal, cfg.JudgeNLI)
	own(&k.Cross, cfg.JudgeCross, cfg.JudgeNLI)
	return k
}

// auto is the judge of A, B and C where none is named.
func auto(cfg Config) judge.Kind {
	if cfg.LLMURL != "" || cfg.Replay != "" {
		return judge.KindLLM
	}
	return judge.KindLocal
}
