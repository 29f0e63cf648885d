package local

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/docblock/docblocktest"
	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/pkg/schema"
	abstaincheck "github.com/stepgap/stepgap/services/abstain-check"
	quoteextract "github.com/stepgap/stepgap/services/quote-extract"
)

// page is where the figures stand.
const page = "../../../docs/judges.md"

// dataFile returns the path of a file of the data folder, and skips the test
// where there is none.
func dataFile(t *testing.T, name string) string {
	t.Helper()
	dir := os.Getenv("STEPGAP_DATA")
	if dir == "" {
		t.Skip("STEPGAP_DATA is not set: no public data to measure on")
	}
	path := filepath.Join(dir, name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not in STEPGAP_DATA", name)
	}
	return path
}

type labelledStep struct {
	Kind, Query, After, Answer, Claim, Label, Quote string
	Docs                                            []string
	Abstains                                        bool
}

type labelledRollout struct {
	ID, Question string
	Steps        []labelledStep
}

func labelledRollouts(t *testing.T) []labelledRollout {
	t.Helper()
	f, err := os.Open(dataFile(t, "labelled/steps_dev.jsonl"))
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	var out []labelledRollout
	scanner := bufio.NewScanner(f)
	scanner.Buffer(nil, 16<<20)
	for scanner.Scan() {
		var r labelledRollout
		require.NoError(t, json.Unmarshal(scanner.Bytes(), &r))
		out = append(out, r)
	}
	require.NoError(t, scanner.Err())
	return out
}

// docPassages reads the spellings in which the data give titles, and drops
// search misses, which are no evidence.
func docPassages(docs []string, step int) []schema.Passage {
	var out []schema.Passage
	for i, d := range docs {
		d = strings.Trim(strings.ReplaceAll(d, `""`, `"`), "\" \n")
		if strings.HasPrefix(d, "Could not find") || strings.HasPrefix(d, "No more results") {
			continue
		}
		title, text := "", d
		if rest, ok := strings.CutPrefix(d, "Title: "); ok {
			title, text, _ = strings.Cut(rest, " Text:")
		} else if head, tail, ok := strings.Cut(d, "   "); ok && len(head) < 100 {
			title, text = head, tail
		}
		if text = strings.TrimSpace(text); text != "" {
			out = append(out, schema.Passage{Digest: fmt.Sprintf("%d-%d", step, i), Title: title, Text: text, ByStep: step})
		}
	}
	return out
}

func sentencesOf(text string) []string {
	var out []string
	for _, s := range evidence.Sentences(text) {
		out = append(out, s.In(text))
	}
	return out
}

// counts is a confusion of one yes-or-no question.
type counts struct{ tp, fn, tn, fp int }

func (c *counts) add(want, got bool) {
	switch {
	case want && got:
		c.tp++
	case want:
		c.fn++
	case got:
		c.fp++
	default:
		c.tn++
	}
}

func (c counts) String() string {
	return fmt.Sprintf("hit %d of %d, false alarms %d of %d", c.tp, c.tp+c.fn, c.fp, c.fp+c.tn)
}

// TestFiguresOnLabelledSteps prints how the rules do on labelled real steps. It
// has no bar: the rules are a floor.
func TestFiguresOnLabelledSteps(t *testing.T) {
	t.Parallel()
	ctx, j := t.Context(), New()
	verbose := testing.Verbose()
	var irrelevant, stated counts
	quoted, quotes := 0, 0
	for _, r := range labelledRollouts(t) {
		var passages []schema.Passage
		for i, s := range r.Steps {
			own := docPassages(s.Docs, i+1)
			all := append(append([]schema.Passage{}, own...), passages...)
			passages = append(passages, own...)
			if s.Kind == "final" {
				continue // E decides
			}
			if s.Abstains {
				got := false
				if len(all) > 0 {
					v, err := j.Stated(ctx, abstaincheck.Input{Question: r.Question, Query: s.Query, Sought: s.Query, Abstention: s.Claim, Passages: all})
					require.NoError(t, err)
					got = v.Stated
					if verbose && got != (s.Label == "contradicted_claim") {
						t.Logf("STATED got %v label %s | %q | q=%q | %s | %v", got, s.Label, s.Claim, s.Query, v.Meta.Detail, v.Quotes)
					}
				}
				stated.add(s.Label == "contradicted_claim", got)
				if got {
					continue
				}
			}
			want := s.Label == "irrelevant_evidence"
			if len(all) == 0 {
				irrelevant.add(want, true)
				continue
			}
			claims := sentencesOf(s.Claim)
			if s.Abstains {
				claims = nil
			}
			v, err := j.Extract(ctx, quoteextract.Input{Question: r.Question, Kind: schema.KindSearch, Query: s.Query, Claim: s.Claim, Claims: claims, Passages: all})
			require.NoError(t, err)
			irrelevant.add(want, !v.Relevant)
			if verbose && want == v.Relevant {
				t.Logf("RELEVANT got %v label %s | q=%q | claim=%q | %s", v.Relevant, s.Label, s.Query, s.Claim, v.Meta.Detail)
			}
			if s.Quote == "" || s.Abstains || want {
				continue
			}
			quotes++
			if overlaps(v.Quotes, s.Quote) {
				quoted++
			} else if verbose {
				t.Logf("QUOTE label %s | claim=%q\n   want %q\n   got  %q", s.Label, s.Claim, s.Quote, v.Quotes)
			}
		}
	}
	t.Logf("irrelevant evidence: %s", irrelevant)
	t.Logf("abstention although stated: %s", stated)
	t.Logf("deciding quote found: %d of %d", quoted, quotes)
	docblocktest.Holds(t, page, "local-stages", fmt.Sprintf("- irrelevant evidence: %s\n- an abstention although the fact is stated: %s\n- the deciding quote is the annotated one in %d of %d\n",
		irrelevant, stated, quoted, quotes))
}

// overlaps reports whether most of the words of want stand in one of the quotes.
func overlaps(quotes []string, want string) bool {
	tokens := uniqueTokens(want)
	for _, q := range quotes {
		if share(tokens, tokenSet(q)) >= 0.7 {
			return true
		}
	}
	return false
}
