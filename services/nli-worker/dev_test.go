package nliworker_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"

	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
	"github.com/stretchr/testify/require"
)

// devRollout is a line of labelled/steps_dev.jsonl.
type devRollout struct {
	ID       string
	Question string
	Steps    []struct {
		Kind, Query, Claim, Label, Quote string
		Docs                             []string
		Abstains                         bool
		Sure                             int
	}
}

// devItem is a step with the label that annotators gave it, as D or E sees it
// when the stages before it do their work as the annotators did.
type devItem struct {
	id    string
	item  *tree.Item
	label schema.Gap
	local bool
}

func devPassage(doc string, step int) schema.Passage {
	p := schema.Passage{Text: doc, ByStep: step}
	if rest, ok := strings.CutPrefix(doc, "Title: "); ok {
		if title, text, ok := strings.Cut(rest, " Text: "); ok {
			p.Title, p.Text = title, strings.TrimSpace(text)
		}
	} else if title, text, ok := strings.Cut(doc, "\n"); ok && len(title) < 80 {
		p.Title, p.Text = title, text
	} else if title, text, ok := strings.Cut(doc, "   "); ok && len(title) < 80 {
		p.Title, p.Text = title, text
	}
	p.Digest = fmt.Sprintf("%s|%.80s", p.Title, p.Text)
	return p
}

func devQuote(text string, passages []schema.Passage) []schema.Quote {
	if text == "" {
		return nil
	}
	for _, p := range passages {
		if at := strings.Index(p.Text, text); at >= 0 {
			start := len([]rune(p.Text[:at]))
			return []schema.Quote{{Passage: p.Digest, Title: p.Title, ByStep: p.ByStep, Text: text,
				Start: start, End: start + len([]rune(text)), Match: schema.MatchExact}}
		}
	}
	return nil
}

func readDev(t *testing.T) []devItem {
	t.Helper()
	if testing.Short() {
		t.Skip("a measure on a data set; left out with -short")
	}
	data := os.Getenv("STEPGAP_DATA")
	if data == "" {
		t.Skip("STEPGAP_DATA is not set")
	}
	f, err := os.Open(filepath.Join(data, "labelled", "steps_dev.jsonl"))
	require.NoError(t, err)
	defer f.Close()
	var out []devItem
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var r devRollout
		require.NoError(t, json.Unmarshal(lines.Bytes(), &r))
		var passages []schema.Passage
		var history []schema.Prior
		earlier := map[int]*schema.Label{}
		for i, s := range r.Steps {
			index := i + 1
			for _, d := range s.Docs {
				if strings.HasPrefix(d, "Could not find") || strings.HasPrefix(d, "Similar:") || strings.HasPrefix(d, "No more results") {
					continue // a search miss is no evidence
				}
				passages = append(passages, devPassage(d, index))
			}
			step := &schema.Step{Run: "dev", Rollout: "r", Index: index, Kind: schema.KindSearch, Question: r.Question,
				Claim: s.Claim, Query: s.Query, Passages: append([]schema.Passage(nil), passages...), History: append([]schema.Prior(nil), history...)}
			quotes := devQuote(s.Quote, passages)
			item := &tree.Item{Step: step, Quotes: quotes}
			label := schema.Gap(s.Label)
			switch {
			case s.Kind == "final":
				step.Kind = schema.KindConclusion
				item.Quotes, item.Final = nil, true
				item.Earlier = make(map[int]*schema.Label)
				for k, v := range earlier {
					item.Earlier[k] = v
				}
				if s.Claim != "" {
					out = append(out, devItem{fmt.Sprint(r.ID, "#", index), item, label, false})
				}
			case s.Claim != "" && !s.Abstains && len(passages) > 0 && label != schema.GapIrrelevant:
				out = append(out, devItem{fmt.Sprint(r.ID, "#", index), item, label, true})
			}
			earlier[index] = &schema.Label{Index: index, Label: label, Quotes: quotes}
			history = append(history, schema.Prior{Index: index, Query: s.Query, Claim: s.Claim})
		}
	}
	require.NoError(t, lines.Err())
	return out
}

// tally runs a decider over items and returns how many labels were right, and
// the confusion as text.
func tally(t *testing.T, decider tree.Decider, items []devItem) (right int, confusion string) {
	t.Helper()
	got := make([]tree.Decision, len(items))
	var wg sync.WaitGroup
	slots := make(chan struct{}, 8)
	for i, it := range items {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			d, err := decider.Decide(t.Context(), it.item)
			if err != nil {
				t.Errorf("%s: %v", it.id, err)
			}
			got[i] = d
		})
	}
	wg.Wait()
	counts := map[string]int{}
	pairs := 0
	for i, it := range items {
		d := got[i]
		pairs += d.Entry.Calls
		if d.Gap == it.label {
			right++
		} else if testing.Verbose() {
			t.Logf("%s: %s, labelled %s (%s)\n  claim   %q\n  premise %q\n  %+v %s", it.id, d.Gap.Short(), it.label.Short(), d.Detail, d.Entry.Hypothesis, d.Entry.Premise, d.Entry.Scores, d.Entry.Outcome)
		}
		counts[it.label.Short()+" as "+d.Gap.Short()]++
	}
	var rows []string
	for k, n := range counts {
		rows = append(rows, fmt.Sprintf("%s: %d", k, n))
	}
	sort.Strings(rows)
	return right, fmt.Sprintf("%d of %d, %.1f pairs a step (%s)", right, len(items), float64(pairs)/float64(len(items)), strings.Join(rows, ", "))
}

// TestLabelledSteps prints how D and E do on real steps, given the annotators'
// quotes. It holds no bar but the floor of a coin: the set is small, and E
// can't give CC, which some of its steps carry.
func TestLabelledSteps(t *testing.T) {
	t.Parallel()
	items := readDev(t)
	scorer := realScorer(t)
	local, err := nliworker.NewLocal(scorer, nliworker.Defaults())
	require.NoError(t, err)
	cross, err := nliworker.NewCross(scorer, nliworker.Defaults())
	require.NoError(t, err)
	var ofD, ofE []devItem
	for _, it := range items {
		if it.local {
			ofD = append(ofD, it)
		} else if it.label != schema.GapContradicted {
			ofE = append(ofE, it)
		}
	}
	right, confusion := tally(t, local, ofD)
	t.Logf("stage D: %s", confusion)
	require.Greater(t, 2*right, len(ofD))
	right, confusion = tally(t, cross, ofE)
	t.Logf("stage E: %s", confusion)
	require.Greater(t, 2*right, len(ofE))
}
