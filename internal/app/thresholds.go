package app

import (
	"github.com/stepgap/stepgap/internal/nli"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
)

// nliOptions are the options of D and E as a run is held to them: where each
// threshold comes from counts too.
type nliOptions struct {
	nliworker.Options
	ContradictionFrom string `json:"contradiction_from"`
	EntailmentFrom    string `json:"entailment_from"`
}

// Where a threshold may come from, the last going before the others.
const (
	fromDefault = "default"
	fromModel   = nli.ThresholdsFile
	fromSetting = "setting"
)

// thresholds is decideNLI over the folder of the settings' model.
func thresholds(cfg Config, hash string) (nliOptions, error) {
	dir, _, err := ModelFolder(cfg)
	if err != nil {
		return nliOptions{}, err
	}
	return decideNLI(cfg, dir, hash)
}

// decideNLI returns the options of D and E for the model with this hash. A
// threshold is the setting's if there is one, else that of thresholds.json in
// dir, the model's folder, else the default. The file is not read if both are set.
func decideNLI(cfg Config, dir, hash string) (nliOptions, error) {
	o := nliOptions{Options: nliworker.Defaults(), ContradictionFrom: fromDefault, EntailmentFrom: fromDefault}
	if cfg.NLIContradiction == 0 || cfg.NLIEntailment == 0 {
		t, found, err := nli.ReadThresholds(dir, hash)
		if err != nil {
			return o, err
		}
		if found {
			o.Contradiction, o.ContradictionFrom = t.Contradiction, fromModel
			o.Entailment, o.EntailmentFrom = t.Entailment, fromModel
		}
	}
	if cfg.NLIContradiction != 0 {
		o.Contradiction, o.ContradictionFrom = cfg.NLIContradiction, fromSetting
	}
	if cfg.NLIEntailment != 0 {
		o.Entailment, o.EntailmentFrom = cfg.NLIEntailment, fromSetting
	}
	return o, nil
}
