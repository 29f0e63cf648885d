package transcript

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const fuzzLimit = 256 << 10

// fuzzed reads a source and checks what holds of every rollout. For running
// text it also checks that no passage holds a line that the source hasn't.
func fuzzed(t *testing.T, source string, format Format, running bool) {
	if len(source) > fuzzLimit {
		t.Skip("long enough")
	}
	valid := strings.ToValidUTF8(source, "\uFFFD")
	for r, err := range Decode(strings.NewReader(source), "fuzz", Options{Format: format, MaxRecord: fuzzLimit}) {
		if err != nil {
			var record *RecordError
			require.True(t, errors.As(err, &record), "%v", err)
			continue
		}
		sound(t, r)
		if !running {
			continue
		}
		for _, s := range r.Steps {
			for _, p := range s.Passages {
				for _, line := range strings.Split(p.Text, "\n") {
					if strings.Contains(valid, line) {
						continue
					}
					// a document in JSON is decoded
					require.Contains(t, valid, `{`, "invented evidence: %q", line)
				}
			}
		}
	}
}

func seeds(f *testing.F, patterns ...string) {
	f.Helper()
	for _, p := range patterns {
		files, err := filepath.Glob(filepath.Join("testdata", p))
		require.NoError(f, err)
		for _, file := range files {
			if info, err := os.Stat(file); err == nil && info.IsDir() {
				continue
			}
			b, err := os.ReadFile(file)
			require.NoError(f, err)
			f.Add(string(b))
		}
	}
}

// FuzzDecodeTags: Search-R1, R1-Searcher, ReSearch, AutoRefine, Search-o1.
func FuzzDecodeTags(f *testing.F) {
	seeds(f, "*.txt")
	for _, s := range []string{
		"<search>a</search><information>Doc 1(Title: \"T\") x", "<information>x</information>", "<search><search></search>",
		"</search></information></answer>", "<search>a<information>b</search>c</information>",
		"<|begin_of_query|>a<|begin_of_documents|>(1)T   x\n(2)U   y", "<tool_call>{\"name\":\"search\",\"arguments\":{}}</tool_call><tool_response>[{}]</tool_response>",
		"<|im_start|>user\nQuestion: q<|im_end|>\n<|im_start|>assistant\n<search>a</search>\n<|im_start|>user<information>x</information>",
		"<search>a</search><information>{\"result\":\"Doc 1: x\\nDoc 2: y\"}</information><answer>\\boxed{\\text{a}}</answer>",
		"My previous action is invalid. If I want to search, I should put the query between <search> and </search>.<answer>",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) { fuzzed(t, source, FormatSearchR1, true) })
}

// FuzzDecodeReAct: numbered and unnumbered, many to a file.
func FuzzDecodeReAct(f *testing.F) {
	seeds(f, "react-*.txt")
	for _, s := range []string{
		"Question: q\nThought 1: a\nAction 1: Search[b\nObservation 1: Invalid action\n", "Action: Search\nAction Input: {\"query\": \"x\"}\nObservation: y",
		"Observation: alone", "Action 1: Finish[]\nObservation 1: Answer is CORRECT\nCorrect answer:", "Thought: a Action 1: Lookup[x] Observation 1: (Result 1 / 2) z",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) { fuzzed(t, source, FormatReAct, true) })
}

// FuzzDecodeJSON: JSONL, arrays and objects of every kind.
func FuzzDecodeJSON(f *testing.F) {
	seeds(f, "*.json*")
	for _, s := range []string{
		`[`, `{"steps":[]}`, `[{"steps":[{"kind":"search","index":7,"history":[{"index":3}],"spans":[{"kind":"claim","start":-1,"end":9}]}]}]`,
		"{\n\"question\": \"q\",\n\"steps\": [{\"query\": \"a\", \"passages\": [null, 1, {\"text\": 2}]}]\n}", `{"messages":[{"role":"assistant","content":[{"text":"x"}]}]}`,
		`{"id":"\u0000\ud800","question":"q","steps":[{"think":"\ud800","query":"q"}]}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) { fuzzed(t, source, FormatAuto, false) })
}

// FuzzDecode: whatever there is, in whatever format it looks like.
func FuzzDecode(f *testing.F) {
	seeds(f, "*")
	f.Fuzz(func(t *testing.T, source string) { fuzzed(t, source, FormatAuto, false) })
}
