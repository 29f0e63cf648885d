package schema

import "strings"

// goldenCase is one message of the golden vectors: value is a pointer to it.
type goldenCase struct {
	name  string
	value any
}

func some(v float64) *float64 { return &v }

// goldenCases holds, for every type of message, one with every field set, one
// with no more than it must have, and the odd ones that two implementations
// are likely to disagree on.
func goldenCases() []goldenCase {
	var cases []goldenCase
	for _, group := range [][]goldenCase{stepCases(), endCases(), labelCases(), rewardCases(), otherCases(), transcriptCases()} {
		cases = append(cases, group...)
	}
	return cases
}

const (
	quillText  = "Mara Quill (1921\u20131994) was a novelist, born in Harrowdale. \"The Glass Orchard\" is her first book."
	quillTitle = "Mara Quill"
	oddText    = "\u2068Zo\u00eb\u2069 said:\u00a0\u201cna\u00efve\u201d\t\u5317\u4eac \U0001F9EA\n\u05e9\u05dc\u05d5\u05dd"
)

func spanCases() []Span {
	return []Span{
		{Kind: SpanPlan, Start: 0, End: 31},
		{Kind: SpanAction, Start: 31, End: 64},
		{Kind: SpanClaim, Start: 127, End: 128},
		{Kind: SpanAnswer, Start: 255, End: 70000},
	}
}

func stepCases() []goldenCase {
	digest := PassageDigest(quillTitle, quillText)
	ref := PassageDigest("Harrowdale", "A valley town.")
	return []goldenCase{
		{"step_full", &Step{
			Run: "run-7f3a", Rollout: "q12_r3", Index: 2, Kind: KindSearch,
			Question: "Where was the author of The Glass Orchard born?",
			Plan:     "Now I need the author's birthplace.", Query: "Mara Quill birthplace",
			Text:  "From the results, I can see that she was born in Harrowdale.",
			Claim: "She was born in Harrowdale.", Answer: "Harrowdale",
			Passages: []Passage{
				{Digest: digest, Title: quillTitle, ByStep: 2, Text: quillText},
				{Digest: ref, Title: "Harrowdale", ByStep: 1, Ref: ref},
			},
			History: []Prior{{Index: 1, Query: "author of The Glass Orchard", Claim: "Mara Quill wrote it."}},
			Spans:   spanCases(), Saw: 1,
		}},
		{"step_minimal", &Step{Kind: KindConclusion, Question: "?"}},
		{"step_unicode", &Step{
			Run: "r", Rollout: "o", Index: 1, Kind: KindSearch, Question: oddText, Query: oddText, Text: oddText,
			Passages: []Passage{{Digest: PassageDigest("", oddText), ByStep: 1, Text: oddText}},
			Spans:    []Span{{Kind: SpanAction, Start: 0, End: 30}},
		}},
		{"step_long_strings", &Step{
			Run: strings.Repeat("r", 31), Rollout: strings.Repeat("o", 32), Index: 128, Kind: KindSearch,
			Question: strings.Repeat("q", 255), Query: strings.Repeat("y", 256), Text: strings.Repeat("t", 65536),
			Saw: 127,
		}},
		{"step_sixteen_spans", &Step{
			Run: "r", Rollout: "o", Index: 1000, Kind: KindSearch, Question: "?",
			Spans: make16(Span{Kind: SpanClaim, Start: 65535, End: 65536}),
		}},
	}
}

func make16[T any](v T) []T {
	out := make([]T, 16)
	for i := range out {
		out[i] = v
	}
	return out
}

func endCases() []goldenCase {
	return []goldenCase{
		{"end_full", &RolloutEnd{
			Run: "run-7f3a", Rollout: "q12_r3", Question: "Where was the author of The Glass Orchard born?",
			Steps:  []StepRef{{Index: 1, Digest: strings.Repeat("ab", 32)}, {Index: 2, Digest: strings.Repeat("0f", 32)}},
			Answer: "Harrowdale", Gold: []string{"Harrowdale", "Harrow Dale"}, Group: "q12", GroupSize: 8,
			Aborted: true, AbortReason: "the search tool was gone", DeadlineMS: 1_800_000,
		}},
		{"end_without_steps", &RolloutEnd{Steps: []StepRef{}}},
	}
}

func labelCases() []goldenCase {
	return []goldenCase{
		{"label_full", &Label{
			Run: "run-7f3a", Rollout: "q12_r3", Index: 2, Digest: strings.Repeat("1c", 32),
			Label: GapMissingBridge, Repair: RepairBridgeSearch, Stage: StageLocal,
			Reason: ReasonNoClaim, Detail: "The quote does not say where.",
			Quotes: []Quote{{
				Passage: PassageDigest(quillTitle, quillText), Title: quillTitle, ByStep: 2, Start: 0, End: 10,
				Text: "Mara Quill", Match: MatchExact,
			}},
			Facts: &Facts{
				Kind: KindSearch, Query: "Mara Quill birthplace", Text: "She was born in Harrowdale.",
				Claim: "She was born in Harrowdale.", Answer: "Harrowdale", Entities: []string{"Mara Quill", "Harrowdale"},
				Spans: spanCases(), Saw: 1, Abstains: true,
			},
			Trail:      []TrailEntry{trailCase(), {Stage: StageEntity, Outcome: "aligned"}},
			AcceptedNS: 1_790_000_000_123_456_789,
		}},
		{"label_minimal", &Label{Label: GapNone, Repair: RepairNone, Stage: StageCross}},
		{"label_windows", &Label{
			Run: "r", Rollout: "o", Index: 1, Label: GapNone, Repair: RepairNone, Stage: StageCross,
			Trail: []TrailEntry{{
				Stage: StageCross, Outcome: "entailment", Judge: "nli", Flags: []string{FlagNearThreshold, FlagGuard},
				Windows: []Window{
					{Passage: PassageDigest(quillTitle, quillText), ByStep: 2, Start: 0, End: 62, Titled: true},
					{Passage: strings.Repeat("2d", 32), Start: 7, End: 9},
				},
			}},
		}},
		{"label_sealed", &Label{
			Run: "r", Rollout: "o", Index: 3, Label: GapUngraded, Repair: RepairNone, Stage: StageReward, Reason: ReasonMissing,
		}},
	}
}

func trailCase() TrailEntry {
	return TrailEntry{
		Stage: StageLocal, Outcome: "neutral", Judge: "nli", Model: "minilm@0123abcd", Prompt: "v3",
		Scores:  &Scores{Entailment: 0.1, Neutral: 0.7000000000000001, Contradiction: 0.19999999999999996},
		Premise: quillText, Hypothesis: "She was born in Harrowdale.", Confidence: some(0.5),
		Detail: "No window entails the claim.", Flags: []string{"near_threshold"},
		LatencyUS: 1234567, Calls: 1, TokensIn: 200, TokensOut: 33, TokensCached: 128, CacheHit: true,
	}
}

func rewardCases() []goldenCase {
	return []goldenCase{
		{"reward_full", &Reward{
			Run: "run-7f3a", Rollout: "q12_r3", Group: "q12", GroupSize: 8, Process: some(-0.05),
			Reason: ReasonTooFewGraded, Detail: "1 of 3 steps is graded.",
			Steps: []StepReward{
				{
					Index: 1, Label: GapIrrelevant, Repair: RepairReSearch, Stage: StageQuote, Reason: ReasonNoClaim,
					Base: some(-0.1), BaseAt: &Span{Kind: SpanClaim, Start: 3, End: 9}, BaseNote: "capped",
					Shape: some(0.1), ShapeAt: &Span{Kind: SpanAction, Start: 10, End: 20}, ShapeStep: 2,
					ShapeReason: ShapeReSearched, Reward: some(0),
				},
				{Index: 2, Label: GapUngraded, Repair: RepairNone},
			},
			Outcome: Outcome{EM: some(0), F1: some(0.6666666666666666), CoverEM: some(1)},
			Answer:  "Harrowdale", Graded: 2, Ungraded: 1, Complete: true,
			Profile: "stepgap", ProfileHash: strings.Repeat("9d", 32), EndDigest: strings.Repeat("e0", 32),
		}},
		{"reward_null", &Reward{Run: "r", Rollout: "o", Reason: ReasonNoSteps}},
	}
}

func transcriptCases() []goldenCase {
	return []goldenCase{
		{"transcript_text", &Transcript{
			Run: "run-7f3a", Rollout: "q12_r3", Format: "search-r1",
			Prompt: "Answer the given question. Question: Where was the author of The Glass Orchard born?",
			Text:   "<search>author of The Glass Orchard</search><information>Doc 1(Title: \"Mara Quill\") " + quillText + "</information><answer>Harrowdale</answer>",
			Answer: "Harrowdale", Gold: []string{"Harrowdale", "Harrow Dale"}, Group: "q12", GroupSize: 8,
			StepDeadlineMS: 60_000, DeadlineMS: 1_800_000,
		}},
		{"transcript_messages", &Transcript{
			Question: "Where was the author of The Glass Orchard born?",
			Messages: []ChatMessage{
				{Role: "user", Content: "Where was the author of The Glass Orchard born?"},
				{Role: "assistant", Content: "I need the author.", Reasoning: "Who wrote it?", Calls: []ToolCall{{ID: "c1", Name: "search", Arguments: `{"query":"author of The Glass Orchard"}`}}},
				{Role: "tool", Content: quillText, CallID: "c1", Name: "search"},
				{Role: "assistant", Content: oddText},
			},
		}},
		{"transcript_turns", &Transcript{
			Question: "?",
			Turns: []Turn{
				{Think: "I need the author.", Query: "author of The Glass Orchard", Passages: []Document{{Title: quillTitle, Text: quillText}, {Text: oddText}}},
				{Think: "She was born in Harrowdale.", Answer: "Harrowdale"},
			},
		}},
		{"transcript_empty", &Transcript{Question: "?"}},
	}
}

func otherCases() []goldenCase {
	return []goldenCase{
		{"dead_full", &Dead{
			Stage: StageQuote, Reason: ReasonMalformed, Detail: "field question: is missing", Subject: "stepgap.steps.r.o.1",
			Body: []byte{0x81, 0xa1, 'q', 0x00, 0xff}, BodySize: 5,
			Headers:   map[string]string{"Stepgap-Schema": "1", "Nats-Msg-Id": "x", "a": ""},
			Delivered: 3, AtNS: 1_790_000_000_000_000_000,
		}},
		{"dead_minimal", &Dead{Stage: StageEntity, Reason: ReasonCrash, Subject: "stepgap.steps.r.o.1"}},
		{"live_answer_full", &LiveAnswer{
			Run: "run-7f3a", Rollout: "q12_r3", Index: 2, Kind: LivePlan, Label: GapContradicted, Repair: RepairRetract,
			Reason: ReasonJudgeTimeout, Detail: "The query seeks the actor, the question asks for the author.",
			Trail: []TrailEntry{trailCase()},
		}},
		{"live_answer_minimal", &LiveAnswer{Kind: LiveProbe, Label: GapNone, Repair: RepairNone}},
		{"work_full", &Work{
			Step: []byte{0x80}, Abstaining: true,
			Quotes: []Quote{{Passage: strings.Repeat("ab", 32), ByStep: 1, Start: 65535, End: 65536, Text: "\u5317", Match: MatchWindow}},
			Trail:  []TrailEntry{trailCase()},
		}},
		{"work_minimal", &Work{Step: []byte{}}},
	}
}
