package nliworker_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stepgap/stepgap/internal/claim"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
	"github.com/stretchr/testify/require"
)

// twoHopItems makes conclusions of MuSiQue questions as E sees them when every
// hop found its quote: with the right answer (none) and with the answer of
// another question (IE). The mapping is ours, not the annotators'.
func twoHopItems(t *testing.T) (right, wrong []devItem) {
	t.Helper()
	if testing.Short() {
		t.Skip("a measure on a data set; left out with -short")
	}
	data := os.Getenv("STEPGAP_DATA")
	if data == "" {
		t.Skip("STEPGAP_DATA is not set")
	}
	raw, err := os.ReadFile(filepath.Join(data, "multihop", "musique_100.json"))
	require.NoError(t, err)
	var questions []struct {
		musiqueQuestion
		Question, Answer string
	}
	require.NoError(t, json.Unmarshal(raw, &questions))
	for qi, q := range questions {
		earlier := map[int]*schema.Label{}
		var passages []schema.Passage
		var history []schema.Prior
		quoted := ""
		for i, d := range q.Decomposition {
			p := q.Paragraphs[d.Support]
			passage := schema.Passage{Digest: fmt.Sprint(q.ID, d.Support), Title: p.Title, Text: p.Text, ByStep: i + 1}
			with, _ := splitByAnswer(p.Text, d.Answer)
			if with == "" {
				break
			}
			passages = append(passages, passage)
			query := hopRef.ReplaceAllStringFunc(d.Question, func(ref string) string {
				n, _ := strconv.Atoi(ref[1:])
				return q.Decomposition[n-1].Answer
			})
			history = append(history, schema.Prior{Index: i + 1, Query: query, Claim: query + ": " + d.Answer})
			earlier[i+1] = &schema.Label{Index: i + 1, Label: schema.GapNone, Quotes: devQuote(with, []schema.Passage{passage})}
			quoted += " " + p.Title + ": " + with
		}
		if len(earlier) != len(q.Decomposition) {
			continue
		}
		add := func(to *[]devItem, kind, answer string, label schema.Gap) {
			step := &schema.Step{Run: "m", Rollout: "r", Index: len(earlier) + 1, Kind: schema.KindConclusion, Question: q.Question,
				Answer: answer, Claim: claim.Statement(q.Question, answer), Passages: passages, History: history}
			*to = append(*to, devItem{q.ID + "/" + kind, &tree.Item{Step: step, Earlier: earlier, Final: true}, label, false})
		}
		add(&right, "right", q.Answer, schema.GapNone)
		// A name or value from the quotes themselves is the hardest wrong answer:
		// the bridge in the answer's place.
		add(&wrong, "bridge", q.Decomposition[0].Answer, schema.GapIrrelevant)
		for k := 1; k < len(questions); k++ {
			other := questions[(qi+k*7)%len(questions)].Answer
			if sameShape(other, q.Answer) && !strings.Contains(quoted, other) {
				add(&wrong, "other", other, schema.GapIrrelevant)
				break
			}
		}
	}
	return right, wrong
}

// TestTwoHopConclusions prints how E does on conclusions over several hops.
func TestTwoHopConclusions(t *testing.T) {
	t.Parallel()
	right, wrong := twoHopItems(t)
	cross, err := nliworker.NewCross(realScorer(t), nliworker.Defaults())
	require.NoError(t, err)
	entailed, confusion := tally(t, cross, right)
	t.Logf("stage E on MuSiQue conclusions, answer right: %s", confusion)
	refused, confusion := tally(t, cross, wrong)
	t.Logf("stage E on MuSiQue conclusions, answer wrong: %s", confusion)
	require.Greater(t, 2*refused, len(wrong))
	require.Positive(t, entailed)
}

// TestEarlyVerdictsStand asks E whenever another earlier label has come in: a
// verdict given before all are there is the one given then.
func TestEarlyVerdictsStand(t *testing.T) {
	t.Parallel()
	right, wrong := twoHopItems(t)
	cross, err := nliworker.NewCross(realScorer(t), nliworker.Defaults())
	require.NoError(t, err)
	early := 0
	for _, it := range append(right, wrong...) {
		full := *it.item
		full.Final = false
		last, err := cross.Decide(t.Context(), &full)
		require.NoError(t, err)
		require.False(t, last.Wait)
		for missing := range full.Earlier {
			part := full
			part.Earlier = map[int]*schema.Label{}
			for i, l := range full.Earlier {
				if i != missing {
					part.Earlier[i] = l
				}
			}
			got, err := cross.Decide(t.Context(), &part)
			require.NoError(t, err)
			if got.Wait {
				continue
			}
			early++
			require.Equal(t, last.Gap, got.Gap, it.id)
			require.Equal(t, last.Quotes, got.Quotes, it.id)
		}
	}
	t.Logf("%d verdicts before all labels were there", early)
}
