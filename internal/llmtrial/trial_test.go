package llmtrial

import (
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/app"
	"github.com/stepgap/stepgap/internal/claim"
	"github.com/stepgap/stepgap/internal/cost"
	"github.com/stepgap/stepgap/internal/pipeline"
	"github.com/stepgap/stepgap/pkg/schema"
)

var stages = []schema.Stage{schema.StageEntity, schema.StageAbstain, schema.StageQuote}

func TestItems_AreWhatTheirStageNeeds(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, stage := range stages {
		items := ItemsOf(stage)
		require.GreaterOrEqual(t, len(items), 12)
		require.LessOrEqual(t, Constant(items), len(items)/2, "%s: no answer is right more often than not", stage)
		for _, item := range items {
			key := string(stage) + item.Name
			require.False(t, names[key], item.Name)
			names[key] = true
			require.Equal(t, stage, item.Stage)
			reading := claim.Read(&item.Step)
			switch {
			case stage == schema.StageAbstain:
				require.True(t, reading.Abstains(), item.Name)
			case item.Want == noClaim:
				require.Empty(t, reading.Claims, item.Name)
			default:
				require.Len(t, reading.Claims, 1, item.Name)
				require.False(t, reading.Abstains(), item.Name)
			}
			if item.Telling != "" {
				text := ""
				for _, p := range item.Step.Passages {
					text += p.Text
				}
				require.Contains(t, text, item.Telling, item.Name)
			}
		}
	}
}

// TestTry_EveryItemReachesItsStage also is the whole way of an item: published,
// labelled, read.
func TestTry_EveryItemReachesItsStage(t *testing.T) {
	t.Parallel()
	pipe, err := pipeline.Start(t.Context(), app.Config{
		Judge: "local", JudgeNLI: "free", Store: t.TempDir(), Replicas: 1, Workers: 4,
		AckWait: 30 * time.Second, Budget: time.Minute, LabelsAge: time.Hour, Profile: "stepgap", WorkBytes: 1 << 26, LabelBytes: 1 << 26,
	}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	defer func() { require.NoError(t, pipe.Stop()) }()
	for _, stage := range stages {
		items := ItemsOf(stage)
		first, err := Try(t.Context(), pipe.Client, "first", items, time.Minute, false, func(Item, Answer) {})
		require.NoError(t, err)
		second, err := Try(t.Context(), pipe.Client, "second", items, time.Minute, true, func(Item, Answer) {})
		require.NoError(t, err)
		r := Summarise(stage, items, first, nil)
		require.Equal(t, r.Items, r.Reached, "%v", r.Cases)
		require.Zero(t, r.Errors)
		require.Zero(t, r.Outside)
		flips := Compare(items, first, second)
		require.Equal(t, len(items), flips.Pairs)
		require.Zero(t, *flips.Rate, "rules never differ: %v", flips.Differ)
		padded := Padded(items, 50_000)
		beside, err := Try(t.Context(), pipe.Client, "padded", padded, time.Minute, false, func(Item, Answer) {})
		require.NoError(t, err)
		flips = Compare(items, first, beside)
		require.Equal(t, len(items), flips.Pairs)
		require.Empty(t, flips.Differ, "nor by unrelated text")
		for _, a := range beside {
			require.Zero(t, a.Outside)
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	item := quoteItems()[1] // wants "died on 4 May 1977"
	p := item.Step.Passages[1]
	at := strings.Index(p.Text, "He retired")
	quote := schema.Quote{Passage: schema.PassageDigest(p.Title, p.Text), Start: at, End: len(p.Text), Text: p.Text[at:], Match: schema.MatchExact}
	other := quote
	other.Start, other.End = 0, len("Paul Esker")
	other.Text = p.Text[:other.End]
	invented := quote
	invented.Text = strings.Replace(quote.Text, "1977", "1978", 1)
	label := func(outcome string, quotes ...schema.Quote) *schema.Label {
		return &schema.Label{Label: schema.GapNone, Stage: schema.StageLocal, Quotes: quotes, Trail: []schema.TrailEntry{
			{Stage: schema.StageEntity, Outcome: aligned}, {Stage: schema.StageQuote, Outcome: outcome}, {Stage: schema.StageLocal, Outcome: "fixed"},
		}}
	}
	for name, tc := range map[string]struct {
		label *schema.Label
		want  Answer
	}{
		"right":     {label(quoted, quote), Answer{Reached: true, Got: quoted, Right: true, Relevant: true, Quotes: 1}},
		"elsewhere": {label(quoted, other), Answer{Reached: true, Got: "quoted (Paul Esker)", Relevant: true, Quotes: 1}},
		"second":    {label(quoted, other, quote), Answer{Reached: true, Got: quoted, Right: true, Relevant: true, Quotes: 2}},
		"none":      {label(quoted), Answer{Reached: true, Got: "quoted (no quote)", Relevant: true}},
		"no quote":  {label(noQuote), Answer{Reached: true, Got: noQuote, Relevant: true}},
		"off":       {label(irrelevant), Answer{Reached: true, Got: irrelevant}},
		"invented":  {label(noQuote, invented), Answer{Reached: true, Got: noQuote, Relevant: true, Quotes: 1, Outside: 1}},
		"not reached": {&schema.Label{Label: schema.GapContradicted, Stage: schema.StageEntity, Trail: []schema.TrailEntry{{Stage: schema.StageEntity, Outcome: misaligned}}},
			Answer{Missed: "entity-check: contradicted_claim"}},
		"ungraded": {&schema.Label{Label: schema.GapUngraded, Stage: schema.StageQuote, Reason: schema.ReasonJudgeTimeout, Detail: "slow", Trail: []schema.TrailEntry{{Stage: schema.StageQuote, Outcome: "error"}}},
			Answer{Reached: true, Err: "judge_timeout: slow"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Read(item, tc.label)
			got.Entry = schema.TrailEntry{}
			require.Equal(t, tc.want, got)
		})
	}
}

func TestSummariseAndCompare(t *testing.T) {
	t.Parallel()
	items := entityItems()[:4]
	conf := func(c float64) *float64 { return &c }
	entry := func(us int64, c *float64) schema.TrailEntry {
		return schema.TrailEntry{Prompt: "p@1", LatencyUS: us, Calls: 1, TokensIn: 1000, TokensCached: 900, TokensOut: 20, Confidence: c}
	}
	first := []Answer{
		{Reached: true, Got: aligned, Right: true, Entry: entry(3e6, conf(0.9))},
		{Reached: true, Got: misaligned, Entry: entry(1e6, conf(0.6))},
		{Reached: true, Err: "judge_error: no", Entry: entry(2e6, nil)},
		{Missed: "entity-check: contradicted_claim"},
	}
	r := Summarise(schema.StageEntity, items, first, &cost.Price{In: 1, Cached: conf(0.1), Out: 2})
	require.Equal(t, []int{4, 3, 1, 1, 3}, []int{r.Items, r.Reached, r.Right, r.Errors, r.Calls})
	require.Equal(t, Tokens{3000, 2700, 60}, r.Tokens)
	require.InDelta(t, (300*1+2700*0.1+60*2)/1e6, *r.Cost, 1e-12)
	require.Equal(t, []float64{2, 3, 0.9, 0.6}, []float64{*r.P50Seconds, *r.MaxSeconds, *r.ConfidenceRight, *r.ConfidenceWrong})

	none := Summarise(schema.StageEntity, items[3:], first[3:], nil)
	require.Nil(t, none.P50Seconds, "what was not measured is no zero")
	require.Nil(t, none.ConfidenceRight)
	require.Nil(t, none.Cost, "what has no price has no cost")
	require.NotContains(t, NewReport("", "", nil, []StageReport{none}).P50Seconds, schema.StageEntity)

	second := append([]Answer{}, first...)
	second[1].Got = aligned
	f := Compare(items, first, second)
	require.Equal(t, 2, f.Pairs)
	require.Equal(t, []string{"second hop"}, f.Differ)
	require.InDelta(t, 0.5, *f.Rate, 0)
	second[0].Entry.CacheHit, second[1].Entry.CacheHit = true, true
	f = Compare(items, first, second)
	require.Equal(t, 2, f.Cached)
	require.Nil(t, f.Rate, "a cached verdict can't differ")
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	items := abstainItems()
	answers := make([]Answer, len(items))
	for i, item := range items {
		answers[i] = Answer{Reached: true, Got: item.Want, Right: i > 0, Entry: schema.TrailEntry{Prompt: "abstain-check@1"}}
	}
	r := NewReport("2026-01-02", "small", nil, []StageReport{Summarise(schema.StageAbstain, items, answers, nil)})
	require.NoError(t, Passed(r))
	text := Markdown(r)
	require.Contains(t, text, "| B | `abstain-check@1` | 15 of 16 |")
	require.Contains(t, text, "| B | 0 | 0.0 | 0.0 | - | 0 | 0 | 0 | - |")
	require.Contains(t, text, "Wrong ones: B *wife, other wording*.")
}

func TestPassed(t *testing.T) {
	t.Parallel()
	fine := StageReport{Stage: schema.StageQuote, Items: 16, Right: 9, Constant: 8}
	require.NoError(t, Passed(Report{Stages: []StageReport{fine}}))
	for want, change := range map[string]func(*StageReport){
		"no verdict":           func(s *StageReport) { s.Errors = 1 },
		"outside the evidence": func(s *StageReport) { s.Outside = 1 },
		"constant answer":      func(s *StageReport) { s.Right = 8 },
	} {
		s := fine
		change(&s)
		require.ErrorContains(t, Passed(Report{Stages: []StageReport{s}}), want)
	}
}

func TestFollow(t *testing.T) {
	t.Parallel()
	up := make(chan string, 1)
	last := follow(strings.NewReader("{\"msg\":\"NATS listens\",\"url\":\"nats://127.0.0.1:1\"}\nnot json\n{\"msg\":\"serving\"}\n{\"msg\":\"stopped\"}\n"), io.Discard, up)
	require.Equal(t, "nats://127.0.0.1:1", <-up)
	require.Equal(t, `{"msg":"stopped"}`, last)
}
