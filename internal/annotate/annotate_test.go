package annotate

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/stepgap/stepgap/internal/eval/interval"
	"github.com/stepgap/stepgap/internal/eval/metrics"
	"github.com/stepgap/stepgap/internal/eval/stepset"
	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/schema"
)

func TestNoLabelAndNoGoldAnswerIsShown(t *testing.T) {
	m, err := FromSet(stepset.Set{Rollouts: []stepset.Rollout{twoHops("r1", "A")}})
	require.NoError(t, err)
	require.Len(t, m.Tasks(), 2, "the step without a gold label is context")
	body, err := json.Marshal(m.Tasks())
	require.NoError(t, err)
	assert.NotContains(t, string(body), "SECRET")
	assert.NotContains(t, string(body), string(schema.GapContradicted))
	assert.NotContains(t, string(body), `"label"`)
	second := m.Tasks()[1]
	assert.Equal(t, []Earlier{{Query: "composer of A", Claim: "It was composed by Ellen Brandt."}}, second.Earlier)
	assert.Equal(t, []bool{false, true}, []bool{second.Passages[0].Own, second.Passages[1].Own})
}

func TestRolloutsAreTakenAsCheckReadsThem(t *testing.T) {
	records, err := transcript.Open("../../examples/rollouts.jsonl", transcript.Options{})
	require.NoError(t, err)
	steps := 0
	var all []*transcript.Rollout
	for r, err := range records {
		require.NoError(t, err)
		all = append(all, r)
		steps += len(r.Steps)
	}
	m, err := FromRollouts(rolloutsOf(all...))
	require.NoError(t, err)
	assert.Len(t, m.Tasks(), steps)
	assert.Empty(t, m.Skipped)
	set := m.Set()
	require.NoError(t, set.Check())
	i := 0
	for r, err := range set.Transcripts() {
		require.NoError(t, err)
		for j := range r.Steps {
			assert.Equal(t, all[i].Steps[j].Query, r.Steps[j].Query)
			assert.Equal(t, all[i].Steps[j].Claim, r.Steps[j].Claim)
		}
		i++
	}
}

func TestRolloutsThatCantBeLabelledAreNamed(t *testing.T) {
	good := &transcript.Rollout{ID: "good", Question: "Q?", Steps: []schema.Step{{Index: 1, Kind: schema.KindSearch, Query: "q"}}}
	m, err := FromRollouts(rolloutsOf(&transcript.Rollout{ID: "mute"}, good, &transcript.Rollout{ID: "bare", Question: "Q?"}))
	require.NoError(t, err)
	assert.Len(t, m.Tasks(), 1)
	require.Len(t, m.Skipped, 2)
	assert.Contains(t, m.Skipped[0], `"mute" has no question`)
	_, err = FromRollouts(rolloutsOf(good, good))
	assert.ErrorContains(t, err, `two rollouts have the id "good"`)
}

func TestEachAnnotatorHasAnOrderThatLasts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z]{1,6}#[1-9]`), 1, 30, rapid.ID).Draw(t, "ids")
		var tasks []Task
		for _, id := range ids {
			tasks = append(tasks, Task{Step: id})
		}
		seed := rapid.Uint64().Draw(t, "seed")
		got := Shuffled(tasks, "ann", seed)
		assert.ElementsMatch(t, tasks, got)
		slices.Reverse(tasks)
		assert.Equal(t, got, Shuffled(tasks, "ann", seed), "whatever order the source has")
		fewer := slices.DeleteFunc(slices.Clone(got), func(x Task) bool { return x.Step == ids[0] })
		rest := slices.DeleteFunc(slices.Clone(tasks), func(x Task) bool { return x.Step == ids[0] })
		assert.Equal(t, fewer, Shuffled(rest, "ann", seed), "steps that are added move no others")
	})
	var tasks []Task
	for i := range 50 {
		tasks = append(tasks, Task{Step: StepID("r", i)})
	}
	assert.NotEqual(t, Shuffled(tasks, "ann", 1), Shuffled(tasks, "ben", 1))
	assert.NotEqual(t, Shuffled(tasks, "ann", 1), Shuffled(tasks, "ann", 2))
}

func TestAJournalGoesOnAfterACrash(t *testing.T) {
	folder := t.TempDir()
	m := material(t, twoHops("r1", "A"))
	j, err := OpenJournal(folder, "ann", 7)
	require.NoError(t, err)
	s := NewSession(m, j, clock)
	first, err := s.View(-1)
	require.NoError(t, err)
	next, err := s.Decide(Decision{Step: first.Task.Step, Digest: first.Task.Digest, Choice: Choice(schema.GapNone)})
	require.NoError(t, err)
	assert.Equal(t, 1, next.Done)

	_, err = OpenJournal(folder, "ann", 7)
	require.ErrorIs(t, err, ErrBusy)
	require.NoError(t, j.Close())
	_, err = OpenJournal(folder, "ann", 8)
	require.ErrorContains(t, err, "begun with the seed 7")

	// The crash cuts a line off.
	path := filepath.Join(folder, "ann"+journalSuffix)
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, append(whole, `{"at":"2026-`...), 0o644))
	people, err := ReadJournals(folder)
	require.NoError(t, err)
	assert.Len(t, people[0].Decisions, 1)
	j, err = OpenJournal(folder, "ann", 7)
	require.NoError(t, err)
	s = NewSession(m, j, clock)
	view, err := s.View(-1)
	require.NoError(t, err)
	assert.Equal(t, 1, view.Done)
	assert.Equal(t, next.Task.Step, view.Task.Step)
	_, err = s.Decide(Decision{Step: view.Task.Step, Digest: view.Task.Digest, Choice: Unsure})
	require.NoError(t, err)
	require.NoError(t, j.Close())
	body, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, 3, strings.Count(string(body), "\n"))
	assert.True(t, strings.HasPrefix(string(body), string(whole)), "nothing that stood is altered")
}

func TestJournalsThatAreNoneAreRefused(t *testing.T) {
	for name, body := range map[string]string{
		"no journal":    "{}\n",
		"no json":       "hello\n",
		"no choice":     `{"stepgap_annotations":1,"annotator":"ann","seed":1}` + "\n" + `{"step":"a#1","choice":"perhaps"}` + "\n",
		"later version": `{"stepgap_annotations":2}` + "\n",
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(folder, "ann"+journalSuffix), []byte(body), 0o644))
			_, err := OpenJournal(folder, "ann", 1)
			require.ErrorContains(t, err, "ann"+journalSuffix+":")
			_, err = ReadJournals(folder)
			require.Error(t, err)
		})
	}
	_, err := OpenJournal(t.TempDir(), "../ann", 1)
	require.ErrorContains(t, err, "annotator's name")
	_, err = ReadJournals(t.TempDir())
	require.ErrorIs(t, err, os.ErrNotExist)
}

func TestADecisionHoldsForItsContentAlone(t *testing.T) {
	folder := t.TempDir()
	m := material(t, twoHops("r1", "A"))
	label(t, folder, "ann", m, map[string]Choice{"r1#1": "none", "r1#2": "none"})
	other := twoHops("r1", "A")
	other.Steps[1].Claim = "She was born in Ribe."
	changed := material(t, other)
	j, err := OpenJournal(folder, "ann", 1)
	require.NoError(t, err)
	defer j.Close()
	s := NewSession(changed, j, clock)
	view, err := s.View(-1)
	require.NoError(t, err)
	// Step 3 shows the claim of step 2, and was never decided.
	assert.Equal(t, 1, view.Done)
	people, err := ReadJournals(folder)
	require.NoError(t, err)
	assert.Equal(t, 1, Export(changed, people, 1, "").Stale)
}

func TestAgreementIsKappaOfTheStepsThatBothLabelled(t *testing.T) {
	folder := t.TempDir()
	m := material(t, twoHops("r1", "A"), twoHops("r2", "B"))
	label(t, folder, "ann", m, map[string]Choice{"r1#1": "none", "r1#2": "contradicted_claim", "r1#3": "none", "r2#1": "none", "r2#2": "unsure", "r2#3": "missing_bridge"})
	label(t, folder, "ben", m, map[string]Choice{"r1#1": "none", "r1#2": "contradicted_claim", "r1#3": "missing_bridge", "r2#1": "none", "r2#2": "none"})
	people, err := ReadJournals(folder)
	require.NoError(t, err)
	all, err := Between(t.Context(), m, people)
	require.NoError(t, err)
	require.Len(t, all, 1)
	got := all[0]
	assert.Equal(t, []any{"ann", "ben", 4, 2, 1}, []any{got.First, got.Second, got.Steps, got.Questions, got.Unsure})
	// Observed 3/4; by chance (3*2 + 1*1 + 0*1) / 16.
	assert.InDelta(t, (0.75-7.0/16)/(1-7.0/16), *got.Kappa.Value, 1e-12)
	assert.InDelta(t, 0.75, *got.Accuracy.Value, 1e-12)
	assert.Equal(t, 1, got.Summary.Confusion[0][3])

	tree := Labels{"r1#1": "none", "r1#2": "ungraded", "r1#3": "none", "elsewhere#1": "none"}
	against, err := Against(t.Context(), m, people, "tree", tree)
	require.NoError(t, err)
	require.Len(t, against, 2)
	assert.Equal(t, 3, against[0].Steps)
	assert.Equal(t, 1, against[0].Summary.Ungraded)

	none, err := Against(t.Context(), m, people, "tree", Labels{})
	require.NoError(t, err)
	assert.Nil(t, none[0].Kappa.Value)
	assert.Equal(t, metrics.Empty, none[0].Kappa.Reason)
	assert.Empty(t, none[0].Kappa.Method, interval.Method(""))
}

func TestExportTakesWhatPeopleAgreeOn(t *testing.T) {
	folder := t.TempDir()
	m := material(t, twoHops("r1", "A"), twoHops("r2", "B"))
	label(t, folder, "ann", m, map[string]Choice{"r1#1": "none", "r1#2": "contradicted_claim", "r1#3": "none", "r2#1": "unsure", "r2#2": "none"})
	label(t, folder, "ben", m, map[string]Choice{"r1#1": "none", "r1#2": "missing_bridge", "r1#3": "none", "r2#1": "unsure"})
	people, err := ReadJournals(folder)
	require.NoError(t, err)
	got := Export(m, people, 2, "")
	assert.Equal(t, []int{2, 0, 2}, []int{got.Agreed, got.Adjudicated, got.TooFew})
	require.Len(t, got.Disputes, 2)
	assert.Equal(t, "r1#2", got.Disputes[0].Step)
	assert.Equal(t, Choice("missing_bridge"), got.Disputes[0].Votes["ben"].Choice)
	assert.Equal(t, "r2#1", got.Disputes[1].Step, "two who are unsure agree on no label")
	require.Len(t, got.Set.Rollouts, 1, "a rollout without any label is left out")
	require.NoError(t, got.Set.Check())
	var labels []schema.Gap
	for it := range got.Set.Items() {
		labels = append(labels, it.Step.Label)
	}
	assert.Equal(t, []schema.Gap{"none", "none"}, labels)

	var list strings.Builder
	require.NoError(t, json.NewEncoder(&list).Encode(got.Disputes[0]))
	steps, err := ReadDisputes(strings.NewReader(list.String()))
	require.NoError(t, err)
	some := material(t, twoHops("r1", "A"))
	require.NoError(t, some.Only(steps))
	require.Len(t, some.Tasks(), 1)
	assert.Equal(t, m.Tasks()[1], some.Tasks()[0])
	require.ErrorContains(t, some.Only([]string{"r2#1"}), "none of these files")
	_, err = ReadDisputes(strings.NewReader("{}"))
	require.Error(t, err)

	label(t, folder, "cleo", m, map[string]Choice{"r1#2": "contradicted_claim", "r2#1": "irrelevant_evidence"})
	people, err = ReadJournals(folder)
	require.NoError(t, err)
	settled := Export(m, people, 2, "cleo")
	assert.Equal(t, []int{2, 2, 0}, []int{settled.Agreed, settled.Adjudicated, len(settled.Disputes)})
	path := filepath.Join(t.TempDir(), "set.jsonl")
	require.NoError(t, settled.Set.Save(path))
	back, err := stepset.Open(path)
	require.NoError(t, err)
	assert.Equal(t, 4, back.Count().Steps)
}

func TestAnyTwoJournalsGiveASoundSet(t *testing.T) {
	m := material(t, twoHops("r1", "A"), twoHops("r2", "B"))
	choices := rapid.SampledFrom([]Choice{"none", "contradicted_claim", "irrelevant_evidence", "missing_bridge", Unsure, ""})
	rapid.Check(t, func(t *rapid.T) {
		var people []Person
		for _, name := range []string{"ann", "ben", "cleo"} {
			p := Person{Name: name, Decisions: map[string]Entry{}}
			for _, task := range m.Tasks() {
				if c := choices.Draw(t, "choice"); c != "" {
					p.Decisions[task.Step] = Entry{Step: task.Step, Digest: task.Digest, Choice: c}
				}
			}
			people = append(people, p)
		}
		got := Export(m, people, rapid.IntRange(1, 2).Draw(t, "least"), rapid.SampledFrom([]string{"", "cleo"}).Draw(t, "adjudicator"))
		assert.Equal(t, len(m.Tasks()), got.Agreed+got.Adjudicated+len(got.Disputes)+got.TooFew)
		assert.Equal(t, got.Agreed+got.Adjudicated, got.Set.Count().Steps)
		require.NoError(t, got.Set.Check())
	})
}

func TestLabelsOfCheckAreRead(t *testing.T) {
	labels, err := ReadLabels(strings.NewReader(`{"source":"r 1","steps":[{"index":1,"label":"none","judge":"x"},{"index":2,"label":"ungraded"}]}` + "\n"))
	require.NoError(t, err)
	assert.Equal(t, Labels{"r 1#1": "none", "r 1#2": "ungraded"}, labels)
	for _, bad := range []string{"{", `{"steps":[]}`, `{"source":"a","steps":[{"index":1,"label":"fine"}]}`} {
		_, err := ReadLabels(strings.NewReader(bad))
		require.Error(t, err)
	}
}
