package padding_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/claim"
	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/internal/padding"
	"github.com/stepgap/stepgap/pkg/schema"
)

func steps(s ...*schema.Step) []*schema.Step { return s }

func dataFile(t *testing.T, name ...string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("a measure on a data set; left out with -short")
	}
	dir := os.Getenv("STEPGAP_DATA")
	if dir == "" {
		t.Skip("STEPGAP_DATA is not set: the data set is not part of the project")
	}
	return filepath.Join(append([]string{dir}, name...)...)
}

type question struct {
	ID, Question string
	Paragraphs   []struct {
		Title string
		Text  string `json:"paragraph_text"`
	}
	Decomposition []struct {
		Question, Answer string
		Support          int `json:"paragraph_support_idx"`
	} `json:"question_decomposition"`
}

func questions(t *testing.T) []question {
	t.Helper()
	raw, err := os.ReadFile(dataFile(t, "multihop", "musique_100.json"))
	require.NoError(t, err)
	var out []question
	require.NoError(t, json.Unmarshal(raw, &out))
	return out
}

var hopRef = regexp.MustCompile(`#(\d)`)

// hops are steps made of the questions' hops: the right answer, or one of
// another question, beside the supporting passage and four others.
func hops(questions []question) []rollout {
	var answers []string
	for _, q := range questions {
		for _, d := range q.Decomposition {
			answers = append(answers, d.Answer)
		}
	}
	shape := func(s string) [2]bool {
		return [2]bool{strings.ContainsFunc(s, unicode.IsDigit), unicode.IsUpper([]rune(s)[0])}
	}
	var out []rollout
	for n, q := range questions {
		for i, d := range q.Decomposition {
			asked := d.Question
			if subject, relation, ok := strings.Cut(asked, " >> "); ok {
				asked = fmt.Sprintf("What is the %s of %s?", relation, subject)
			}
			asked = hopRef.ReplaceAllStringFunc(asked, func(ref string) string {
				k, _ := strconv.Atoi(ref[1:])
				return q.Decomposition[k-1].Answer
			})
			answer := d.Answer
			if i%2 == 1 {
				for k := range answers {
					other := answers[(n*31+k*7)%len(answers)]
					if other != answer && shape(other) == shape(answer) {
						answer = other
						break
					}
				}
			}
			support := passage(q.Paragraphs[d.Support].Title, q.Paragraphs[d.Support].Text, 1)
			s := &schema.Step{
				Run: "m", Rollout: "r", Index: 1, Kind: schema.KindSearch, Question: q.Question, Query: asked,
				Claim: claim.Statement(asked, answer), Passages: []schema.Passage{support},
			}
			for k, p := range q.Paragraphs {
				if k != d.Support && len(s.Passages) < 5 {
					s.Passages = append(s.Passages, passage(p.Title, p.Text, 1))
				}
			}
			out = append(out, rollout{id: fmt.Sprintf("%s#%d", q.ID, i+1), steps: steps(s), pads: map[string]bool{support.Digest: true}})
		}
	}
	return out
}

// annotated are the real rollouts with labels; of each step the passage is
// padded that its quote stands in, or else its first.
func annotated(t *testing.T) []rollout {
	t.Helper()
	f, err := os.Open(dataFile(t, "labelled", "steps_dev.jsonl"))
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	var out []rollout
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var r struct {
			ID, Question string
			Steps        []struct {
				Kind, Query, After, Answer, Quote string
				Docs                              []string
			}
		}
		require.NoError(t, json.Unmarshal(lines.Bytes(), &r))
		ro := rollout{id: r.ID, pads: map[string]bool{}}
		var passages []schema.Passage
		var history []schema.Prior
		for i, s := range r.Steps {
			step := &schema.Step{Run: "r", Rollout: "o", Index: i + 1, Kind: schema.KindSearch, Question: r.Question, Query: s.Query, Text: s.After, History: history}
			if s.Kind == "final" {
				step.Kind, step.Answer = schema.KindConclusion, s.Answer
			}
			pad := ""
			for _, doc := range s.Docs {
				if strings.HasPrefix(doc, "Could not find") || strings.HasPrefix(doc, "No more results") {
					continue
				}
				title, text := "", strings.Trim(doc, "\" \n")
				if rest, ok := strings.CutPrefix(text, "Title: "); ok {
					title, text, _ = strings.Cut(rest, " Text:")
				} else if head, tail, ok := strings.Cut(text, "   "); ok && len(head) < 100 {
					title, text = head, tail
				}
				p := passage(title, strings.TrimSpace(text), i+1)
				passages = append(passages, p)
				if pad == "" || s.Quote != "" && strings.Contains(p.Text, s.Quote) {
					pad = p.Digest
				}
			}
			if pad != "" {
				ro.pads[pad] = true
			}
			step.Passages = passages[:len(passages):len(passages)]
			history = append(history, schema.Prior{Index: i + 1, Query: s.Query, Claim: strings.Join(claim.Read(step).Claims, " ")})
			ro.steps = append(ro.steps, step)
		}
		out = append(out, ro)
	}
	require.NoError(t, lines.Err())
	return out
}

// others are size bytes of sentences of other questions' paragraphs, those that
// fit.
func others(r rollout, from []question, fits func(sentence string) bool) string {
	var b strings.Builder
	start := len(r.id) * 13 % len(from)
	for i := range from {
		for _, p := range from[(start+i)%len(from)].Paragraphs {
			for _, s := range evidence.Sentences(p.Text) {
				if text := s.In(p.Text); fits(text) {
					b.WriteString(text + " ")
				}
				if b.Len() >= size {
					return strings.TrimSpace(b.String())
				}
			}
		}
	}
	return strings.TrimSpace(b.String())
}

// said is all that the rollout asks and claims.
func (r rollout) said() string {
	var b strings.Builder
	for _, s := range r.steps {
		b.WriteString(s.Question + "\n" + s.Query + "\n" + s.Claim + "\n" + s.Text + "\n" + s.Answer + "\n")
	}
	return b.String()
}

// sharesNothing: no word of what is asked or claimed, but for the small ones.
func sharesNothing(r rollout) func(string) bool {
	said := setOf(evidence.ContentTokens(r.said()))
	return func(sentence string) bool {
		for _, t := range evidence.ContentTokens(sentence) {
			if said[t] {
				return false
			}
		}
		return true
	}
}

// namesNothing: no word of a name in it, but ordinary words such as "born".
// Such a sentence under a title can be read as news about it.
func namesNothing(r rollout) func(string) bool {
	names := setOf(nil)
	for _, n := range evidence.Names(r.said()) {
		for _, t := range evidence.ContentTokens(n) {
			names[t] = true
		}
	}
	for _, s := range r.steps {
		for _, p := range s.Passages {
			for _, t := range evidence.ContentTokens(p.Title) {
				names[t] = true
			}
		}
	}
	return func(sentence string) bool {
		for _, t := range evidence.ContentTokens(sentence) {
			if names[t] {
				return false
			}
		}
		return true
	}
}

func setOf(tokens []string) map[string]bool {
	out := map[string]bool{}
	for _, t := range tokens {
		out[t] = true
	}
	return out
}

// TestPromise_P5_PaddingMovesNoLabelOfRealSteps is the same on real passages,
// with padding of our own and with sentences that other questions brought.
// Sentences that share ordinary words with the claim are related text, more or
// less; what they move is printed.
func TestPromise_P5_PaddingMovesNoLabelOfRealSteps(t *testing.T) {
	t.Parallel()
	qs := questions(t)
	all := every()
	s := wholeTree(t)
	for name, rollouts := range map[string][]rollout{"musique": hops(qs), "annotated": annotated(t)} {
		t.Run(name, func(t *testing.T) {
			o := hold(t, s, rollouts, func(i int) []variant {
				r, place := rollouts[i], padding.Places()[i%3]
				text := others(r, qs, sharesNothing(r))
				return append(some(all, i, 1), variant{fmt.Sprintf("%d bytes of other sentences %s", len(text), place), func(own string) string {
					return padding.Put(own, text, " ", place)
				}})
			})
			t.Logf("unrelated text: %s", o)
			related := hold(t, s, rollouts, func(i int) []variant {
				text, place := others(rollouts[i], qs, namesNothing(rollouts[i])), padding.Places()[i%3]
				return []variant{{string(place), func(own string) string { return padding.Put(own, text, " ", place) }}}
			})
			t.Logf("text with words of the claims: %s", related)
			if testing.Verbose() {
				t.Log(strings.Join(related.moved, "\n"))
			}
			require.Empty(t, o.moved)
		})
	}
}
