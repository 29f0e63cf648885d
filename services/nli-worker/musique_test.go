package nliworker_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stepgap/stepgap/internal/claim"
	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
	"github.com/stretchr/testify/require"
)

type musiqueQuestion struct {
	ID         string
	Paragraphs []struct {
		Title string
		Text  string `json:"paragraph_text"`
	}
	Decomposition []struct {
		Question, Answer string
		Support          int `json:"paragraph_support_idx"`
	} `json:"question_decomposition"`
}

var hopRef = regexp.MustCompile(`#(\d)`)

// musiqueItems makes steps of known label from each hop: its answer beside the
// supporting paragraph (none), the answer of another question (CC), and the
// paragraph without the sentences that hold the answer (MB). The mapping is
// ours, not the annotators'.
func musiqueItems(t *testing.T) []devItem {
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
	var questions []musiqueQuestion
	require.NoError(t, json.Unmarshal(raw, &questions))
	type hop struct {
		id, question, answer string
		passage              schema.Passage
	}
	var hops []hop
	for _, q := range questions {
		for i, d := range q.Decomposition {
			if strings.Contains(d.Question, ">>") {
				subject, relation, _ := strings.Cut(d.Question, " >> ")
				d.Question = fmt.Sprintf("What is the %s of %s?", relation, subject)
			}
			text := hopRef.ReplaceAllStringFunc(d.Question, func(ref string) string {
				n, _ := strconv.Atoi(ref[1:])
				return q.Decomposition[n-1].Answer
			})
			p := q.Paragraphs[d.Support]
			hops = append(hops, hop{fmt.Sprintf("%s#%d", q.ID, i+1), text, d.Answer,
				schema.Passage{Digest: fmt.Sprint(q.ID, d.Support), Title: p.Title, Text: p.Text, ByStep: 1}})
		}
	}
	var items []devItem
	add := func(h hop, kind, answer string, label schema.Gap, p schema.Passage, quote string) {
		step := &schema.Step{Run: "m", Rollout: "r", Index: 1, Kind: schema.KindSearch, Question: h.question,
			Claim: claim.Statement(h.question, answer), Passages: []schema.Passage{p}}
		items = append(items, devItem{h.id + "/" + kind, &tree.Item{Step: step, Quotes: devQuote(quote, step.Passages)}, label, true})
	}
	for i, h := range hops {
		with, without := splitByAnswer(h.passage.Text, h.answer)
		if with == "" {
			continue
		}
		add(h, "ok", h.answer, schema.GapNone, h.passage, with)
		for k := 1; k < len(hops); k++ {
			other := hops[(i+k*7)%len(hops)].answer
			if sameShape(other, h.answer) && !strings.Contains(h.passage.Text+h.passage.Title, other) {
				add(h, "cc", other, schema.GapContradicted, h.passage, with)
				break
			}
		}
		if without != "" {
			p := h.passage
			p.Text, p.Digest = without, p.Digest+"-"
			add(h, "mb", h.answer, schema.GapMissingBridge, p, "")
		}
	}
	return items
}

// splitByAnswer returns the first sentence of text with the answer in it, and
// the text without any such.
func splitByAnswer(text, answer string) (with, without string) {
	var rest []string
	for _, s := range evidence.Sentences(text) {
		if !strings.Contains(strings.ToLower(s.In(text)), strings.ToLower(answer)) {
			rest = append(rest, s.In(text))
		} else if with == "" {
			with = s.In(text)
		}
	}
	return with, strings.Join(rest, " ")
}

func sameShape(a, b string) bool {
	digits := func(s string) bool { return strings.ContainsFunc(s, unicode.IsDigit) }
	upper := func(s string) bool { return unicode.IsUpper([]rune(s)[0]) }
	return a != b && digits(a) == digits(b) && upper(a) == upper(b)
}

// TestMusiqueHops prints how D does on hops of MuSiQue questions.
func TestMusiqueHops(t *testing.T) {
	t.Parallel()
	items := musiqueItems(t)
	local, err := nliworker.NewLocal(realScorer(t), nliworker.Defaults())
	require.NoError(t, err)
	right, confusion := tally(t, local, items)
	t.Logf("stage D on MuSiQue hops: %s", confusion)
	require.Greater(t, 2*right, len(items))
}
