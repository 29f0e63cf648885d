package schema

// SpanKind says which part of the policy's text a span covers.
type SpanKind string

// Kinds of spans.
const (
	SpanPlan   SpanKind = "plan"
	SpanAction SpanKind = "action"
	SpanClaim  SpanKind = "claim"
	SpanAnswer SpanKind = "answer"
)

// Span is a half-open range [Start, End) of code points in the rollout's text
// as the publisher gave it, over what the policy wrote.
type Span struct {
	Kind  SpanKind `msgpack:"k" json:"kind"`
	Start int      `msgpack:"s" json:"start"`
	End   int      `msgpack:"e" json:"end"`
}

// Passage is one retrieved text. Evidence is what the retriever returned,
// never a grader's or environment's words.
type Passage struct {
	// Digest is the hex SHA-256 of title, a NUL byte, and text (see
	// PassageDigest). It names the passage in quotes.
	Digest string `msgpack:"d" json:"digest"`
	Title  string `msgpack:"t,omitempty" json:"title,omitempty"`
	// ByStep is the index of the step that fetched it.
	ByStep int `msgpack:"b" json:"by_step"`
	// Text is the passage itself, or empty when Ref names where it is kept.
	Text string `msgpack:"x,omitempty" json:"text,omitempty"`
	// Ref is a digest under which the text was published before (KV bucket
	// stepgap-passages). Exactly one of Text and Ref is set.
	Ref string `msgpack:"r,omitempty" json:"ref,omitempty"`
}

// Prior is what a step needs to know of an earlier one.
type Prior struct {
	Index int    `msgpack:"i" json:"index"`
	Query string `msgpack:"q,omitempty" json:"query,omitempty"`
	Claim string `msgpack:"c,omitempty" json:"claim,omitempty"`
}

// Step is one sub-goal of a rollout: the query, the passages it brought, and
// what the policy then claimed from them. Indices count from 1.
type Step struct {
	Run      string `msgpack:"run,omitempty" json:"run,omitempty"`
	Rollout  string `msgpack:"ro,omitempty" json:"rollout,omitempty"`
	Index    int    `msgpack:"i,omitempty" json:"index,omitempty"`
	Kind     Kind   `msgpack:"k" json:"kind"`
	Question string `msgpack:"q" json:"question"`
	// Plan is the text before the query: what the policy meant to find.
	Plan string `msgpack:"p,omitempty" json:"plan,omitempty"`
	// Query is the search query; empty for conclusions.
	Query string `msgpack:"qy,omitempty" json:"query,omitempty"`
	// Text is what the policy wrote after the evidence, as written.
	Text string `msgpack:"tx,omitempty" json:"text,omitempty"`
	// Claim holds the sentences of Text that assert facts, lead-ins stripped;
	// for a conclusion, the statement to verify. Empty means that a stage
	// reads the claim from Text.
	Claim string `msgpack:"c,omitempty" json:"claim,omitempty"`
	// Answer is the final answer; conclusions only.
	Answer string `msgpack:"a,omitempty" json:"answer,omitempty"`
	// Passages are those of this step (ByStep == Index) and of earlier ones.
	Passages []Passage `msgpack:"ps,omitempty" json:"passages,omitempty"`
	// History lists every earlier step, in order.
	History []Prior `msgpack:"h,omitempty" json:"history,omitempty"`
	Spans   []Span  `msgpack:"sp,omitempty" json:"spans,omitempty"`
	// Saw is the highest index whose label or hint the policy had seen when it
	// wrote this step; 0 without redirection.
	Saw int `msgpack:"sw,omitempty" json:"saw,omitempty"`
}

// Own returns the passages that this step fetched.
func (s *Step) Own() []Passage {
	var own []Passage
	for _, p := range s.Passages {
		if p.ByStep == s.Index {
			own = append(own, p)
		}
	}
	return own
}

// Earlier returns the passages that earlier steps fetched.
func (s *Step) Earlier() []Passage {
	var earlier []Passage
	for _, p := range s.Passages {
		if p.ByStep != s.Index {
			earlier = append(earlier, p)
		}
	}
	return earlier
}

// StepRef names a step of an ended rollout and the digest of its body.
type StepRef struct {
	Index  int    `msgpack:"i" json:"index"`
	Digest string `msgpack:"d" json:"digest"`
}

// RolloutEnd says that a rollout is over and what it consisted of.
type RolloutEnd struct {
	Run      string    `msgpack:"run,omitempty" json:"run,omitempty"`
	Rollout  string    `msgpack:"ro,omitempty" json:"rollout,omitempty"`
	Question string    `msgpack:"q,omitempty" json:"question,omitempty"`
	Steps    []StepRef `msgpack:"st" json:"steps"`
	Answer   string    `msgpack:"a,omitempty" json:"answer,omitempty"`
	// Gold lists the accepted answers; empty when there is no gold answer, and
	// then the reward has no outcome part.
	Gold []string `msgpack:"g,omitempty" json:"gold,omitempty"`
	// Group names the GRPO group (usually the question's id); GroupSize is how
	// many rollouts it has.
	Group     string `msgpack:"gr,omitempty" json:"group,omitempty"`
	GroupSize int    `msgpack:"gs,omitempty" json:"group_size,omitempty"`
	// Aborted says that the rollout worker gave up; the reward is then null.
	Aborted     bool   `msgpack:"ab,omitempty" json:"aborted,omitempty"`
	AbortReason string `msgpack:"ar,omitempty" json:"abort_reason,omitempty"`
	// DeadlineMS is how long after the server's time stamp of this end missing
	// labels are waited for, in milliseconds; 0 takes the aggregator's default.
	DeadlineMS int64 `msgpack:"dl,omitempty" json:"deadline_ms,omitempty"`
}

// QuoteMatch says how a quote was found in its passage.
type QuoteMatch string

// Ways in which a quote is found.
const (
	MatchExact  QuoteMatch = "exact"  // byte for byte
	MatchFolded QuoteMatch = "folded" // after NFKC, white space, quote marks and hyphens were folded
	MatchNear   QuoteMatch = "near"   // a near match, replaced by the passage's own text
	MatchWindow QuoteMatch = "window" // no quote: the most relevant window of the passages
)

// Quote is a verbatim span of a passage, verified by code: Text always equals
// the passage's text from Start to End.
type Quote struct {
	Passage string     `msgpack:"d" json:"passage"` // digest
	Title   string     `msgpack:"t,omitempty" json:"title,omitempty"`
	ByStep  int        `msgpack:"b" json:"by_step"`
	Start   int        `msgpack:"s" json:"start"` // code points
	End     int        `msgpack:"e" json:"end"`   // code points
	Text    string     `msgpack:"x" json:"text"`
	Match   QuoteMatch `msgpack:"m" json:"match"`
}

// Scores are the NLI model's probabilities; they sum to 1.
type Scores struct {
	Entailment    float64 `msgpack:"e" json:"entailment"`
	Neutral       float64 `msgpack:"n" json:"neutral"`
	Contradiction float64 `msgpack:"c" json:"contradiction"`
}

// Window is a stretch of a passage, anchored to its sentences.
type Window struct {
	Passage string `msgpack:"d" json:"passage"` // digest
	ByStep  int    `msgpack:"b" json:"by_step"`
	Start   int    `msgpack:"s" json:"start"` // code points
	End     int    `msgpack:"e" json:"end"`   // code points
	// Titled: in the premise the passage's title stands before the stretch, or
	// in the place of a pronoun at its head.
	Titled bool `msgpack:"t,omitempty" json:"titled,omitempty"`
}

// Flags of a trail entry.
const (
	// FlagNearThreshold: a score came within epsilon of the threshold that it
	// was held against, so a model a little different could have decided
	// otherwise.
	FlagNearThreshold = "near_threshold"
	// FlagGuard: the deterministic checks beside the NLI model had a say.
	FlagGuard = "guard"
	// FlagNoContradiction: D asked a model that has no class for contradiction,
	// so it can't have answered it.
	FlagNoContradiction = "no_contradiction"
)

// TrailEntry is what one stage did with a step.
type TrailEntry struct {
	Stage Stage `msgpack:"st" json:"stage"`
	// Outcome is the branch of the tree that was taken, such as "aligned",
	// "unjustified", "quoted", "entailment".
	Outcome string `msgpack:"o" json:"outcome"`
	// Judge is the judge's kind ("local", "llm", "nli", ...); empty where code
	// alone decided, without asking a judge.
	Judge string `msgpack:"j,omitempty" json:"judge,omitempty"`
	// Model names the model and, for local ones, its hash.
	Model string `msgpack:"m,omitempty" json:"model,omitempty"`
	// Prompt is the prompt's version, for LLM judges.
	Prompt string `msgpack:"pv,omitempty" json:"prompt,omitempty"`
	// Scores are those of the deciding pair; nil where no NLI model was asked.
	Scores *Scores `msgpack:"sc,omitempty" json:"scores,omitempty"`
	// Premise and Hypothesis are the deciding pair of D or E.
	Premise string `msgpack:"pr,omitempty" json:"premise,omitempty"`
	// Windows say which stretches of which passages Premise was made of, in
	// order; those are the windows that decided.
	Windows    []Window `msgpack:"wn,omitempty" json:"windows,omitempty"`
	Hypothesis string   `msgpack:"hy,omitempty" json:"hypothesis,omitempty"`
	// Confidence of an LLM judge in [0, 1]; nil where the endpoint gave none.
	Confidence *float64 `msgpack:"cf,omitempty" json:"confidence,omitempty"`
	// Detail is one sentence for people.
	Detail string `msgpack:"dt,omitempty" json:"detail,omitempty"`
	// Flags are FlagNearThreshold, FlagGuard, FlagNoContradiction; readers pass over others.
	Flags []string `msgpack:"fl,omitempty" json:"flags,omitempty"`
	// LatencyUS is the time the stage took, in microseconds.
	LatencyUS int64 `msgpack:"us,omitempty" json:"latency_us,omitempty"`
	Calls     int   `msgpack:"n,omitempty" json:"calls,omitempty"`
	TokensIn  int   `msgpack:"ti,omitempty" json:"tokens_in,omitempty"`
	TokensOut int   `msgpack:"to,omitempty" json:"tokens_out,omitempty"`
	// TokensCached is the part of TokensIn that the endpoint had cached.
	TokensCached int  `msgpack:"tc,omitempty" json:"tokens_cached,omitempty"`
	CacheHit     bool `msgpack:"ch,omitempty" json:"cache_hit,omitempty"`
}

// Facts are the parts of a step that rewards are computed from. The aggregator
// holds no state and never reads a step, so a label carries them.
type Facts struct {
	Kind   Kind   `msgpack:"k" json:"kind"`
	Query  string `msgpack:"q,omitempty" json:"query,omitempty"`
	Text   string `msgpack:"tx,omitempty" json:"text,omitempty"`
	Claim  string `msgpack:"c,omitempty" json:"claim,omitempty"`
	Answer string `msgpack:"a,omitempty" json:"answer,omitempty"`
	// Entities named in the claim and in the step's own passages (bounded).
	Entities []string `msgpack:"en,omitempty" json:"entities,omitempty"`
	Spans    []Span   `msgpack:"sp,omitempty" json:"spans,omitempty"`
	Saw      int      `msgpack:"sw,omitempty" json:"saw,omitempty"`
	// Abstains says that the step abstains on what it sought.
	Abstains bool `msgpack:"ab,omitempty" json:"abstains,omitempty"`
}

// Label is the immutable verdict on one step.
type Label struct {
	Run     string `msgpack:"run,omitempty" json:"run,omitempty"`
	Rollout string `msgpack:"ro,omitempty" json:"rollout,omitempty"`
	Index   int    `msgpack:"i,omitempty" json:"index,omitempty"`
	// Digest of the step's body; empty only where the step never came.
	Digest string `msgpack:"d,omitempty" json:"digest,omitempty"`
	Label  Gap    `msgpack:"l" json:"label"`
	Repair Repair `msgpack:"r" json:"repair"`
	// Stage that gave the label.
	Stage Stage `msgpack:"st" json:"stage"`
	// Reason is set for ungraded labels, and for none without entailment.
	Reason Reason `msgpack:"rs,omitempty" json:"reason,omitempty"`
	// Detail is one sentence for people.
	Detail string       `msgpack:"dt,omitempty" json:"detail,omitempty"`
	Quotes []Quote      `msgpack:"qs,omitempty" json:"quotes,omitempty"`
	Facts  *Facts       `msgpack:"f,omitempty" json:"facts,omitempty"`
	Trail  []TrailEntry `msgpack:"tr,omitempty" json:"trail,omitempty"`
	// AcceptedNS is the server's time stamp of the step, Unix nanoseconds.
	AcceptedNS int64 `msgpack:"at,omitempty" json:"accepted_ns,omitempty"`
}

// ShapeReason says how a gap was, or was not, repaired.
type ShapeReason string

// What the shape part of a reward is for.
const (
	ShapeRetracted     ShapeReason = "retracted"
	ShapeReSearched    ShapeReason = "re_searched"
	ShapeBridged       ShapeReason = "bridged"
	ShapeIgnored       ShapeReason = "ignored"
	ShapeNearDuplicate ShapeReason = "near_duplicate"
	ShapeNoWindow      ShapeReason = "no_window" // nothing came after in which a repair could stand
)

// StepReward is one step's part of a reward. Nil numbers mean "none given".
type StepReward struct {
	Index  int    `msgpack:"i" json:"index"`
	Label  Gap    `msgpack:"l" json:"label"`
	Repair Repair `msgpack:"r" json:"repair"`
	Stage  Stage  `msgpack:"st,omitempty" json:"stage,omitempty"`
	Reason Reason `msgpack:"rs,omitempty" json:"reason,omitempty"`
	// Base is the reward for the label, already normalised; BaseAt is the span
	// at whose end it is anchored.
	Base   *float64 `msgpack:"b,omitempty" json:"base"`
	BaseAt *Span    `msgpack:"ba,omitempty" json:"base_at,omitempty"`
	// BaseNote says why a base differs from the label's magnitude.
	BaseNote string `msgpack:"bn,omitempty" json:"base_note,omitempty"`
	// Shape is the reward for how this step's gap was repaired; ShapeAt is the
	// action span of the repairing step ShapeStep.
	Shape       *float64    `msgpack:"s,omitempty" json:"shape"`
	ShapeAt     *Span       `msgpack:"sa,omitempty" json:"shape_at,omitempty"`
	ShapeStep   int         `msgpack:"ss,omitempty" json:"shape_step,omitempty"`
	ShapeReason ShapeReason `msgpack:"sr,omitempty" json:"shape_reason,omitempty"`
	// Reward is Base plus Shape; nil when both are.
	Reward *float64 `msgpack:"t,omitempty" json:"reward"`
}

// Outcome is the score of the final answer. Nil where there is no gold answer.
type Outcome struct {
	EM      *float64 `msgpack:"em,omitempty" json:"em"`
	F1      *float64 `msgpack:"f1,omitempty" json:"f1"`
	CoverEM *float64 `msgpack:"ce,omitempty" json:"cover_em"`
}

// Reward is a rollout's typed rewards.
type Reward struct {
	Run       string `msgpack:"run,omitempty" json:"run,omitempty"`
	Rollout   string `msgpack:"ro,omitempty" json:"rollout,omitempty"`
	Group     string `msgpack:"gr,omitempty" json:"group,omitempty"`
	GroupSize int    `msgpack:"gs,omitempty" json:"group_size,omitempty"`
	// Process is the sum of the steps' rewards; nil when the reward is null,
	// and then Reason says why. It never holds the outcome.
	Process *float64     `msgpack:"p,omitempty" json:"process"`
	Reason  Reason       `msgpack:"rs,omitempty" json:"reason,omitempty"`
	Detail  string       `msgpack:"dt,omitempty" json:"detail,omitempty"`
	Steps   []StepReward `msgpack:"st,omitempty" json:"steps"`
	Outcome Outcome      `msgpack:"oc" json:"outcome"`
	Answer  string       `msgpack:"a,omitempty" json:"answer,omitempty"`
	Graded  int          `msgpack:"g" json:"graded"`
	// Ungraded counts steps that could not be judged; they contribute nothing.
	Ungraded int `msgpack:"u" json:"ungraded"`
	// Complete says that every step has a graded label.
	Complete bool `msgpack:"cp" json:"complete"`
	// Profile names the reward profile; ProfileHash is the SHA-256 of its
	// canonical form.
	Profile     string `msgpack:"pf,omitempty" json:"profile,omitempty"`
	ProfileHash string `msgpack:"ph,omitempty" json:"profile_hash,omitempty"`
	// EndDigest is the SHA-256 of the end's body.
	EndDigest string `msgpack:"ed,omitempty" json:"end_digest,omitempty"`
}

// Dead is a message that could not be handled, kept for operators.
type Dead struct {
	Stage   Stage  `msgpack:"st" json:"stage"`
	Reason  Reason `msgpack:"rs" json:"reason"`
	Detail  string `msgpack:"dt,omitempty" json:"detail,omitempty"`
	Subject string `msgpack:"su" json:"subject"`
	// Body is the message as it came; cut at MaxDeadBody bytes.
	Body      []byte            `msgpack:"bd,omitempty" json:"body,omitempty"`
	BodySize  int               `msgpack:"bs" json:"body_size"`
	Headers   map[string]string `msgpack:"hd,omitempty" json:"headers,omitempty"`
	Delivered int               `msgpack:"dv,omitempty" json:"delivered,omitempty"`
	AtNS      int64             `msgpack:"at,omitempty" json:"at_ns,omitempty"`
}

// LiveAnswer is the answer to a live check.
type LiveAnswer struct {
	Run     string       `msgpack:"run,omitempty" json:"run,omitempty"`
	Rollout string       `msgpack:"ro,omitempty" json:"rollout,omitempty"`
	Index   int          `msgpack:"i,omitempty" json:"index,omitempty"`
	Kind    LiveKind     `msgpack:"k" json:"kind"`
	Label   Gap          `msgpack:"l" json:"label"`
	Repair  Repair       `msgpack:"r" json:"repair"`
	Reason  Reason       `msgpack:"rs,omitempty" json:"reason,omitempty"`
	Detail  string       `msgpack:"dt,omitempty" json:"detail,omitempty"`
	Trail   []TrailEntry `msgpack:"tr,omitempty" json:"trail,omitempty"`
}

// Work is what one stage hands to the next: the step's body as published (so
// that its digest can be checked anywhere), and what is known so far.
type Work struct {
	Step []byte `msgpack:"s" json:"step"`
	// Abstaining marks a step whose abstention B found justified.
	Abstaining bool `msgpack:"ab,omitempty" json:"abstaining,omitempty"`
	// Quotes decide the claim; the first is the premise of D. A quote with
	// MatchWindow is no quote but the most relevant window.
	Quotes []Quote      `msgpack:"qs,omitempty" json:"quotes,omitempty"`
	Trail  []TrailEntry `msgpack:"tr,omitempty" json:"trail,omitempty"`
}
