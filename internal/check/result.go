package check

import (
	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Result is what the pipeline made of one rollout. Numbers are null where there
// is none.
type Result struct {
	Run      string       `json:"run"`
	Rollout  string       `json:"rollout"`
	Source   string       `json:"source,omitempty"` // the rollout's id in its file
	Group    string       `json:"group,omitempty"`
	Question string       `json:"question"`
	Steps    []StepResult `json:"steps"`
	// Total is the sum of the steps' rewards; null if the reward is, and then
	// Reason says why.
	Total    *float64       `json:"total"`
	Complete bool           `json:"complete"`
	Reason   schema.Reason  `json:"reason,omitempty"`
	Detail   string         `json:"detail,omitempty"`
	Answer   string         `json:"answer,omitempty"`
	Gold     []string       `json:"gold,omitempty"`
	Correct  *bool          `json:"correct,omitempty"` // as the log said
	Outcome  schema.Outcome `json:"outcome"`
	Profile  string         `json:"profile"`
	Warnings []string       `json:"warnings,omitempty"`
}

// StepResult is one step's label and reward.
type StepResult struct {
	Index  int           `json:"index"`
	Kind   schema.Kind   `json:"kind"`
	Label  schema.Gap    `json:"label"`
	Repair schema.Repair `json:"repair"`
	Stage  schema.Stage  `json:"stage"`
	// Judge and Model are those of the deciding stage.
	Judge string `json:"judge"`
	Model string `json:"model,omitempty"`
	Query string `json:"query,omitempty"`
	Claim string `json:"claim"`
	Quote string `json:"quote"`
	// QuoteFrom is the title of the passage that the quote stands in.
	QuoteFrom string `json:"quote_from,omitempty"`
	// Reason is one sentence for people; Code the typed reason, if there is one.
	Reason      string             `json:"reason"`
	Code        schema.Reason      `json:"code,omitempty"`
	Abstains    bool               `json:"abstains,omitempty"`
	Base        *float64           `json:"base"`
	Shape       *float64           `json:"shape"`
	ShapeReason schema.ShapeReason `json:"shape_reason,omitempty"`
	Reward      *float64           `json:"reward"`
	Scores      *schema.Scores     `json:"scores,omitempty"`
	// Windows are the stretches of passages that decided at D or E, and Flags
	// what else is to be known of the decision.
	Windows []schema.Window     `json:"windows,omitempty"`
	Flags   []string            `json:"flags,omitempty"`
	Trail   []schema.TrailEntry `json:"trail,omitempty"`
}

// assemble joins a rollout, its labels and its reward.
func assemble(source *transcript.Rollout, id schema.RolloutID, labels map[int]*schema.Label, reward *schema.Reward, trail bool) *Result {
	r := &Result{
		Run: id.Run, Rollout: id.Rollout, Source: source.ID, Group: source.Group, Question: source.Question,
		Steps: []StepResult{}, Total: reward.Process, Complete: reward.Complete,
		Reason: reward.Reason, Detail: reward.Detail, Answer: source.Answer, Gold: source.Gold,
		Correct: source.Correct, Outcome: reward.Outcome, Profile: reward.Profile,
	}
	for _, w := range source.Warnings {
		r.Warnings = append(r.Warnings, w.String())
	}
	rewards := map[int]schema.StepReward{}
	for _, s := range reward.Steps {
		rewards[s.Index] = s
	}
	for i := range source.Steps {
		s := &source.Steps[i]
		r.Steps = append(r.Steps, stepResult(s, labels[s.Index], rewards[s.Index], trail))
	}
	return r
}

func stepResult(s *schema.Step, label *schema.Label, reward schema.StepReward, trail bool) StepResult {
	out := StepResult{
		Index: s.Index, Kind: s.Kind, Query: s.Query, Claim: s.Claim,
		Base: reward.Base, Shape: reward.Shape, ShapeReason: reward.ShapeReason, Reward: reward.Reward,
	}
	if label == nil { // the reward said so already
		out.Label, out.Repair, out.Stage = schema.GapUngraded, schema.RepairNone, schema.StageReward
		out.Code, out.Reason = schema.ReasonMissing, "no label stands for this step"
		return out
	}
	out.Label, out.Repair, out.Stage = label.Label, label.Repair, label.Stage
	out.Code, out.Reason = label.Reason, label.Detail
	if label.Facts != nil {
		out.Abstains = label.Facts.Abstains
	}
	if len(label.Quotes) > 0 {
		out.Quote, out.QuoteFrom = label.Quotes[0].Text, label.Quotes[0].Title
	}
	if n := len(label.Trail); n > 0 {
		last := label.Trail[n-1]
		out.Judge, out.Model, out.Scores = last.Judge, last.Model, last.Scores
		out.Windows, out.Flags = last.Windows, last.Flags
	}
	if trail {
		out.Trail = label.Trail
	}
	return out
}
