package stepset

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/pkg/schema"
)

// readHotpotQA reads the questions. HotpotQA gives no questions for the hops;
// a hop is a supporting paragraph, and what it comes to is one of its
// supporting sentences.
func readHotpotQA(data string) ([]puzzle, error) {
	type question struct {
		ID       string `json:"_id"`
		Question string
		Answer   string
		Facts    [][2]json.RawMessage `json:"supporting_facts"`
		Context  [][2]json.RawMessage
	}
	rows, err := readJSON[[]question](data, "multihop", "hotpotqa_100.json")
	if err != nil {
		return nil, err
	}
	var out []puzzle
	for _, q := range rows {
		facts := map[string][]int{}
		for _, f := range q.Facts {
			var title string
			var at int
			if err := firstError(json.Unmarshal(f[0], &title), json.Unmarshal(f[1], &at)); err != nil {
				return nil, fmt.Errorf("question %s: a supporting fact: %w", q.ID, err)
			}
			facts[title] = append(facts[title], at)
		}
		p := puzzle{id: q.ID, question: q.Question, answer: q.Answer}
		for _, c := range q.Context {
			var title string
			var lines []string
			if err := firstError(json.Unmarshal(c[0], &title), json.Unmarshal(c[1], &lines)); err != nil {
				return nil, fmt.Errorf("question %s: a paragraph: %w", q.ID, err)
			}
			passage := Passage{Title: title, Text: strings.TrimSpace(strings.Join(lines, ""))}
			at, ok := facts[title]
			if !ok {
				if passage.Text != "" {
					p.distractors = append(p.distractors, newCard(passage))
				}
				continue
			}
			h := hop{question: q.Question, support: passage, fact: true}
			for _, i := range at {
				if i < len(lines) && h.key == "" {
					h.key = strings.TrimSpace(lines[i])
				}
				if i < len(lines) && holds(lines[i], q.Answer) {
					h.key = strings.TrimSpace(lines[i])
				}
			}
			h.answer = p.telling(&h)
			p.hops = append(p.hops, h)
		}
		p.answerLast()
		out = append(out, p)
	}
	return out, nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// telling is the value of a hop's key sentence that a wrong one can be put in
// place of: the question's answer, a date or number, else a name that isn't
// the title.
func (p *puzzle) telling(h *hop) string {
	if strings.Contains(h.key, p.answer) {
		return p.answer
	}
	for _, d := range evidence.Dates(h.key) {
		return d.In(h.key)
	}
	for _, n := range evidence.Numbers(h.key) {
		if s := n.In(h.key); strings.ContainsAny(s, "0123456789") {
			return s
		}
	}
	for _, n := range evidence.Names(h.key) {
		if !evidence.SameEntity(n, h.support.Title) && strings.Contains(h.key, n) && len(n) > 3 {
			return n
		}
	}
	return ""
}

// answerLast puts the paragraph that gives the answer last.
func (p *puzzle) answerLast() {
	for j := range p.hops {
		if p.hops[j].answer == p.answer {
			last := len(p.hops) - 1
			p.hops[j], p.hops[last] = p.hops[last], p.hops[j]
			return
		}
	}
}

func buildHotpotQA(data string) (Set, error) {
	puzzles, err := readHotpotQA(data)
	if err != nil {
		return Set{}, err
	}
	return Set{
		Mapping:  "labels by how each step was made from HotpotQA's paragraphs; the mapping is ours, not the annotators'",
		Rollouts: rolloutsOf("hotpotqa", puzzles, (*maker).allFacts),
	}, nil
}

// otherEnd is a wrong answer to the whole question: no for yes, the other of
// two that are compared, or a value of the paragraph that gives the answer.
func (m *maker) otherEnd() (wrong, bool) {
	switch strings.ToLower(m.answer) {
	case "yes":
		return wrong{"no", "yes_no"}, true
	case "no":
		return wrong{"yes", "yes_no"}, true
	}
	if len(m.hops) == 2 {
		for i := range m.hops {
			title, _, _ := strings.Cut(m.hops[i].support.Title, " (")
			other, _, _ := strings.Cut(m.hops[1-i].support.Title, " (")
			if evidence.SameEntity(title, m.answer) && holds(m.question, title) && holds(m.question, other) {
				return wrong{other, "other_option"}, true
			}
		}
	}
	last := &m.hops[len(m.hops)-1]
	if last.answer != m.answer {
		return wrong{}, false
	}
	found := m.names.wrongAnswers(chance(m.source, m.id, "other end"), last.question, m.answer, last.support.Text, append(last.names(), m.question), asks(m.question) == sortUnknown)
	if len(found) == 0 {
		return wrong{}, false
	}
	return found[0], true
}

// allFacts makes the rollouts of a question whose hops have no questions.
func (m *maker) allFacts(turn int) {
	last := len(m.hops) - 1
	if last < 1 {
		return
	}
	m.ended("right", m.answer, schema.GapNone, madeRight, "every paragraph needed is there", turn%9 == 0)
	if w, ok := m.otherEnd(); ok {
		m.ended("wrong", w.answer, schema.GapContradicted, w.how, "the passages give "+m.answer, false)
		m.asked("whole-wrong", w.answer, schema.GapContradicted, w.how, "the passages give "+m.answer)
	}
	m.asked("whole", m.answer, schema.GapNone, madeBothHops, "every paragraph needed is there")
	m.asked("whole-dropped", m.answer, schema.GapMissingBridge, madeDropped, "the sentences that decide aren't there")
	m.asked("whole-distractors", m.answer, schema.GapIrrelevant, madeDistractors, "no passage is about it")
	m.skipped("skipped", chance(m.source, m.id, "skipped").IntN(len(m.hops)))
	switch turn % 3 {
	case 0:
		m.contradicted("fact-wrong", turn/3%2)
		m.giveUp("abstain-wrong", madeAbstainWrong)
	case 1:
		m.contradicted("fact-wrong", last)
		m.bridgeless("fact-dropped", 0, false)
		m.giveUp("abstain-none", madeAbstain)
	case 2:
		m.irrelevant("fact-distractors", 0, false)
		m.fact("fact")
		m.giveUp("abstain-irrelevant", madeAbstainIE)
		m.aim("aim")
	}
}

// ended looks up every paragraph and concludes with answer. The searches are
// scored too where scored says so.
func (m *maker) ended(name, answer string, gap schema.Gap, how, why string, scored bool) {
	r, rnd, s := m.begin(name)
	for j := range m.hops {
		step := m.right(rnd, s, j)
		if scored && len(m.hops[j].ways(m.hops[j].answer)) > 0 {
			step = label(step, schema.GapNone, madeRight, "the supporting paragraph is there")
		}
		r.Steps = append(r.Steps, step)
	}
	if end, ok := m.ending(rnd, answer); ok {
		r.Answer = answer
		r.Steps = append(r.Steps, label(end, gap, how, why))
	}
	m.end(r)
}

// asked is a single search for the whole question.
func (m *maker) asked(name, answer string, gap schema.Gap, how, why string) {
	r, rnd, s := m.begin(name)
	ways := statements(m.question, answer)
	if len(ways) == 0 {
		return
	}
	statement := pick(rnd, ways)
	passages, ok := m.evidence(s, gap)
	if !ok || !worthAsking(rnd, statement, gap, passages) {
		return
	}
	step := Step{Kind: schema.KindSearch, Query: strings.TrimRight(m.question, "?"), Claim: statement,
		Text: claimed(rnd, statement, ""), Passages: shuffled(rnd, passages)}
	r.Steps = append(r.Steps, label(step, gap, how, why))
	m.end(r)
}

// worthAsking leaves out steps that a count of shared words would get right:
// claims without support whose words are nowhere to be found, and half of
// the claims that hold and whose every word stands in the passages.
func worthAsking(rnd *rand.Rand, statement string, gap schema.Gap, passages []Passage) bool {
	var all []string
	for _, p := range passages {
		all = append(all, p.Title, p.Text)
	}
	share := covered(statement, Passage{Text: strings.Join(all, " ")})
	switch gap {
	case schema.GapNone:
		return share < 0.95 || rnd.IntN(2) == 0
	case schema.GapIrrelevant, schema.GapMissingBridge:
		return share > 0.65
	}
	return true
}

// evidence is five passages: with all supporting paragraphs for none and CC,
// with one of them cut down for MB, with none for IE.
func (m *maker) evidence(s *shelf, gap schema.Gap) ([]Passage, bool) {
	const fetched = 5
	var passages []Passage
	last := &m.hops[len(m.hops)-1]
	switch gap {
	case schema.GapMissingBridge:
		left, ok := last.without()
		if !ok {
			return nil, false
		}
		for j := range m.hops[:len(m.hops)-1] {
			if last.answer == m.answer && mentions(m.hops[j].support.Title+" "+m.hops[j].support.Text, m.answer) {
				return nil, false
			}
			passages = append(passages, m.hops[j].support)
		}
		passages = append(passages, left)
	case schema.GapIrrelevant:
	default:
		for j := range m.hops {
			passages = append(passages, m.hops[j].support)
		}
	}
	for i := 0; len(passages) < fetched; i++ {
		more := s.take(&m.hops[i%len(m.hops)], 1)
		if len(more) == 0 {
			return nil, false
		}
		passages = append(passages, more...)
	}
	return passages, true
}

// giveUp is a search for the whole question that says that it found nothing:
// rightly, wrongly, or over passages about something else.
func (m *maker) giveUp(name, how string) {
	r, rnd, s := m.begin(name)
	gap, why := schema.GapNone, "right paragraphs, and what decides isn't in them"
	look := schema.GapMissingBridge
	switch how {
	case madeAbstainWrong:
		gap, look, why = schema.GapContradicted, schema.GapNone, "the passages give "+m.answer
	case madeAbstainIE:
		gap, look, why = schema.GapIrrelevant, schema.GapIrrelevant, "no passage is about it"
	}
	passages, ok := m.evidence(s, look)
	if !ok {
		return
	}
	step := Step{Kind: schema.KindSearch, Query: strings.TrimRight(m.question, "?"), Text: abstained(rnd, m.question),
		Abstains: true, Passages: shuffled(rnd, passages)}
	r.Steps = append(r.Steps, label(step, gap, how, why))
	m.end(r)
}
