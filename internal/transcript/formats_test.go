package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/pkg/schema"
)

// wantStep is what a step should hold.
type wantStep struct {
	kind   schema.Kind
	query  string
	claim  string
	titles []string // of its own passages, "" for none
	plan   string   // part of the plan
	answer string
}

const (
	searchStep = schema.KindSearch
	conclusion = schema.KindConclusion
)

func read(t *testing.T, file string) []*Rollout {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", file))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	var out []*Rollout
	for r, err := range Decode(f, file, Options{}) {
		require.NoError(t, err)
		sound(t, r)
		out = append(out, r)
	}
	return out
}

func decode(t *testing.T, text string) *Rollout {
	t.Helper()
	all := decodeAll(t, text)
	require.Len(t, all, 1)
	return all[0]
}

func decodeAll(t *testing.T, text string) []*Rollout {
	t.Helper()
	var out []*Rollout
	for r, err := range Decode(strings.NewReader(text), "test.txt", Options{}) {
		require.NoError(t, err)
		sound(t, r)
		out = append(out, r)
	}
	return out
}

func compare(t *testing.T, r *Rollout, want []wantStep) {
	t.Helper()
	require.Len(t, r.Steps, len(want), "%+v\n%v", r.Steps, r.Warnings)
	for i, w := range want {
		s := &r.Steps[i]
		require.Equal(t, w.kind, s.Kind, "step %d", i+1)
		require.Equal(t, w.query, s.Query, "step %d", i+1)
		require.Equal(t, w.claim, s.Claim, "step %d", i+1)
		require.Equal(t, w.answer, s.Answer, "step %d", i+1)
		require.Contains(t, s.Plan, w.plan, "step %d", i+1)
		var titles []string
		for _, p := range s.Own() {
			titles = append(titles, p.Title)
		}
		require.Equal(t, w.titles, titles, "step %d", i+1)
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		file     string
		nth      int
		total    int
		format   Format
		question string
		answer   string
		gold     []string
		correct  string
		want     []wantStep
		warnings []WarningCode
	}{
		"search-r1": {
			file: "search-r1.txt", total: 2, format: FormatSearchR1, question: "who built the mill at Oakford?", answer: "Silas Crane",
			want: []wantStep{
				{kind: searchStep, query: "mill at Oakford builder", claim: "The mill was built by Silas Crane.", titles: []string{"Oakford Mill", "Crane (surname)"}, plan: "I need to search"},
				{kind: conclusion, claim: "Silas Crane built the mill at Oakford.", answer: "Silas Crane"},
			},
		},
		"search-r1, nothing found": {
			file: "search-r1.txt", nth: 1, total: 2, format: FormatSearchR1, question: "when did Silas Crane die?", answer: "1870",
			want: []wantStep{
				{kind: searchStep, query: "Silas Crane death"},
				{kind: conclusion, claim: "Silas Crane died in 1870.", answer: "1870"},
			},
			warnings: []WarningCode{WarnNoEvidence},
		},
		"r1-searcher": {
			file: "r1-searcher.jsonl", total: 2, format: FormatR1Searcher, question: "Where was the composer of Night Ferry born?", answer: "Ribe", gold: []string{"Ribe"}, correct: "yes",
			want: []wantStep{
				{kind: searchStep, query: "composer of Night Ferry", claim: "Night Ferry was composed by Ellen Brandt.", titles: []string{"Night Ferry", "Ferry"}},
				{kind: searchStep, query: "Ellen Brandt birthplace", claim: "Ellen Brandt was born in Ribe.", titles: []string{"Ellen Brandt"}, plan: "Determine where Ellen Brandt was born."},
				{kind: conclusion, claim: "The composer of Night Ferry was born in Ribe.", answer: "Ribe"},
			},
		},
		"r1-searcher, no search": {
			file: "r1-searcher.jsonl", nth: 1, total: 2, format: FormatSearchR1, question: "What is two and two?", answer: "four", gold: []string{"four"}, correct: "no",
			want: []wantStep{
				{kind: searchStep, claim: "Two and two are four."},
				{kind: conclusion, claim: "Two and two is four.", answer: "four"},
			},
		},
		"research": {
			file: "research.txt", total: 1, format: FormatReSearch, question: "who wrote The Apple Thief?", answer: "Mads Holm",
			want: []wantStep{
				{kind: searchStep, query: "The Apple Thief play author", claim: "The Apple Thief was written by Mads Holm.", titles: []string{"The Apple Thief", "Odense"}},
				{kind: conclusion, claim: "Mads Holm wrote The Apple Thief.", answer: "Mads Holm"},
			},
		},
		"autorefine": {
			file: "autorefine.txt", total: 1, format: FormatAutoRefine, question: "who wrote The Apple Thief?", answer: "Mads Holm",
			want: []wantStep{
				{kind: searchStep, query: "The Apple Thief author", claim: "The Apple Thief is a play by Mads Holm.", titles: []string{"The Apple Thief"}},
				{kind: conclusion, claim: "Mads Holm wrote The Apple Thief.", answer: "Mads Holm"},
			},
		},
		"search-o1": {
			file: "search-o1.txt", total: 1, format: FormatSearchO1, question: "who wrote The Apple Thief?", answer: "Mads Holm",
			want: []wantStep{
				{kind: searchStep, query: "author of The Apple Thief", claim: "The Apple Thief was written by Mads Holm.", titles: []string{""}},
				{kind: searchStep, query: "Mads Holm plays", plan: "Let me check once more."},
				{kind: conclusion, claim: "The Apple Thief was written by Mads Holm.", answer: "Mads Holm"},
			},
			warnings: []WarningCode{WarnNoEvidence},
		},
		"react, numbered": {
			file: "react-numbered.txt", total: 2, format: FormatReAct, question: "Which is older, Oakford Mill or Larne Mill?", answer: "Larne Mill", gold: []string{"Larne Mill"}, correct: "yes",
			want: []wantStep{
				{kind: searchStep, query: "Oakford Mill", claim: "Oakford Mill was built in 1841.", titles: []string{""}},
				{kind: searchStep, query: "Larne Mill [Kent]", plan: "I need to search Larne Mill next."},
				{kind: searchStep, query: "Larne", claim: "Larne Mill was built in 1790. 1790 (Larne Mill) < 1841 (Oakford Mill).", titles: []string{""}},
				{kind: conclusion, claim: "Larne Mill is older.", answer: "Larne Mill"},
			},
			warnings: []WarningCode{WarnNoEvidence, WarnVerdict},
		},
		"react, numbered, second": {
			file: "react-numbered.txt", nth: 1, total: 2, format: FormatReAct, question: "Who built Larne Mill?", answer: "unknown", gold: []string{"Ann Crane"}, correct: "no",
			want: []wantStep{
				{kind: searchStep, query: "Larne Mill", titles: []string{""}},
				{kind: searchStep, query: "built", plan: "does not mention"},
				{kind: conclusion, answer: "unknown"},
			},
			warnings: []WarningCode{WarnNoEvidence, WarnVerdict},
		},
		"react, unnumbered": {
			file: "react-plain.json", total: 2, format: FormatReAct, question: "Who built Oakford Mill?", answer: "Silas Crane", correct: "yes",
			want: []wantStep{
				{kind: searchStep, query: "Oakford Mill builder"},
				{kind: searchStep, query: "who built the mill at Oakford", claim: "Silas Crane built Oakford Mill.", titles: []string{""}},
				{kind: conclusion, claim: "Silas Crane built Oakford Mill.", answer: "Silas Crane"},
			},
			warnings: []WarningCode{WarnNoEvidence, WarnVerdict},
		},
		"react, without a search": {
			file: "react-plain.json", nth: 1, total: 2, format: FormatReAct, question: "Is Kent a county?", answer: "Yes", correct: "no",
			want: []wantStep{
				{kind: searchStep, claim: "Kent is a county."},
				{kind: conclusion, claim: "Kent is a county.", answer: "Yes"},
			},
			warnings: []WarningCode{WarnVerdict},
		},
		"uala": {
			file: "uala.jsonl", total: 1, format: FormatReAct, question: "When was Oakford Mill built?", answer: "1841", gold: []string{"1841"}, correct: "yes",
			want: []wantStep{
				{kind: searchStep, query: "Oakford Mill", claim: "Oakford Mill was built in 1841.", titles: []string{""}},
				{kind: conclusion, claim: "Oakford Mill was built in 1841.", answer: "1841"},
			},
			warnings: []WarningCode{WarnVerdict},
		},
		"openai": {
			file: "openai.jsonl", total: 1, format: FormatChat, question: "Who built Oakford Mill?", answer: "Oakford Mill was built by Silas Crane.", gold: []string{"Silas Crane"},
			want: []wantStep{
				{kind: searchStep, query: "Oakford Mill builder", titles: []string{"Oakford Mill", "Oakford"}, plan: "I need to search for the mill."},
				{kind: conclusion, claim: "Oakford Mill was built by Silas Crane.", answer: "Oakford Mill was built by Silas Crane."},
			},
			warnings: []WarningCode{WarnOtherTool, WarnEnvironment},
		},
		"chatml": {
			file: "chatml.jsonl", total: 1, format: FormatChat, question: "Who built Oakford Mill?", answer: "Oakford Mill was built by **Silas Crane**.", gold: []string{"Silas Crane"},
			want: []wantStep{
				{kind: searchStep, query: "Oakford Mill builder; mill in Oakford", claim: "Oakford Mill was built by Silas Crane.", titles: []string{"Oakford Mill - Kent Mills", "Mills of Kent", "Oakford"}, plan: "I need to look for the mill."},
				{kind: conclusion, claim: "Oakford Mill was built by Silas Crane.", answer: "Oakford Mill was built by **Silas Crane**."},
			},
		},
		"normalized": {
			file: "normalized.jsonl", total: 1, format: FormatNormalized, question: "Who built Oakford Mill?", answer: "Silas Crane", gold: []string{"Silas Crane"}, correct: "yes",
			want: []wantStep{
				{kind: searchStep, query: "Oakford Mill", claim: "Oakford Mill was built by Silas Crane.", titles: []string{"Oakford Mill", "Oakford"}},
				{kind: searchStep, query: "Crane", plan: "I need to look up Crane."},
				{kind: conclusion, claim: "Silas Crane built Oakford Mill.", answer: "Silas Crane"},
			},
			warnings: []WarningCode{WarnNoEvidence, WarnVerdict},
		},
		"stepgap, simple": {
			file: "stepgap.jsonl", total: 2, format: FormatStepGap, question: "Who built Oakford Mill?", answer: "Silas Crane", gold: []string{"Silas Crane"},
			want: []wantStep{
				{kind: searchStep, query: "Oakford Mill", claim: "Oakford Mill was built by Silas Crane.", titles: []string{"Oakford Mill", ""}},
				{kind: conclusion, claim: "Silas Crane built Oakford Mill.", answer: "Silas Crane"},
			},
		},
		"stepgap, as on the wire": {
			file: "stepgap.jsonl", nth: 1, total: 2, format: FormatStepGap, question: "Who built Oakford Mill?", answer: "Silas Crane", gold: []string{"Silas Crane"}, correct: "no",
			want: []wantStep{
				{kind: searchStep, query: "Oakford Mill", claim: "Oakford Mill was built by Silas Crane.", titles: []string{"Oakford Mill"}},
				{kind: searchStep, query: "Silas Crane", claim: "Silas Crane was a miller.", titles: []string{"Oakford Mill", "Silas Crane"}},
				{kind: conclusion, claim: "Silas Crane built Oakford Mill.", answer: "Silas Crane"},
			},
			warnings: []WarningCode{WarnNoEvidence},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := read(t, c.file)
			require.Len(t, all, c.total)
			r := all[c.nth]
			require.Equal(t, c.format, r.Format)
			require.Equal(t, c.question, r.Question)
			require.Equal(t, c.answer, r.Answer)
			require.Equal(t, c.gold, r.Gold)
			verdict := ""
			if r.Correct != nil {
				verdict = map[bool]string{true: "yes", false: "no"}[*r.Correct]
			}
			require.Equal(t, c.correct, verdict)
			compare(t, r, c.want)
			var codes []WarningCode
			for _, w := range r.Warnings {
				if len(codes) == 0 || codes[len(codes)-1] != w.Code {
					codes = append(codes, w.Code)
				}
			}
			require.Equal(t, c.warnings, codes, "%v", r.Warnings)
		})
	}
}

func TestPassagesAreAsGiven(t *testing.T) {
	t.Parallel()
	r := read(t, "search-r1.txt")[0]
	own := r.Steps[0].Own()
	require.Equal(t, "Oakford Mill is a water mill in Kent. It was built by Silas Crane in 1841 and was called \"\"The Old Lady\"\" by the villagers.\nIt ground corn until 1950.", own[0].Text)
	require.Equal(t, "Crane is a surname &amp; a place name.", own[1].Text)

	r = read(t, "react-numbered.txt")[0]
	require.Equal(t, "Oakford Mill is a water mill in Kent. It was built in 1841.\nIt ground corn until 1950.", r.Steps[0].Own()[0].Text)
	require.Equal(t, "Larne Mill was built in 1790.", r.Steps[2].Own()[0].Text)
	require.Len(t, r.Steps[3].Earlier(), 2)
	require.Equal(t, []schema.Prior{
		{Index: 1, Query: "Oakford Mill", Claim: "Oakford Mill was built in 1841."},
		{Index: 2, Query: "Larne Mill [Kent]"},
	}, r.Steps[2].History)
}

// A document that is fetched again is the later step's own too, once; for the
// steps after, it is that of the step that fetched it first.
func TestFetchedAgain(t *testing.T) {
	t.Parallel()
	var p pile
	first := p.fetch(1, []document{{"A", "a"}, {"B", "b"}, {"A", "a"}})
	second := p.fetch(2, []document{{"B", "b"}, {"C", "c"}})
	third := p.fetch(3, nil)
	by := func(ps []schema.Passage) (out []int) {
		for _, p := range ps {
			out = append(out, p.ByStep)
		}
		return out
	}
	require.Equal(t, []int{1, 1}, by(first))
	require.Equal(t, []int{1, 2, 2}, by(second))
	require.Equal(t, []int{1, 1, 2}, by(third))
	require.Equal(t, schema.PassageDigest("A", "a"), first[0].Digest)
}
