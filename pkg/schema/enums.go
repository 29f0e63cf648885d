package schema

// Gap is a step's typed label.
type Gap string

// The labels of the paper (arXiv 2605.24733), and Ungraded, which is no label
// but the statement that none could be given.
const (
	// GapNone: the evidence entails the claim.
	GapNone Gap = "none"
	// GapContradicted: the claim conflicts with the evidence, or the step aims
	// at the wrong thing.
	GapContradicted Gap = "contradicted_claim"
	// GapIrrelevant: the evidence is not about the entity or relation needed.
	GapIrrelevant Gap = "irrelevant_evidence"
	// GapMissingBridge: relevant evidence that does not yet entail the claim.
	GapMissingBridge Gap = "missing_bridge"
	// GapUngraded: could not be judged; Label.Reason says why. Never a number.
	GapUngraded Gap = "ungraded"
)

// Gaps lists every wire value of a label, in the order used for tables.
func Gaps() []Gap {
	return []Gap{GapNone, GapContradicted, GapIrrelevant, GapMissingBridge, GapUngraded}
}

// Valid reports whether g is a wire value.
func (g Gap) Valid() bool {
	switch g {
	case GapNone, GapContradicted, GapIrrelevant, GapMissingBridge, GapUngraded:
		return true
	}
	return false
}

// Graded reports whether g is a verdict, as opposed to Ungraded.
func (g Gap) Graded() bool { return g.Valid() && g != GapUngraded }

// Short is the two-letter name used in tables.
func (g Gap) Short() string {
	switch g {
	case GapNone:
		return "OK"
	case GapContradicted:
		return "CC"
	case GapIrrelevant:
		return "IE"
	case GapMissingBridge:
		return "MB"
	default:
		return "--"
	}
}

// Repair is the action that mends a gap.
type Repair string

// The repairs, one a gap.
const (
	RepairNone         Repair = "none"
	RepairRetract      Repair = "retract"
	RepairReSearch     Repair = "re_search"
	RepairBridgeSearch Repair = "bridge_search"
)

// Repair returns the action that mends g.
func (g Gap) Repair() Repair {
	switch g {
	case GapContradicted:
		return RepairRetract
	case GapIrrelevant:
		return RepairReSearch
	case GapMissingBridge:
		return RepairBridgeSearch
	default:
		return RepairNone
	}
}

// Stage names a consumer of the pipeline.
type Stage string

// The stages of the tree, in the order of the data's way, and the aggregator.
const (
	StageEntity   Stage = "entity-check"  // A
	StageAbstain  Stage = "abstain-check" // B
	StageQuote    Stage = "quote-extract" // C
	StageLocal    Stage = "nli-local"     // D
	StageCross    Stage = "nli-cross"     // E
	StageReward   Stage = "reward-agg"
	StageSplit    Stage = "transcript-split" // before A: whole rollouts into steps
	StagePublish  Stage = "publish"          // a publisher's own check, before the wire
	StageLiveAim  Stage = "live-aim"
	StageLiveText Stage = "live-relevance"
)

// Letter is the stage's letter in the paper's tree, or "-".
func (s Stage) Letter() string {
	switch s {
	case StageEntity, StageLiveAim:
		return "A"
	case StageAbstain:
		return "B"
	case StageQuote, StageLiveText:
		return "C"
	case StageLocal:
		return "D"
	case StageCross:
		return "E"
	default:
		return "-"
	}
}

// Reason is a typed code: why a step is ungraded, a reward is null, or a
// message is dead.
type Reason string

// Reasons for Ungraded labels, null rewards and dead letters.
const (
	ReasonMissing         Reason = "missing"           // the step's label was absent when its rollout was sealed
	ReasonDeadline        Reason = "deadline"          // the step's deadline passed before a verdict
	ReasonJudgeTimeout    Reason = "judge_timeout"     // the judge budget of a stage ran out
	ReasonJudgeError      Reason = "judge_error"       // the judge failed for good (4xx, refused, unreachable)
	ReasonJudgeMalformed  Reason = "judge_malformed"   // the judge's answer could not be read
	ReasonModelError      Reason = "model_error"       // the NLI model failed on this input
	ReasonUpstream        Reason = "upstream"          // an earlier step is ungraded or late, so E cannot say
	ReasonConfigMismatch  Reason = "config_mismatch"   // no stage with the run's pinned configuration took it
	ReasonIDReused        Reason = "id_reused"         // same run, rollout and index, other content
	ReasonMalformed       Reason = "malformed"         // the body is not a valid message
	ReasonTooLarge        Reason = "too_large"         // a field or the message is over its limit
	ReasonCrash           Reason = "crash"             // handling it ended the worker again and again
	ReasonLabelsExpired   Reason = "labels_expired"    // the rollout's end is older than the labels' age
	ReasonTooFewGraded    Reason = "too_few_graded"    // fewer graded steps than the profile asks for
	ReasonNoSteps         Reason = "no_steps"          // the rollout ended without a step
	ReasonAborted         Reason = "aborted"           // the rollout worker reported that it gave up
	ReasonPassageMissing  Reason = "passage_missing"   // a referenced passage's text was not found
	ReasonNotInTrail      Reason = "not_in_trail"      // rescored: other thresholds would ask what the trail doesn't hold
	ReasonInternal        Reason = "internal"          // a fault of StepGap's own; the detail says which
	ReasonNotLive         Reason = "not_live"          // a live check whose asker stopped waiting
	ReasonUnsupportedWire Reason = "unsupported_wire"  // another schema version
	ReasonNoClaim         Reason = "no_claim"          // graded none: the step claims nothing
	ReasonAbstainOK       Reason = "justified_abstain" // graded none: a justified abstention
)

// Kind tells what a step is.
type Kind string

// Kinds of steps.
const (
	// KindSearch is a sub-goal: a query, its passages, what was then claimed.
	// A step of facts claimed before the first search is a KindSearch without
	// query and passages.
	KindSearch Kind = "search"
	// KindConclusion draws the answer from earlier steps; it has no passages
	// of its own.
	KindConclusion Kind = "conclusion"
)

// LiveKind is the kind of a live check.
type LiveKind string

// Live checks: asked while a policy generates, never rewarded.
const (
	// LivePlan: a query is planned, nothing is retrieved yet. Judged by A.
	LivePlan LiveKind = "plan"
	// LiveProbe: passages are in, nothing is claimed yet. Judged by A, then C.
	LiveProbe LiveKind = "probe"
	// LiveRelevance is the second leg of a probe, from A to C.
	LiveRelevance LiveKind = "relevance"
)
