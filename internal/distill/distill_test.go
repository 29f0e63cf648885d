package distill

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/stepgap/stepgap/internal/check"
	"github.com/stepgap/stepgap/internal/runlog"
	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/client"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
)

const mill = `{"id":"a","question_id":"mill","question":"Who built the mill?","source":"hand","split":"dev","steps":[` +
	`{"kind":"search","query":"mill builder","claim":"Ada Lunt built the mill.","passages":[{"title":"Mill","text":"The mill was built by Ada Lunt. It has a wheel."}],"label":"none","quote":"The mill was built by Ada Lunt."},` +
	`{"kind":"search","query":"Ada Lunt","claim":"Ada Lunt was a baker.","passages":[{"title":"Ada Lunt","text":"Ada Lunt was a mason."}],"label":"contradicted_claim"},` +
	`{"kind":"conclusion","claim":"Ada Lunt built the mill.","answer":"Ada Lunt"}]}`

func fileOf(t *testing.T, name string, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	return path
}

func gapsOf(examples []Example) map[string]schema.Gap {
	out := map[string]schema.Gap{}
	for _, e := range examples {
		out[e.ID] = e.Verdict.Label
	}
	return out
}

func TestAStepSetTeachesByItsOwnLabels(t *testing.T) {
	t.Parallel()
	held := strings.NewReplacer(`"id":"a"`, `"id":"h"`, `"split":"dev"`, `"split":"held"`, "Who built the mill?", "Who built the dam?", `"mill"`, `"dam"`).Replace(mill)
	path := fileOf(t, "set.jsonl", mill, held)
	got, c, err := Examples(Options{Files: []string{path}})
	require.NoError(t, err)
	require.Equal(t, map[string]schema.Gap{"a#1": schema.GapNone, "a#2": schema.GapContradicted}, gapsOf(got))
	require.Equal(t, Counts{Rollouts: 2, Steps: 6, Taken: 2, Held: 3, Unlabelled: 1, Questions: 1}, c)
	require.Equal(t, "The mill was built by Ada Lunt.", got[0].Verdict.Quote)
	require.Len(t, got[1].Step.Passages, 2, "passages stay in view")

	all, c, err := Examples(Options{Files: []string{path}, Held: true})
	require.NoError(t, err)
	require.Len(t, all, 4)
	require.Zero(t, c.Held)
}

// result is what check prints of the rollout above.
func result(labels ...schema.Gap) string {
	r := check.Result{Run: "r", Rollout: "a", Source: "a", Question: "Who built the mill?"}
	for i, l := range labels {
		sure := 0.9 - 0.3*float64(i)
		s := check.StepResult{Index: i + 1, Label: l, Quote: "a quote", Trail: []schema.TrailEntry{
			{Stage: schema.StageEntity, Outcome: "aligned", Judge: "llm"},
			{Stage: schema.StageLocal, Outcome: "neutral", Judge: "nli", Model: "m@1", Scores: &schema.Scores{Neutral: sure, Entailment: 1 - sure}},
		}}
		if i == 2 {
			s.Trail = s.Trail[:1]
		}
		r.Steps = append(r.Steps, s)
	}
	b, _ := json.Marshal(r)
	return string(b)
}

func labelsOf(t *testing.T, lines ...string) *Labels {
	t.Helper()
	l := &Labels{}
	require.NoError(t, l.Read(strings.NewReader(strings.Join(lines, "\n"))))
	return l
}

func TestFiltersByConfidenceAndAgreement(t *testing.T) {
	t.Parallel()
	path := fileOf(t, "set.jsonl", mill)
	const none, bridge, ungraded = schema.GapNone, schema.GapMissingBridge, schema.GapUngraded
	for name, c := range map[string]struct {
		teacher, second []schema.Gap
		least           float64
		want            map[string]schema.Gap
		counts          Counts
	}{
		"all":               {[]schema.Gap{none, bridge, none}, nil, 0, map[string]schema.Gap{"a#1": none, "a#2": bridge, "a#3": none}, Counts{Taken: 3}},
		"ungraded":          {[]schema.Gap{none, ungraded, none}, nil, 0, map[string]schema.Gap{"a#1": none, "a#3": none}, Counts{Taken: 2, Ungraded: 1}},
		"sure":              {[]schema.Gap{none, bridge, none}, nil, 0.8, map[string]schema.Gap{"a#1": none}, Counts{Taken: 1, Unsure: 1, NoTelling: 1}},
		"agreed":            {[]schema.Gap{none, bridge, none}, []schema.Gap{none, none, ungraded}, 0, map[string]schema.Gap{"a#1": none}, Counts{Taken: 1, Disagreed: 1, NoSecond: 1}},
		"a shorter teacher": {[]schema.Gap{none}, nil, 0, map[string]schema.Gap{"a#1": none}, Counts{Taken: 1, Unlabelled: 2}},
	} {
		o := Options{Files: []string{path}, Teacher: labelsOf(t, result(c.teacher...)), MinConfidence: c.least}
		if c.second != nil {
			o.Second = labelsOf(t, result(c.second...))
		}
		got, counts, err := Examples(o)
		require.NoError(t, err)
		require.Equal(t, c.want, gapsOf(got), name)
		c.counts.Rollouts, c.counts.Steps, c.counts.Questions = 1, 3, 1
		require.Equal(t, c.counts, counts, name)
	}
}

func TestTwoTeachersAreNotMixed(t *testing.T) {
	t.Parallel()
	err := (&Labels{}).Read(strings.NewReader(result(schema.GapNone) + "\n" + result(schema.GapContradicted)))
	require.ErrorContains(t, err, "two teachers")
}

func TestLabelsOfARunAreFoundByTheStepsDigest(t *testing.T) {
	t.Parallel()
	path := fileOf(t, "set.jsonl", mill)
	records, err := transcript.Open(path, transcript.Options{})
	require.NoError(t, err)
	l := &Labels{}
	for rollout, err := range records {
		require.NoError(t, err)
		labels := map[int]*schema.Label{}
		for i := range rollout.Steps {
			s := rollout.Steps[i]
			s.Run, s.Rollout = "tuesday", "some-other-name"
			body, err := client.EncodeStep(&s)
			require.NoError(t, err)
			labels[s.Index] = &schema.Label{Run: s.Run, Rollout: s.Rollout, Index: s.Index, Digest: schema.Digest(body), Label: schema.GapIrrelevant}
		}
		require.NoError(t, l.Add(&runlog.Rollout{Reward: &schema.Reward{Run: "tuesday", Rollout: "some-other-name"}, Labels: labels}))
	}
	got, _, err := Examples(Options{Files: []string{path}, Teacher: l})
	require.NoError(t, err)
	require.Equal(t, map[string]schema.Gap{"a#1": schema.GapIrrelevant, "a#2": schema.GapIrrelevant, "a#3": schema.GapIrrelevant}, gapsOf(got))
}

func TestNoQuestionStandsInTwoSplits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(rt, "rollouts")
		questions := rapid.IntRange(1, 8).Draw(rt, "questions")
		var lines []string
		for i := range n {
			q := rapid.IntRange(0, questions-1).Draw(rt, "question")
			text := fmt.Sprintf("Who built mill %d?", q)
			if rapid.Bool().Draw(rt, "other wording") {
				text = fmt.Sprintf("who built   Mill %d", q)
			}
			id := ""
			if rapid.Bool().Draw(rt, "named") {
				id = fmt.Sprintf("q%d", q/2) // two questions that a set calls one
			}
			lines = append(lines, strings.NewReplacer(`"id":"a"`, fmt.Sprintf(`"id":"r%d"`, i), "Who built the mill?", text, `"question_id":"mill"`, fmt.Sprintf(`"question_id":%q`, id)).Replace(mill))
		}
		path := fileOf(t, "set.jsonl", lines...)
		teacher := &Labels{byPlace: map[place]Verdict{}}
		records, err := transcript.Open(path, transcript.Options{})
		require.NoError(t, err)
		for r, err := range records {
			require.NoError(t, err)
			for i := range r.Steps {
				teacher.byPlace[place{r.ID, r.Question, i + 1}] = Verdict{Label: schema.GapNone}
			}
		}
		shares, err := ParseShares("train=0.5,dev=0.25,test=0.25")
		require.NoError(t, err)
		got, _, err := Examples(Options{Files: []string{path}, Teacher: teacher, Shares: shares, Seed: 7})
		require.NoError(t, err)
		at := map[string]string{}
		for _, e := range got {
			key := wording(e.Step.Question)
			if before, ok := at[key]; ok {
				require.Equal(t, before, e.Split)
			}
			at[key] = e.Split
		}
	})
}

func TestSplitsFollowTheirShares(t *testing.T) {
	t.Parallel()
	counts := map[string]int{}
	for i := range 10_000 {
		split, err := splitOf(fmt.Sprint("group ", i), 1, DefaultShares())
		require.NoError(t, err)
		counts[split]++
	}
	require.InDelta(t, 8000, counts["train"], 200)
	require.InDelta(t, 1000, counts["dev"], 150)
	for _, bad := range []string{"", "train", "train=0.5", "train=0.5,train=0.5", "train=2", "a=0.5,b=0.6", "a=-1,b=2", "../x=1"} {
		_, err := ParseShares(bad)
		require.Error(t, err, bad)
	}
}

func read[T any](t *testing.T, path string) []T {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var out []T
	for line := range strings.Lines(string(data)) {
		var v T
		require.NoError(t, json.Unmarshal([]byte(line), &v))
		out = append(out, v)
	}
	return out
}

func TestPairsAreWhatTheStudentIsAsked(t *testing.T) {
	t.Parallel()
	examples, c, err := Examples(Options{Files: []string{fileOf(t, "set.jsonl", mill)}, Shares: []Share{{"train", 1}}})
	require.NoError(t, err)
	dir := filepath.Join(t.TempDir(), "out")
	m, err := Write(dir, examples, Manifest{Counts: c}, true)
	require.NoError(t, err)
	require.Equal(t, nliworker.StudentForm, m.Form)
	require.Equal(t, []string{GoldBy}, m.Teachers)
	pairs := read[Pair](t, filepath.Join(dir, PairsFile))
	require.Len(t, pairs, 2)
	for i, p := range pairs {
		premise, hypothesis := nliworker.StudentInput(examples[i].Step)
		require.Equal(t, Pair{premise, hypothesis, examples[i].Verdict.Label, examples[i].ID, examples[i].Question, "train"}, p)
	}
}

func TestChatsAreWhatSingleLLMIsAsked(t *testing.T) {
	t.Parallel()
	examples, c, err := Examples(Options{Files: []string{fileOf(t, "set.jsonl", mill)}, Shares: []Share{{"train", 1}}})
	require.NoError(t, err)
	var before []byte
	for range 2 {
		dir := filepath.Join(t.TempDir(), "out")
		m, err := Write(dir, examples, Manifest{Counts: c}, false)
		require.NoError(t, err)
		chats := read[Chat](t, filepath.Join(dir, ChatsFile("train")))
		require.Len(t, chats, 2)
		require.Equal(t, []string{"system", "user", "assistant"}, []string{chats[0].Messages[0].Role, chats[0].Messages[1].Role, chats[0].Messages[2].Role})
		require.Equal(t, `{"quote":"The mill was built by Ada Lunt.","label":"none"}`, chats[0].Messages[2].Content)
		require.Equal(t, `{"quote":"","label":"contradicted_claim"}`, chats[1].Messages[2].Content)
		require.Contains(t, chats[1].Messages[1].Content, "step 1 looked for: mill builder; found: Ada Lunt built the mill.")
		require.Contains(t, chats[0].Messages[1].Content, "<<passages\n[1] Mill\nThe mill was built by Ada Lunt. It has a wheel.\n")

		served, err := NewChats(filepath.Join(dir, PromptFolder))
		require.NoError(t, err, "the exported prompt is one that the judge takes")
		require.Equal(t, m.Prompt, served.PromptVersion())
		data, err := os.ReadFile(filepath.Join(dir, ChatsFile("train")))
		require.NoError(t, err)
		if before != nil {
			require.Equal(t, string(before), string(data), "the same input gives the same bytes")
		}
		before = data
	}
}

func TestNothingToTrainOnIsAnError(t *testing.T) {
	t.Parallel()
	_, err := Write(t.TempDir(), nil, Manifest{}, false)
	require.ErrorContains(t, err, "no step is left")
}

func TestConfidenceIsThatOfTheLeastSureJudge(t *testing.T) {
	t.Parallel()
	p := func(x float64) *float64 { return &x }
	scores := &schema.Scores{Entailment: 0.7, Neutral: 0.2, Contradiction: 0.1}
	for _, c := range []struct {
		trail []schema.TrailEntry
		want  *float64
	}{
		{nil, nil},
		{[]schema.TrailEntry{{Judge: "local"}}, nil},
		{[]schema.TrailEntry{{Confidence: p(0.9)}, {Judge: "local"}, {Confidence: p(0.8)}}, p(0.8)},
		{[]schema.TrailEntry{{Confidence: p(0.9)}, {Outcome: "entailment", Scores: scores}}, p(0.7)},
		{[]schema.TrailEntry{{Outcome: "contradiction", Scores: scores}}, p(0.1)},
		{[]schema.TrailEntry{{Outcome: "neutral", Scores: scores}}, p(0.2)},
		{[]schema.TrailEntry{{Outcome: "not_entailed", Scores: scores}}, p(0.3)},
	} {
		got := Confidence(c.trail)
		if c.want == nil {
			require.Nil(t, got)
			continue
		}
		require.InDelta(t, *c.want, *got, 1e-12)
	}
}
