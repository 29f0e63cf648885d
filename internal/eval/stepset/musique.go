package stepset

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

func readJSON[T any](path ...string) (T, error) {
	var out T
	name := filepath.Join(path...)
	b, err := os.ReadFile(name)
	if err != nil {
		return out, fmt.Errorf("reading public data: %w", err)
	}
	if err := json.Unmarshal(b, &out); err != nil {
		return out, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

// readMuSiQue reads the questions with their hops.
func readMuSiQue(data string) ([]puzzle, error) {
	type question struct {
		ID         string
		Question   string
		Answer     string
		Aliases    []string `json:"answer_aliases"`
		Paragraphs []struct {
			Title      string
			Text       string `json:"paragraph_text"`
			Supporting bool   `json:"is_supporting"`
		}
		Hops []struct {
			Question, Answer string
			Support          int `json:"paragraph_support_idx"`
		} `json:"question_decomposition"`
	}
	rows, err := readJSON[[]question](data, "multihop", "musique_100.json")
	if err != nil {
		return nil, err
	}
	var out []puzzle
	for _, q := range rows {
		p := puzzle{id: q.ID, question: q.Question, answer: q.Answer, aliases: q.Aliases}
		for i, h := range q.Hops {
			asked := h.Question
			for k := range i {
				asked = strings.ReplaceAll(asked, fmt.Sprintf("#%d", k+1), q.Hops[k].Answer)
			}
			if h.Support < 0 || h.Support >= len(q.Paragraphs) {
				return nil, fmt.Errorf("question %s: hop %d rests on paragraph %d of %d", q.ID, i+1, h.Support, len(q.Paragraphs))
			}
			para := q.Paragraphs[h.Support]
			p.hops = append(p.hops, hop{question: asked, answer: h.Answer, support: Passage{Title: para.Title, Text: para.Text},
				key: keySentence(para.Text, h.Answer)})
		}
		for _, para := range q.Paragraphs {
			if !para.Supporting && strings.TrimSpace(para.Text) != "" {
				p.distractors = append(p.distractors, newCard(Passage{Title: para.Title, Text: para.Text}))
			}
		}
		out = append(out, p)
	}
	return out, nil
}

func buildMuSiQue(data string) (Set, error) {
	puzzles, err := readMuSiQue(data)
	if err != nil {
		return Set{}, err
	}
	set := Set{Mapping: "labels by how each step was made from MuSiQue's paragraphs; the mapping is ours, not the annotators'"}
	set.Rollouts = rolloutsOf("musique", puzzles, (*maker).all)
	return set, nil
}
