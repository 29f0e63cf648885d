package transcript

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/stepgap/stepgap/pkg/schema"
)

const line = `{"id": "a", "question": "Who?", "steps": [{"think": "I look.", "query": "q", "passages": ["The mill is old."]}, {"answer": "x"}]}`

// gather reads a source to its end.
func gather(source io.Reader, opts Options) (ids []string, errs []error) {
	for r, err := range Decode(source, "log.jsonl", opts) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		ids = append(ids, fmt.Sprintf("%s@%d", r.ID, r.Line))
	}
	return ids, errs
}

func TestReader(t *testing.T) {
	t.Parallel()
	noID := strings.Replace(line, `"id": "a", `, "", 1)
	cases := map[string]struct {
		source string
		opts   Options
		ids    []string
		errs   []string
	}{
		"nothing":                     {source: " \n\n"},
		"lines, empty ones between":   {source: line + "\n\n" + line + "\n", ids: []string{"a@1", "a@3"}},
		"no newline at the end":       {source: line, ids: []string{"a@1"}},
		"names of its own":            {source: noID + "\n" + noID, ids: []string{"log-1@1", "log-2@2"}},
		"an array":                    {source: "[" + line + ",\n" + line + "]", ids: []string{"a@1", "a@2"}},
		"an empty array":              {source: "[]"},
		"an object over many lines":   {source: strings.ReplaceAll(line, `"question"`, "\n\"question\"") + "\n" + line, ids: []string{"a@1", "a@2"}},
		"a bad line is named":         {source: line + "\n{\"id\": \n" + line, ids: []string{"a@1", "a@3"}, errs: []string{"log.jsonl:2: "}},
		"a line that is no rollout":   {source: line + "\n{\"name\": 1}\n" + line, ids: []string{"a@1", "a@3"}, errs: []string{"log.jsonl:2: fields name: no rollout in any known format"}},
		"an array that breaks off":    {source: "[" + line + ",", ids: []string{"a@1"}, errs: []string{"log.jsonl:2: "}},
		"a line over the limit":       {source: line + "\n" + `{"id": "` + strings.Repeat("x", 4000) + "\"}\n" + line, opts: Options{MaxRecord: 1000}, ids: []string{"a@1", "a@3"}, errs: []string{"log.jsonl:2: record is too large"}},
		"an element over the limit":   {source: "[" + line + `, {"id": "` + strings.Repeat("x", 200_000) + `"}]`, opts: Options{MaxRecord: 1000}, ids: []string{"a@1"}, errs: []string{"record is too large"}},
		"text over the limit":         {source: "Question: Q?\nThought 1: a\n" + strings.Repeat("x", 4000) + "\nQuestion: R?\nThought 1: b\nAction 1: Finish[x]\n", opts: Options{MaxRecord: 1000}, ids: []string{"log-2@4"}, errs: []string{"log.jsonl:1: record is too large"}},
		"text that is no rollout":     {source: "Dear reader,\nthis is a letter.\n", errs: []string{"log.jsonl:1: "}},
		"steps without their queries": {source: `{"question": "Q?", "steps": [{"passages": ["x"]}]}`, errs: []string{"step 1 has passages but no query"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ids, errs := gather(strings.NewReader(c.source), c.opts)
			require.Equal(t, c.ids, ids, "%v", errs)
			require.Len(t, errs, len(c.errs), "%v", errs)
			for i, e := range c.errs {
				require.ErrorContains(t, errs[i], e)
			}
		})
	}
}

func TestReaderErrorsCanBeMatched(t *testing.T) {
	t.Parallel()
	_, errs := gather(strings.NewReader(line+"\n{}\n"+strings.Repeat("x", 2000)), Options{MaxRecord: 1000})
	require.Len(t, errs, 2)
	var record *RecordError
	require.True(t, errors.As(errs[0], &record))
	require.Equal(t, 2, record.Line)
	require.ErrorIs(t, errs[1], ErrTooLarge)
}

// A caller that has had enough ends the reading.
func TestReaderStops(t *testing.T) {
	t.Parallel()
	endless := io.MultiReader(strings.NewReader(line+"\n"+line+"\n"), neverEnds{})
	n := 0
	for _, err := range Decode(endless, "pipe", Options{}) {
		require.NoError(t, err)
		if n++; n == 2 {
			break
		}
	}
	require.Equal(t, 2, n)
}

// neverEnds is a source that must not be read.
type neverEnds struct{}

func (neverEnds) Read([]byte) (int, error) { panic("read on") }

func TestReaderReportsReadErrors(t *testing.T) {
	t.Parallel()
	broken := errors.New("disk gone")
	ids, errs := gather(io.MultiReader(strings.NewReader(line+"\n"), failing{broken}), Options{})
	require.Equal(t, []string{"a@1"}, ids)
	require.Len(t, errs, 1)
	require.ErrorIs(t, errs[0], broken)
	require.ErrorContains(t, errs[0], "log.jsonl")
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestOpen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(line), 0o600))
	rollouts, err := Open(path, Options{})
	require.NoError(t, err)
	n := 0
	for r, err := range rollouts {
		require.NoError(t, err)
		require.Equal(t, "a", r.ID)
		n++
	}
	require.Equal(t, 1, n)
	_, err = Open(path+".gone", Options{})
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Hostile sources cost time and memory in proportion to their size: each of
// these would take minutes if something looked at the rest of the text for
// every tag.
func TestHostileSources(t *testing.T) {
	t.Parallel()
	const n = 30_000
	for name, source := range map[string]string{
		"searches":          strings.Repeat("<search>a</search>", n),
		"blocks":            strings.Repeat("<information>", n),
		"search and block":  strings.Repeat("<search>a</search><information>", n),
		"answers":           strings.Repeat("<answer>a</answer>", n),
		"calls":             strings.Repeat("<tool_call>{", n),
		"questions":         strings.Repeat("Question: a\n", n),
		"thoughts":          strings.Repeat("Thought: a\n", n),
		"headers":           "<search>a</search><information>" + strings.Repeat("Doc 1(Title: \"", n) + "</information>",
		"one long sentence": "<think>" + strings.Repeat("the mill and the barn, but so ", n) + "</think><answer>a</answer>",
		"deep JSON":         `{"question": "q", "steps": [{"query": "a", "passages": ` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for r, err := range Decode(strings.NewReader("Question: q\n"+source), "hostile", Options{}) {
				if err == nil {
					require.LessOrEqual(t, len(r.Steps), schema.MaxIndex)
				}
			}
		})
	}
}

func TestSafeID(t *testing.T) {
	t.Parallel()
	require.Equal(t, "a_B-9", SafeID("a_B-9"))
	require.NotEqual(t, SafeID("set/1"), SafeID("set-1"))
	require.NotEqual(t, SafeID("set/1"), SafeID("set.1"))
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		id := schema.StepID{Run: "r", Rollout: SafeID(name), Index: 1}
		if err := id.Check(); err != nil {
			t.Fatalf("%q: %v", name, err)
		}
	})
}

func TestRuneIndex(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Repeat(rapid.StringOf(rapid.RuneFrom([]rune("aé漢😀 \u200b"))).Draw(t, "text"), rapid.IntRange(1, 40).Draw(t, "times"))
		x := newRuneIndex(text)
		n := 0
		for at := range text {
			if got := x.at(at); got != n {
				t.Fatalf("byte %d of %q: %d code points, want %d", at, text, got, n)
			}
			n++
		}
		if got := x.at(len(text)); got != n {
			t.Fatalf("the end of %q: %d, want %d", text, got, n)
		}
	})
}
