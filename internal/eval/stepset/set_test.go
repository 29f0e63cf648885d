package stepset_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/stepgap/stepgap/internal/eval/stepset"
	"github.com/stepgap/stepgap/pkg/schema"
)

const line = `{"id":"a","question_id":"q","question":"Who built the mill?","source":"hand","split":"dev","answer":"Ada","gold":["Ada Lunt"],"steps":[` +
	`{"kind":"search","query":"mill builder","claim":"Ada Lunt built the mill.","passages":[{"title":"Mill","text":"The mill was built by Ada Lunt."}],"label":"none","quote":"built by Ada Lunt","sure":3},` +
	`{"kind":"search","query":"Ada Lunt","text":"I found nothing.","passages":[{"text":"Ada Lunt was a mason."}]},` +
	`{"kind":"conclusion","claim":"Ada built the mill.","answer":"Ada","label":"none"}]}`

func read(t *testing.T, lines ...string) (stepset.Set, error) {
	t.Helper()
	return stepset.Read(strings.NewReader(strings.Join(lines, "\n")), "set.jsonl")
}

func TestRead(t *testing.T) {
	t.Parallel()
	set, err := read(t, "\xef\xbb\xbf"+line, "", strings.ReplaceAll(line, `"id":"a"`, `"id":"b"`))
	require.NoError(t, err)
	require.Len(t, set.Rollouts, 2)
	c := set.Count()
	require.Equal(t, 1, c.Questions)
	require.Equal(t, 4, c.Steps)
	require.Equal(t, 2, c.Context)
	require.Equal(t, map[schema.Gap]int{schema.GapNone: 4}, c.Labels)
	var ids []string
	for it := range set.Items() {
		ids = append(ids, it.ID)
	}
	require.Equal(t, []string{"a#1", "a#3", "b#1", "b#3"}, ids)
	require.Len(t, set.Part(stepset.SplitDev).Rollouts, 2)
	require.Empty(t, set.Part(stepset.SplitHeld).Rollouts)
}

func TestWhatIsWrongIsRefusedWithItsLine(t *testing.T) {
	t.Parallel()
	swap := func(old, new string) string {
		require.Contains(t, line, old)
		return strings.Replace(line, old, new, 1)
	}
	for name, c := range map[string]struct{ line, says string }{
		"unknown key":             {swap(`"sure"`, `"certain"`), `"certain" is not part of the format`},
		"no JSON":                 {`{"id":`, "not a rollout in JSON"},
		"two values":              {line + " {}", "each rollout stands on its own line"},
		"no id":                   {swap(`"id":"a"`, `"id":" "`), `"id" is missing`},
		"no question id":          {swap(`"question_id":"q",`, ``), `"question_id" is missing`},
		"no question":             {swap(`"Who built the mill?"`, `""`), `"question" is missing`},
		"no source":               {swap(`"source":"hand",`, ``), `"source" is missing`},
		"split":                   {swap(`"dev"`, `"train"`), `"split" is "train"; use "dev", "held"`},
		"kind":                    {swap(`"kind":"search"`, `"kind":"final"`), `steps[0]: "kind" is "final"; use "search" or "conclusion"`},
		"label":                   {swap(`"label":"none"`, `"label":"CC"`), `steps[0]: "label" is "CC"; use "none"`},
		"ungraded":                {swap(`"label":"none"`, `"label":"ungraded"`), `"label" is "ungraded"`},
		"sure":                    {swap(`"sure":3`, `"sure":4`), `"sure" is 4; use 1 to 3`},
		"quote in other words":    {swap(`"quote":"built by Ada Lunt"`, `"quote":"made by Ada Lunt"`), "stands in no passage"},
		"empty passage":           {swap(`"Ada Lunt was a mason."`, `" "`), `passages[0]: "text" is empty`},
		"conclusion with a query": {swap(`"kind":"conclusion",`, `"kind":"conclusion","query":"x",`), "steps[2]: a conclusion has no"},
		"answer at a search":      {swap(`"query":"mill builder"`, `"query":"mill builder","answer":"x"`), "only a conclusion has one"},
		"id twice":                {line, `"id" "a" stands on line 1 already`},
		"question in other words": {strings.Replace(swap(`"id":"a"`, `"id":"b"`), "the mill?", "it?", 1), `"question_id" "q" has another question on line 1`},
		"question in both splits": {strings.Replace(swap(`"id":"a"`, `"id":"b"`), `"dev"`, `"held"`, 1), `is in split "dev" on line 1`},
	} {
		_, err := read(t, line, c.line)
		require.ErrorContains(t, err, c.says, name)
		var at *stepset.LineError
		require.ErrorAs(t, err, &at, name)
		require.Equal(t, 2, at.Line, name)
		require.Equal(t, "set.jsonl", at.Source, name)
	}
}

func TestTranscriptIsWhatThePipelineTakes(t *testing.T) {
	t.Parallel()
	set, err := read(t, line)
	require.NoError(t, err)
	got, err := set.Rollouts[0].Transcript()
	require.NoError(t, err)
	require.Equal(t, "a", got.ID)
	require.Equal(t, "q", got.Group)
	require.Equal(t, "Ada", got.Answer)
	require.Equal(t, []string{"Ada Lunt"}, got.Gold)
	require.Len(t, got.Steps, 3)
	last := got.Steps[2]
	require.Equal(t, schema.KindConclusion, last.Kind)
	require.Len(t, last.Passages, 2)
	require.Equal(t, 1, last.Passages[0].ByStep)
	require.Equal(t, 2, last.Passages[1].ByStep)
	require.Equal(t, schema.PassageDigest("Mill", "The mill was built by Ada Lunt."), last.Passages[0].Digest)
	require.Equal(t, []schema.Prior{{Index: 1, Query: "mill builder", Claim: "Ada Lunt built the mill."}, {Index: 2, Query: "Ada Lunt"}}, last.History)
	for i := range got.Steps {
		s := got.Steps[i]
		s.Run, s.Rollout = "r", "a"
		require.NoError(t, s.Validate())
	}
}

// What is written reads back the same, and has the same hash.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	words := rapid.StringMatching(`[a-zA-Z<>&" é]{0,12}`)
	rapid.Check(t, func(t *rapid.T) {
		var set stepset.Set
		for i := range rapid.IntRange(0, 4).Draw(t, "rollouts") {
			r := stepset.Rollout{ID: fmt.Sprint("r", i), QuestionID: fmt.Sprint("q", i), Question: "Q" + words.Draw(t, "question"), Source: "s"}
			for range rapid.IntRange(1, 3).Draw(t, "steps") {
				r.Steps = append(r.Steps, stepset.Step{
					Kind: schema.KindSearch, Query: words.Draw(t, "query"), Claim: words.Draw(t, "claim"),
					Passages: []stepset.Passage{{Text: "T" + words.Draw(t, "text")}},
					Label:    rapid.SampledFrom([]schema.Gap{"", schema.GapNone, schema.GapMissingBridge}).Draw(t, "label"),
				})
			}
			set.Rollouts = append(set.Rollouts, r)
		}
		if err := set.Check(); err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := set.Write(&b); err != nil {
			t.Fatal(err)
		}
		again, err := stepset.Read(&b, "x")
		if err != nil {
			t.Fatal(err)
		}
		one, _ := set.Hash()
		two, _ := again.Hash()
		if one != two || len(again.Rollouts) != len(set.Rollouts) {
			t.Fatalf("%s is not %s", two, one)
		}
	})
}

func TestSaveAndOpen(t *testing.T) {
	t.Parallel()
	set, err := read(t, line)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "mine.jsonl")
	require.NoError(t, set.Save(path))
	again, err := stepset.Open(path)
	require.NoError(t, err)
	require.Equal(t, "mine", again.Name)
	require.Equal(t, set.Rollouts, again.Rollouts)
	_, err = stepset.Open(path + "x")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func data(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("STEPGAP_DATA")
	if folder == "" {
		t.Skip("STEPGAP_DATA is not set; it names the folder of public data that sets are built from")
	}
	return folder
}

func TestBuildIsRefusedWithoutDataOrName(t *testing.T) {
	t.Parallel()
	_, err := stepset.Build("", "musique")
	require.ErrorContains(t, err, "STEPGAP_DATA")
	_, err = stepset.Build(t.TempDir(), "nothing")
	require.ErrorContains(t, err, `no step set is called "nothing"; there are`)
	_, err = stepset.Build(t.TempDir(), "steps_dev")
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestStepsDev(t *testing.T) {
	t.Parallel()
	set, err := stepset.Build(data(t), "steps_dev")
	require.NoError(t, err)
	c := set.Count()
	require.Equal(t, map[schema.Gap]int{schema.GapNone: 65, schema.GapIrrelevant: 29, schema.GapContradicted: 29, schema.GapMissingBridge: 8}, c.Labels)
	require.Equal(t, 39, c.Rollouts)
	require.Equal(t, 39, c.Kinds[schema.KindConclusion])
	for got, err := range set.Transcripts() {
		require.NoError(t, err)
		require.NotEmpty(t, got.Steps)
	}
}
