package stepset

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/stepgap/stepgap/internal/claim"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Ways in which labelled claims become steps.
const (
	madeSupported = "supported"
	madePartly    = "partially_supported"
	madeRefuted   = "refuted"
	madeElsewhere = "evidence_elsewhere"
	madeInvented  = "hallucinated_answer"
)

// claimStep is a rollout of one search step that says statement.
func claimStep(source, id, question, query, statement string, passages []Passage, gap schema.Gap, how, why string) Rollout {
	rnd := chance(source, id)
	step := Step{Kind: schema.KindSearch, Query: query, Claim: statement, Text: claimed(rnd, statement, ""), Passages: shuffled(rnd, passages)}
	return Rollout{ID: source + "-" + id, QuestionID: source + "-" + id, Question: question, Source: source,
		Steps: []Step{label(step, gap, how, why)}}
}

// elsewhere is the evidence, among all, that shares most words with a claim
// and comes from another page.
func elsewhere(pages []evidencePage, title, statement string) (evidencePage, bool) {
	of := wordSet(statement)
	best, most := evidencePage{}, -1
	for _, p := range pages {
		if p.title == title || holds(p.text, title) || holds(statement, p.title) {
			continue
		}
		n := 0
		for _, w := range of {
			if p.words[w] {
				n++
			}
		}
		if n > most {
			best, most = p, n
		}
	}
	return best, most >= 0
}

// best are the n passages that share most words with a claim, at most four.
func best(passages []Passage, statement string, n int) []Passage {
	out := slices.Clone(passages)
	slices.SortStableFunc(out, func(a, b Passage) int { return cmp.Compare(covered(statement, b), covered(statement, a)) })
	return out[:min(len(out), max(1, min(n, 4)))]
}

type evidencePage struct {
	title, text string
	passages    []Passage
	words       map[string]bool
}

func newEvidencePage(title string, passages []Passage) evidencePage {
	p := evidencePage{title: title, passages: passages}
	for _, q := range passages {
		p.text += q.Text + " "
	}
	p.words = newCard(Passage{Text: p.text}).words
	return p
}

// buildWiCE maps WiCE: supported is none, partially supported is MB. Claims
// that it calls not supported are left out: whether their page is about
// something else (IE) or just doesn't say it (MB), the data don't tell. For IE
// every fourth claim is asked again over another article's page.
func buildWiCE(data string) (Set, error) {
	type row struct {
		Label, Claim string
		Supporting   [][]int `json:"supporting_sentences"`
		Evidence     []string
		Meta         struct {
			ID    string
			Title string `json:"claim_title"`
		}
	}
	rows, err := readLines[row](data, "labelled", "wice_dev_half.jsonl")
	if err != nil {
		return Set{}, err
	}
	set := Set{Mapping: "WiCE's labels mapped to ours (supported none, partially supported MB, another page IE); the mapping is ours, not the annotators'"}
	var pages []evidencePage
	cut := make([][]Passage, len(rows))
	for i, r := range rows {
		cut[i] = wicePassages(r.Evidence, r.Supporting)
		pages = append(pages, newEvidencePage(r.Meta.Title, cut[i]))
	}
	for i, r := range rows {
		id := fmt.Sprintf("%03d", i+1)
		question := fmt.Sprintf("What is known about %s?", r.Meta.Title)
		statement := selfContained(r.Claim, r.Meta.Title)
		switch r.Label {
		case "supported":
			set.Rollouts = append(set.Rollouts, claimStep("wice", id, question, r.Meta.Title, statement, cut[i], schema.GapNone, madeSupported, "annotated as supported"))
		case "partially_supported":
			set.Rollouts = append(set.Rollouts, claimStep("wice", id, question, r.Meta.Title, statement, cut[i], schema.GapMissingBridge, madePartly, "annotated as supported in part"))
		}
		if i%4 == 0 {
			if p, ok := elsewhere(pages, r.Meta.Title, statement); ok {
				other := claimStep("wice", id+"-elsewhere", question, r.Meta.Title, statement, best(p.passages, statement, len(cut[i])), schema.GapIrrelevant, madeElsewhere, "the page is about "+p.title)
				other.QuestionID = "wice-" + id
				set.Rollouts = append(set.Rollouts, other)
			}
		}
	}
	return set, nil
}

// wiceWindow is how many sentences of a page stay in view at least.
const wiceWindow = 24

// wicePassages cuts a page into passages of eight sentences, and keeps those
// around its first supporting set.
func wicePassages(evidence []string, supporting [][]int) []Passage {
	title := ""
	var lines []string
	from, to := 0, 0
	need := map[int]bool{}
	if len(supporting) > 0 {
		for _, i := range supporting[0] {
			need[i] = true
		}
	}
	first := true
	for i, l := range evidence {
		if rest, ok := strings.CutPrefix(l, "(meta data) TITLE: "); ok {
			title = strings.TrimSpace(rest)
		}
		if strings.HasPrefix(l, "(meta data)") || strings.TrimSpace(l) == "" {
			continue
		}
		if need[i] {
			if first {
				from, first = len(lines), false
			}
			to = len(lines) + 1
		}
		lines = append(lines, strings.TrimSpace(l))
	}
	for to-from < wiceWindow && (from > 0 || to < len(lines)) {
		from, to = max(0, from-1), min(len(lines), to+1)
	}
	var out []Passage
	for part := range slices.Chunk(lines[from:to], 8) {
		out = append(out, Passage{Title: title, Text: strings.Join(part, " ")})
	}
	return out
}

// buildFM2 maps Fool Me Twice: SUPPORTS is none, REFUTES is CC, each with its
// gold evidence among other sentences of the page. For IE every fourth claim is
// asked again over another page. There is no MB: whether a page without its
// gold sentences supports a claim, nobody annotated.
func buildFM2(data string) (Set, error) {
	type text struct {
		Text string
	}
	type row struct {
		ID, Text, Label string
		Gold            []text `json:"gold_evidence"`
		Retrieved       []text `json:"retrieved_evidence"`
		Page            string `json:"wikipedia_page"`
	}
	rows, err := readLines[row](data, "labelled", "fm2_dev_half.jsonl")
	if err != nil {
		return Set{}, err
	}
	set := Set{Mapping: "Fool Me Twice's labels mapped to ours (SUPPORTS none, REFUTES CC, another page IE); the mapping is ours, not the annotators'"}
	fetched := make([][]Passage, len(rows))
	var pages []evidencePage
	for i, r := range rows {
		rnd := chance("fm2", r.ID, "evidence")
		want := 3 + rnd.IntN(3)
		seen := map[string]bool{}
		for _, t := range append(slices.Clone(r.Gold), r.Retrieved...) {
			if len(fetched[i]) < want && strings.TrimSpace(t.Text) != "" && !seen[t.Text] {
				seen[t.Text] = true
				fetched[i] = append(fetched[i], Passage{Title: r.Page, Text: t.Text})
			}
		}
		pages = append(pages, newEvidencePage(r.Page, fetched[i]))
	}
	for i, r := range rows {
		question := fmt.Sprintf("Is it true that %s?", lowered(strings.TrimRight(r.Text, ". ")))
		gap, how, why := schema.GapNone, madeSupported, "annotated as supported"
		if r.Label == "REFUTES" {
			gap, how, why = schema.GapContradicted, madeRefuted, "annotated as refuted"
		}
		if i%4 == 3 { // in place of the claim, so that no claim counts twice
			if p, ok := elsewhere(pages, r.Page, r.Text); ok {
				set.Rollouts = append(set.Rollouts, claimStep("fm2", r.ID, question, r.Page, r.Text, p.passages, schema.GapIrrelevant, madeElsewhere, "the sentences are from "+p.title))
				continue
			}
		}
		set.Rollouts = append(set.Rollouts, claimStep("fm2", r.ID, question, r.Page, r.Text, fetched[i], gap, how, why))
	}
	return set, nil
}

// buildHaluEval maps HaluEval's question answering: the right answer is none.
// The hallucinated one is CC, for the knowledge gives another answer; that is
// the weakest of our mappings, as some of them only say what the knowledge
// leaves open. Hallucinated answers are longer than right ones, so a question
// gives both or none, and only where both come to claims of about the same
// length.
func buildHaluEval(data string) (Set, error) {
	type row struct {
		Knowledge, Question string
		Right               string `json:"right_answer"`
		Hallucinated        string `json:"hallucinated_answer"`
	}
	rows, err := readLines[row](data, "labelled", "halueval_qa_half.jsonl")
	if err != nil {
		return Set{}, err
	}
	set := Set{Mapping: "HaluEval mapped to ours (right answer none, hallucinated CC, other knowledge IE); the mapping is ours, not the annotators', and uncertain for CC"}
	var all []*card
	for _, r := range rows {
		all = append(all, newCard(Passage{Text: r.Knowledge}))
	}
	for i, r := range rows {
		right, invented := claim.Statement(r.Question, r.Right), claim.Statement(r.Question, r.Hallucinated)
		if strings.HasPrefix(right, "The answer to") != strings.HasPrefix(invented, "The answer to") || !alike(right, invented) {
			continue
		}
		id := fmt.Sprintf("%03d", i+1)
		rnd := chance("halueval", id, "passages")
		gap, how, why, statement := schema.GapNone, madeSupported, "the right answer", right
		if i%2 == 1 {
			gap, how, why, statement = schema.GapContradicted, madeInvented, "an invented answer", invented
		}
		passages := append(haluDistractors(rnd, all, i, r.Question, 2), Passage{Text: r.Knowledge})
		if i%5 == 4 {
			gap, how, why = schema.GapIrrelevant, madeElsewhere, "the knowledge of other questions"
			passages = haluDistractors(rnd, all, i, r.Question, 3)
		}
		set.Rollouts = append(set.Rollouts, claimStep("halueval", id, r.Question, strings.TrimRight(r.Question, "?"), statement, passages, gap, how, why))
	}
	return set, nil
}

// alike reports whether two claims are about equally long.
func alike(a, b string) bool {
	return 3*len(a) >= 2*len(b) && 3*len(b) >= 2*len(a)
}

// haluDistractors are the n texts of other questions that share most words
// with a question, from the first few at random.
func haluDistractors(rnd *rand.Rand, all []*card, own int, question string, n int) []Passage {
	of := wordSet(question)
	type scored struct {
		card *card
		n    int
	}
	var list []scored
	for i, c := range all {
		if i == own || c.Text == all[own].Text {
			continue
		}
		s := scored{card: c}
		for _, w := range of {
			if c.words[w] {
				s.n++
			}
		}
		list = append(list, s)
	}
	slices.SortStableFunc(list, func(a, b scored) int { return b.n - a.n })
	var out []Passage
	for _, s := range shuffled(rnd, list[:min(len(list), 2*n)]) {
		if len(out) < n {
			out = append(out, s.card.Passage)
		}
	}
	return out
}
