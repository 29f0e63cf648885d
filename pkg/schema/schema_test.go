package schema

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func validStep() Step {
	text := "Ada Lovelace was born in 1815."
	return Step{
		Run: "run1", Rollout: "r_1", Index: 2, Kind: KindSearch, Question: "When was Ada Lovelace born?",
		Query: "Ada Lovelace birth", Claim: "She was born in 1815.",
		Passages: []Passage{{Digest: PassageDigest("Ada", text), Title: "Ada", Text: text, ByStep: 1}},
		History:  []Prior{{Index: 1, Query: "Ada"}},
		Spans:    []Span{{Kind: SpanClaim, Start: 1, End: 5}},
		Saw:      1,
	}
}

func TestStepValidateNamesTheField(t *testing.T) {
	t.Parallel()
	step := validStep()
	require.NoError(t, step.Validate())
	cases := map[string]struct {
		change func(*Step)
		reason Reason
	}{
		"run":                 {func(s *Step) { s.Run = "a.b" }, ReasonMalformed},
		"rollout":             {func(s *Step) { s.Rollout = strings.Repeat("x", 129) }, ReasonMalformed},
		"index":               {func(s *Step) { s.Index = 0 }, ReasonMalformed},
		"kind":                {func(s *Step) { s.Kind = "" }, ReasonMalformed},
		"question":            {func(s *Step) { s.Question = "" }, ReasonMalformed},
		"query":               {func(s *Step) { s.Query = strings.Repeat("q", MaxQuery+1) }, ReasonTooLarge},
		"text":                {func(s *Step) { s.Text = "\xff" }, ReasonMalformed},
		"passages[0].digest":  {func(s *Step) { s.Passages[0].Text = "other" }, ReasonMalformed},
		"passages[0]":         {func(s *Step) { s.Passages[0].Text = "" }, ReasonMalformed},
		"passages[0].by_step": {func(s *Step) { s.Passages[0].ByStep = 3 }, ReasonMalformed},
		"history[0].index":    {func(s *Step) { s.History[0].Index = 2 }, ReasonMalformed},
		"spans[0].kind":       {func(s *Step) { s.Spans[0].Kind = "x" }, ReasonMalformed},
		"spans[0]":            {func(s *Step) { s.Spans[0].End = 0 }, ReasonMalformed},
		"saw":                 {func(s *Step) { s.Saw = 2 }, ReasonMalformed},
	}
	for field, c := range cases {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			s := validStep()
			c.change(&s)
			err := s.Validate()
			var fe *FieldError
			require.ErrorAs(t, err, &fe)
			require.Equal(t, field, fe.Field)
			require.Equal(t, c.reason, ReasonOf(err))
		})
	}
}

func TestBindRefusesABodyThatDiffersFromTheSubject(t *testing.T) {
	t.Parallel()
	id := StepID{"run1", "r_1", 2}
	s := validStep()
	s.Run, s.Rollout, s.Index = "", "", 0
	require.NoError(t, s.BindStep(id))
	require.Equal(t, id, StepID{s.Run, s.Rollout, s.Index})
	for _, other := range []StepID{{"run2", "r_1", 2}, {"run1", "r_2", 2}, {"run1", "r_1", 3}} {
		s := validStep()
		require.Error(t, s.BindStep(other))
	}
}

func TestSubjectsRoundTrip(t *testing.T) {
	t.Parallel()
	id := StepID{"run-1", "r_2", 17}
	got, err := ParseStep(PrefixSteps, id.Subject(PrefixSteps))
	require.NoError(t, err)
	require.Equal(t, id, got)
	kind, got, err := ParseLive(LiveSubject(LivePlan, id))
	require.NoError(t, err)
	require.Equal(t, LivePlan, kind)
	require.Equal(t, id, got)
	rid, err := ParseRollout(PrefixEnds, id.RolloutID().Subject(PrefixEnds))
	require.NoError(t, err)
	require.Equal(t, id.RolloutID(), rid)
	for _, bad := range []string{"stepgap.steps.a.b", "stepgap.steps.a.b.c", "stepgap.steps.a.b.01", "stepgap.steps.a.b.0", "stepgap.steps.a.b.-1", "stepgap.steps.a.b.1001", "stepgap.labels.a.b.1", "stepgap.steps.a.b.1.2", "stepgap.steps.a..1"} {
		_, err := ParseStep(PrefixSteps, bad)
		require.Error(t, err, bad)
	}
}

func TestPromise_P2_NoNumberThatIsNone(t *testing.T) {
	t.Parallel()
	nan, inf := math.NaN(), math.Inf(1)
	for _, bad := range []*float64{&nan, &inf} {
		r := Reward{Run: "a", Rollout: "b", Process: bad}
		require.Error(t, r.Validate())
		r = Reward{Run: "a", Rollout: "b", Reason: ReasonMissing, Steps: []StepReward{{Shape: bad}}}
		require.Error(t, r.Validate())
		l := Label{Run: "a", Rollout: "b", Index: 1, Label: GapNone, Repair: RepairNone, Trail: []TrailEntry{{Scores: &Scores{Neutral: *bad}}}}
		require.Error(t, l.Validate())
	}
	require.Error(t, (&Reward{Run: "a", Rollout: "b"}).Validate(), "a null reward says why")
	require.Error(t, (&Label{Run: "a", Rollout: "b", Index: 1, Label: GapUngraded, Repair: RepairNone}).Validate(), "an ungraded label says why")
}

// Not parallel: it counts allocations.
func TestPromise_P8_HostileFramesAreRefusedBeforeDecoding(t *testing.T) {
	frames := map[string][]byte{
		"array of 16 million":   {0xdd, 0x00, 0xff, 0xff, 0xff},
		"map of 4 billion":      {0xdf, 0xff, 0xff, 0xff, 0xff},
		"string of 4 GB":        {0x81, 0xa1, 'q', 0xdb, 0xff, 0xff, 0xff, 0xff},
		"array in a known key":  {0x81, 0xa2, 'p', 's', 0xdd, 0x00, 0xff, 0xff, 0xff},
		"bin of 4 GB":           {0x81, 0xa1, 's', 0xc6, 0xff, 0xff, 0xff, 0xff},
		"not a map":             {0xc0},
		"empty":                 {},
		"cut":                   {0x82, 0xa1, 'q'},
		"bytes after the end":   {0x80, 0x80},
		"reserved type":         {0x81, 0xa1, 'q', 0xc1},
		"deep":                  append([]byte{0x81, 0xa1, 'h'}, []byte(strings.Repeat("\x91", 100)+"\xc0")...),
		"many elements":         append([]byte{0x81, 0xa1, 'h', 0xdc, 0xff, 0xff}, make([]byte, 0xffff)...),
		"a number for a string": {0x81, 0xa1, 'q', 0x91, 0x01},
	}
	for name, frame := range frames {
		t.Run(name, func(t *testing.T) {
			var s Step
			allocs := testing.AllocsPerRun(5, func() { require.Error(t, Decode(frame, &s)) })
			require.Less(t, allocs, 200.0)
		})
	}
}

func TestUnknownKeysAreIgnored(t *testing.T) {
	t.Parallel()
	// {"q": "?", "zz": [1, {"a": nil}]}
	frame := []byte{0x82, 0xa1, 'q', 0xa1, '?', 0xa2, 'z', 'z', 0x92, 0x01, 0x81, 0xa1, 'a', 0xc0}
	var s Step
	require.NoError(t, Decode(frame, &s))
	require.Equal(t, "?", s.Question)
}
