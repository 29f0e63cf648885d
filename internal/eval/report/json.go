package report

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/stepgap/stepgap/internal/eval/interval"
	"github.com/stepgap/stepgap/internal/eval/metrics"
	"github.com/stepgap/stepgap/pkg/schema"
)

// wireSystem is sets.<name>.<system>: a key for each metric, then the rest.
type wireSystem struct {
	SF1             interval.Estimate `json:"sf1"`
	QF1             interval.Estimate `json:"qf1"`
	BA              interval.Estimate `json:"ba"`
	Kappa           interval.Estimate `json:"kappa"`
	MacroF1         interval.Estimate `json:"macro_f1"`
	Precision       interval.Estimate `json:"precision"`
	Recall          interval.Estimate `json:"recall"`
	Accuracy        interval.Estimate `json:"accuracy"`
	Coverage        interval.Estimate `json:"coverage"`
	F1None          interval.Estimate `json:"f1_none"`
	F1Contradicted  interval.Estimate `json:"f1_contradicted_claim"`
	F1Irrelevant    interval.Estimate `json:"f1_irrelevant_evidence"`
	F1MissingBridge interval.Estimate `json:"f1_missing_bridge"`

	Trap     bool                                    `json:"qf1_is_trap"`
	Judges   string                                  `json:"judges,omitempty"`
	Baseline bool                                    `json:"baseline,omitempty"`
	Of       string                                  `json:"of,omitempty"`
	Without  schema.Stage                            `json:"without,omitempty"`
	Lead     Estimates                               `json:"lead_of_first,omitempty"`
	Ungraded int                                     `json:"ungraded"`
	Labels   map[schema.Gap]metrics.Scores           `json:"labels"`
	Matrix   [metrics.Labels][metrics.Labels + 1]int `json:"confusion"`
	Shares   map[schema.Gap]metrics.Part             `json:"predicted"`
}

type wireSet struct {
	About     string                      `json:"about,omitempty"`
	Hash      string                      `json:"hash,omitempty"`
	Steps     int                         `json:"steps"`
	Questions int                         `json:"questions"`
	Gold      map[schema.Gap]metrics.Part `json:"gold"`
	Systems   []string                    `json:"systems"`
	Groups    []wireGroup                 `json:"groups,omitempty"`
}

type wireGroup struct {
	Name   string         `json:"name"`
	Gold   schema.Gap     `json:"gold"`
	N      int            `json:"n"`
	Caught map[string]int `json:"class_right"`
	Right  map[string]int `json:"label_right"`
}

type wireAblation struct {
	Set     string                     `json:"set"`
	Of      string                     `json:"of"`
	Without schema.Stage               `json:"without"`
	Letter  string                     `json:"letter"`
	System  string                     `json:"system"`
	Delta   Estimates                  `json:"delta"`
	Verdict map[metrics.Metric]Verdict `json:"verdict"`
}

type wireCancellation struct {
	Set      string         `json:"set"`
	Of       string         `json:"of"`
	Metric   metrics.Metric `json:"metric"`
	Removals int            `json:"removals"`
	Raised   int            `json:"raised"`
	Sure     int            `json:"raised_beyond_interval"`
	Text     string         `json:"text"`
}

type wireReport struct {
	Bootstrap struct {
		Draws int     `json:"draws"`
		Seed  uint64  `json:"seed"`
		Level float64 `json:"level"`
		Over  string  `json:"over"`
	} `json:"bootstrap"`
	Sets          map[string]map[string]wireSystem `json:"sets"`
	About         map[string]wireSet               `json:"about"`
	Ablations     []wireAblation                   `json:"ablations"`
	Cancellations []wireCancellation               `json:"cancellations"`
	Missing       []string                         `json:"missing,omitempty"`
}

// WriteJSON writes the report as one JSON object: sets.<name>.<system> has sf1,
// qf1, ba, kappa and macro_f1, each with value, low, high and method; ablations
// is a list. What there is no number for is null, with a reason.
func (r *Report) WriteJSON(w io.Writer) error {
	out := wireReport{Sets: map[string]map[string]wireSystem{}, About: map[string]wireSet{}, Ablations: []wireAblation{}, Cancellations: []wireCancellation{}, Missing: r.Missing}
	out.Bootstrap.Draws, out.Bootstrap.Seed, out.Bootstrap.Level, out.Bootstrap.Over = r.Draws, r.Seed, r.Level, "questions"
	for i := range r.Sets {
		s := &r.Sets[i]
		about := wireSet{About: s.About, Hash: s.Hash, Steps: s.Steps, Questions: s.Questions, Gold: s.Gold}
		systems := map[string]wireSystem{}
		for _, y := range s.Systems {
			systems[y.Name] = y.wire()
			about.Systems = append(about.Systems, y.Name)
		}
		for _, g := range s.Groups {
			about.Groups = append(about.Groups, wireGroup(g))
		}
		out.Sets[s.Name], out.About[s.Name] = systems, about
		for _, a := range s.Ablations {
			verdicts := map[metrics.Metric]Verdict{}
			for m := range a.Delta {
				verdicts[m] = a.Verdict(m)
			}
			out.Ablations = append(out.Ablations, wireAblation{s.Name, a.Of, a.Without, a.Without.Letter(), a.System, a.Delta, verdicts})
		}
		for _, c := range s.Cancellations() {
			out.Cancellations = append(out.Cancellations, wireCancellation{s.Name, c.Of, c.Metric, c.Removals, c.Raised, c.Sure, c.String()})
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(out); err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

func (y *SystemReport) wire() wireSystem {
	e := y.Estimates
	return wireSystem{
		SF1: e[metrics.SF1], QF1: e[metrics.QF1], BA: e[metrics.BalancedAccuracy], Kappa: e[metrics.Kappa], MacroF1: e[metrics.MacroF1],
		Precision: e[metrics.Precision], Recall: e[metrics.Recall], Accuracy: e[metrics.Accuracy], Coverage: e[metrics.Coverage],
		F1None: e[metrics.F1None], F1Contradicted: e[metrics.F1Contradicted], F1Irrelevant: e[metrics.F1Irrelevant], F1MissingBridge: e[metrics.F1MissingBridge],
		Trap: y.Trap, Judges: y.About, Baseline: y.Baseline, Of: y.Of, Without: y.Without, Lead: y.Lead,
		Ungraded: y.Ungraded, Labels: y.Labels, Matrix: y.Confusion, Shares: y.Predicted,
	}
}
