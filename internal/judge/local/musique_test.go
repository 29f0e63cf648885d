package local

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/docblock/docblocktest"
	"github.com/stepgap/stepgap/pkg/schema"
	quoteextract "github.com/stepgap/stepgap/services/quote-extract"
)

type musique struct {
	Question   string
	Answer     string
	Paragraphs []struct {
		Title        string
		Text         string `json:"paragraph_text"`
		IsSupporting bool   `json:"is_supporting"`
		Idx          int
	}
	Hops []struct {
		Question string
		Answer   string
		Support  int `json:"paragraph_support_idx"`
	} `json:"question_decomposition"`
}

func musiques(t *testing.T) []musique {
	t.Helper()
	body, err := os.ReadFile(dataFile(t, "multihop/musique_100.json"))
	require.NoError(t, err)
	var out []musique
	require.NoError(t, json.Unmarshal(body, &out))
	return out
}

// hopQuestion puts earlier answers into a hop's question.
func (m musique) hopQuestion(i int) string {
	q := m.Hops[i].Question
	for k := range i {
		q = strings.ReplaceAll(q, fmt.Sprintf("#%d", k+1), m.Hops[k].Answer)
	}
	if subject, relation, ok := strings.Cut(q, ">>"); ok {
		q = fmt.Sprintf("What is the %s of %s?", strings.TrimSpace(relation), strings.TrimSpace(subject))
	}
	return q
}

func (m musique) passages(keep func(idx int) bool, most int) []schema.Passage {
	var out []schema.Passage
	for _, p := range m.Paragraphs {
		if keep(p.Idx) && len(out) < most {
			out = append(out, schema.Passage{Digest: fmt.Sprint(p.Idx), Title: p.Title, Text: p.Text, ByStep: 1})
		}
	}
	return out
}

// TestFiguresOnMusique prints how the rules do on steps made from MuSiQue: with
// the supporting paragraph the evidence is relevant and the quote should come
// from it, whether the claim's answer is right or swapped; with distractors
// only it isn't relevant.
func TestFiguresOnMusique(t *testing.T) {
	t.Parallel()
	ctx, j := t.Context(), New()
	verbose := testing.Verbose()
	all := musiques(t)
	var irrelevant, irrelevantSwapped, bridge counts
	var fromSupport, fromSupportSwapped, swappedQuotes, withAnswer, quotes int
	for n, m := range all {
		for i, hop := range m.Hops {
			question := m.hopQuestion(i)
			claim := func(answer string) string {
				if rest, ok := strings.CutPrefix(question, "What is the "); ok && (n+i)%2 == 0 {
					return fmt.Sprintf("The %s is %s.", strings.TrimSuffix(rest, "?"), answer)
				}
				return fmt.Sprintf("The answer to %q is %s.", question, answer)
			}
			supports := func(idx int) bool {
				for _, h := range m.Hops {
					if h.Support == idx {
						return true
					}
				}
				return false
			}
			distractors := m.passages(func(idx int) bool { return !supports(idx) }, 5)
			support := m.passages(func(idx int) bool { return idx == hop.Support }, 1)
			with := append(append([]schema.Passage{}, distractors[:min(4, len(distractors))]...), support...)
			ask := func(claim string, passages []schema.Passage) quoteextract.Verdict {
				v, err := j.Extract(ctx, quoteextract.Input{Question: m.Question, Kind: schema.KindSearch, Query: question, Claim: claim, Claims: []string{claim}, Passages: passages})
				require.NoError(t, err)
				return v
			}
			other := all[(n+7)%len(all)].Hops[0].Answer

			good := ask(claim(hop.Answer), with)
			irrelevant.add(false, !good.Relevant)
			if !good.Relevant && verbose {
				t.Logf("MISSED %s | %s | %s: %.200s", good.Meta.Detail, claim(hop.Answer), support[0].Title, support[0].Text)
			}
			if len(good.Quotes) > 0 {
				quotes++
				if strings.Contains(support[0].Text, good.Quotes[0]) {
					fromSupport++
				} else if verbose {
					t.Logf("QUOTE %s | %q", claim(hop.Answer), good.Quotes)
				}
				if holdsName(joinKeys(strings.Join(good.Quotes, " ")), hop.Answer) {
					withAnswer++
				} else if verbose {
					t.Logf("NOANSWER %s | %q", claim(hop.Answer), good.Quotes)
				}
			}
			swapped := ask(claim(other), with)
			irrelevantSwapped.add(false, !swapped.Relevant)
			if len(swapped.Quotes) > 0 {
				swappedQuotes++
			}
			if len(swapped.Quotes) > 0 && strings.Contains(support[0].Text, swapped.Quotes[0]) {
				fromSupportSwapped++
			} else if verbose {
				t.Logf("SWAPPED relevant %v %s | %q | %s: %.300s", swapped.Relevant, claim(other), swapped.Quotes, support[0].Title, support[0].Text)
			}
			bad := ask(claim(hop.Answer), distractors)
			irrelevant.add(true, !bad.Relevant)
			if bad.Relevant && verbose {
				t.Logf("FALSE %s | %s", bad.Meta.Detail, claim(hop.Answer))
			}
		}
		// A bridge is missing: every supporting paragraph but an intermediate one.
		left := m.Hops[len(m.Hops)-2].Support
		passages := m.passages(func(idx int) bool {
			for _, h := range m.Hops {
				if h.Support == idx {
					return idx != left
				}
			}
			return idx%5 == 0
		}, 6)
		claim := fmt.Sprintf("The answer to %q is %s.", m.Question, m.Answer)
		v, err := j.Extract(ctx, quoteextract.Input{Question: m.Question, Kind: schema.KindSearch, Query: m.Question, Claim: claim, Claims: []string{claim}, Passages: passages})
		require.NoError(t, err)
		bridge.add(false, !v.Relevant)
		if !v.Relevant && verbose {
			t.Logf("BRIDGE %s | %s", v.Meta.Detail, claim)
		}
	}
	t.Logf("irrelevant evidence: %s", irrelevant)
	t.Logf("the same with the claim's answer swapped: %s", irrelevantSwapped)
	t.Logf("bridge missing, called irrelevant: %s", bridge)
	t.Logf("quotes %d: from the supporting paragraph %d, with the answer %d; claim's answer swapped: from it %d of %d", quotes, fromSupport, withAnswer, fromSupportSwapped, swappedQuotes)
	docblocktest.Holds(t, page, "local-musique-quotes", fmt.Sprintf("- irrelevant evidence: %s; false alarms where the claim's answer is swapped %d of %d, where a hop is missing %d of %d\n"+
		"- of %d quotes %d come from the supporting paragraph and %d hold the answer; of %d quotes for swapped answers %d come from it\n",
		irrelevant, irrelevantSwapped.fp, irrelevantSwapped.fp+irrelevantSwapped.tn, bridge.fp, bridge.fp+bridge.tn,
		quotes, fromSupport, withAnswer, swappedQuotes, fromSupportSwapped))
}
