package stepset

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/stepgap/stepgap/pkg/schema"
)

// readLines reads a file of one JSON object a line.
func readLines[T any](path ...string) ([]T, error) {
	name := filepath.Join(path...)
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("reading public data: %w", err)
	}
	defer f.Close()
	var out []T
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		var row T
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		out = append(out, row)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return out, nil
}

// buildStepsDev reads the real steps. Passages accumulate; what a retriever
// says when it finds nothing is no evidence; a final step is a conclusion. The
// claim is the annotator's; where a step abstains or claims nothing, the claim
// is left to the reader of the text, as the annotator's words for an
// abstention are not the agent's.
func buildStepsDev(data string) (Set, error) {
	type row struct {
		ID       string
		Question string
		Steps    []struct {
			Kind, Plan, Query, After, Answer, Claim, Label, Quote string
			Docs                                                  []string
			Abstains                                              bool
			Sure                                                  int
		}
	}
	rows, err := readLines[row](data, "labelled", "steps_dev.jsonl")
	if err != nil {
		return Set{}, err
	}
	set := Set{Mapping: "labels by a language model in two passes by the rubric; not a human annotation"}
	for _, r := range rows {
		out := Rollout{ID: r.ID, QuestionID: questionID(r.Question), Question: r.Question, Source: "steps_dev"}
		for _, s := range r.Steps {
			step := Step{Kind: schema.KindSearch, Plan: s.Plan, Query: s.Query, Text: s.After, Claim: s.Claim,
				Label: schema.Gap(s.Label), Abstains: s.Abstains, Sure: s.Sure}
			if s.Abstains {
				step.Claim = ""
			}
			if s.Kind == "final" {
				step.Kind, step.Plan, step.Query, step.Answer = schema.KindConclusion, "", "", s.Answer
				out.Answer = s.Answer
			} else {
				for _, d := range s.Docs {
					if !missed(d) {
						step.Passages = append(step.Passages, titledPassage(d))
					}
				}
			}
			out.Steps = append(out.Steps, step)
			if quoted(s.Quote, out.Seen(len(out.Steps))) {
				out.Steps[len(out.Steps)-1].Quote = s.Quote
			}
		}
		set.Rollouts = append(set.Rollouts, out)
	}
	return set, nil
}

// missed reports whether a document is the retriever saying that there is
// nothing.
func missed(doc string) bool {
	for _, head := range []string{"Could not find", "Similar:", "No more results"} {
		if strings.HasPrefix(doc, head) {
			return true
		}
	}
	return strings.TrimSpace(doc) == ""
}

// titledPassage takes the title off a document as the agents' retrievers wrote
// it: "Title: X Text: ...", "X\n..." or "X   ...".
func titledPassage(doc string) Passage {
	if rest, ok := strings.CutPrefix(strings.TrimPrefix(doc, `"`), "Title: "); ok {
		if title, text, ok := strings.Cut(rest, " Text: "); ok && strings.TrimSpace(text) != "" {
			return Passage{Title: title, Text: strings.TrimSpace(text)}
		}
	}
	for _, sep := range []string{"\n", "   "} {
		if title, text, ok := strings.Cut(doc, sep); ok && len(title) < 80 && strings.TrimSpace(text) != "" {
			return Passage{Title: title, Text: strings.TrimSpace(text)}
		}
	}
	return Passage{Text: doc}
}
