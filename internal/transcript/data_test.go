package transcript

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/claim"
	"github.com/stepgap/stepgap/pkg/schema"
)

// data is the folder of public rollouts; tests that read it are skipped where
// it isn't there.
func data(t *testing.T, parts ...string) string {
	t.Helper()
	dir := os.Getenv("STEPGAP_DATA")
	if dir == "" {
		t.Skip("STEPGAP_DATA is not set: the public rollouts are not at hand")
	}
	return filepath.Join(append([]string{dir}, parts...)...)
}

// searches counts the searches of a file in its own way, by what its format
// writes for one.
var searches = []struct {
	pattern string
	re      *regexp.Regexp
}{
	{"r1searcher_*.jsonl", regexp.MustCompile(`<\|begin_of_query\|>`)},
	{"search_r1_*.txt", regexp.MustCompile(`(?m)^<search>`)},
	{"react_*", regexp.MustCompile(`Action(?: \d+)?: (?:[Ss]earch|[Ll]ookup|[Rr]etrieve)\[`)},
	{"toolcall_*.jsonl", regexp.MustCompile(`<tool_call>\\n{\\"name\\": \\"(?:search|visit)\\"`)},
	{"normalized.jsonl", regexp.MustCompile(`"action": "(?:search|lookup|retrieve)"`)},
}

func TestPublicRollouts(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(data(t, "rollouts", "raw", "*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	files = append(files, data(t, "rollouts", "normalized.jsonl"))
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			want := -1
			for _, s := range searches {
				if ok, _ := filepath.Match(s.pattern, filepath.Base(file)); ok {
					want = len(s.re.FindAll(raw, -1))
				}
			}
			require.Positive(t, want, "how does this format write a search?")
			rollouts, err := Open(file, Options{})
			require.NoError(t, err)
			n, steps, found, answered := 0, 0, 0, 0
			warnings := map[WarningCode]int{}
			for r, err := range rollouts {
				require.NoError(t, err)
				sound(t, r)
				n++
				steps += len(r.Steps)
				require.NotEmpty(t, r.Question)
				if r.Answer != "" {
					answered++
				}
				for _, s := range r.Steps {
					if s.Query != "" {
						found++
					}
					for _, p := range s.Passages {
						for _, no := range []string{"Answer is INCORRECT", "Answer is CORRECT", "Episode finished, reward", "Could not find [", "No more results.", "Invalid action:"} {
							require.NotContains(t, p.Text, no)
						}
					}
				}
				for _, w := range r.Warnings {
					warnings[w.Code]++
				}
			}
			require.Equal(t, want, found, "every search action is a step with a query")
			t.Logf("%d rollouts, %d steps, %d searches, %d answered, warnings %v", n, steps, found, answered, warnings)
			if filepath.Base(file) == "normalized.jsonl" {
				require.Equal(t, 585, n)
			}
		})
	}
}

// The real oddities: texts, lists of steps, and excerpts. None may crash the
// reader, and none may bring a verdict or a miss into the evidence.
func TestPublicOddities(t *testing.T) {
	t.Parallel()
	f, err := os.Open(data(t, "rollouts", "odd_cases.jsonl"))
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	kinds := map[string]int{}
	for lines.Scan() {
		var row struct{ Kind, Source, Text string }
		require.NoError(t, json.Unmarshal(lines.Bytes(), &row))
		kinds[row.Kind]++
		asSteps := row.Text
		if !strings.HasPrefix(asSteps, "[") {
			asSteps = "[" + asSteps + "]"
		}
		inEvidence, err := json.Marshal(map[string]any{"question": "Who?", "steps": []map[string]any{
			{"think": "I look.", "action": "search", "query": row.Text, "docs": []string{row.Text}},
			{"think": row.Text, "action": "answer", "query": row.Text, "docs": []string{row.Text}},
		}})
		require.NoError(t, err)
		for _, source := range []string{
			row.Text,
			"Question: Who?\n" + row.Text,
			`{"question": "Who?", "steps": ` + asSteps + `}`,
			string(inEvidence),
			"Question: Who?\n<search>" + row.Text + "</search>\n<information>" + row.Text + "</information>\n<answer>x</answer>",
			"Question: Who?\nThought 1: " + row.Text + "\nAction 1: Search[x]\nObservation 1: " + row.Text + "\n",
		} {
			for r, err := range Decode(strings.NewReader(source), "odd", Options{}) {
				if err != nil {
					continue // said, not crashed
				}
				sound(t, r)
			}
		}
	}
	require.NoError(t, lines.Err())
	require.Len(t, kinds, 23)
}

// Compare what code reads as claim and abstention with a model-annotated set.
// The figures are printed; there is no bar, and nothing is tuned to a row.
func TestAgreementWithAnnotatedSteps(t *testing.T) {
	t.Parallel()
	f, err := os.Open(data(t, "labelled", "steps_dev.jsonl"))
	require.NoError(t, err)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	var f1, finalF1 float64
	var steps, finals, exact, agree, quiet int
	confusion := map[[2]bool]int{}
	for lines.Scan() {
		var row struct {
			ID, Question string
			Steps        []struct {
				Kind, Query, After, Answer, Claim string
				Abstains                          bool
			}
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &row))
		for i, s := range row.Steps {
			if s.Kind == "final" {
				r := claim.Read(&schema.Step{Kind: schema.KindConclusion, Index: i + 1, Question: row.Question, Answer: s.Answer, Text: s.After})
				finalF1 += overlap(strings.Join(r.Claims, " "), s.Claim)
				finals++
				continue
			}
			r := claim.Read(&schema.Step{Kind: schema.KindSearch, Index: i + 1, Question: row.Question, Query: s.Query, Text: s.After})
			steps++
			got := strings.Join(r.Claims, " ")
			f1 += overlap(got, s.Claim)
			if (got == "") == (s.Claim == "" || s.Abstains) {
				agree++
			}
			if overlap(got, s.Claim) == 1 {
				exact++
			}
			if s.Claim == "" {
				quiet++
			}
			// the rubric's flag: abstains and claims nothing else that matters
			confusion[[2]bool{r.Abstains() && len(r.Claims) == 0, s.Abstains}]++
		}
	}
	require.NoError(t, lines.Err())
	require.Positive(t, steps)
	t.Logf("search steps: %d, claims' mean token F1 %.3f, identical tokens %d, claims or not alike %d; finals: %d, mean token F1 %.3f",
		steps, f1/float64(steps), exact, agree, finals, finalF1/float64(finals))
	t.Logf("abstaining only (read, annotated): both %d, read alone %d, annotated alone %d, neither %d",
		confusion[[2]bool{true, true}], confusion[[2]bool{true, false}], confusion[[2]bool{false, true}], confusion[[2]bool{false, false}])
}

// overlap is the F1 of the two texts' tokens.
func overlap(a, b string) float64 {
	ta, tb := strings.Fields(normal(a)), strings.Fields(normal(b))
	if len(ta) == 0 || len(tb) == 0 {
		if len(ta) == len(tb) {
			return 1
		}
		return 0
	}
	counts := map[string]int{}
	for _, t := range tb {
		counts[t]++
	}
	common := 0
	for _, t := range ta {
		if counts[t] > 0 {
			counts[t]--
			common++
		}
	}
	return 2 * float64(common) / float64(len(ta)+len(tb))
}

var rePunctuation = regexp.MustCompile(`[^\p{L}\p{N}\s]+`)

func normal(s string) string { return rePunctuation.ReplaceAllString(strings.ToLower(s), " ") }
