package stepset

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"

	"github.com/stepgap/stepgap/pkg/schema"
)

// How the steps of built sets are made, beside the ways of wrongAnswers.
const (
	madeRight        = "right"            // the supporting paragraph, the right answer
	madeSentence     = "relevant_fact"    // a fact of the supporting paragraph, as it stands
	madeDropped      = "answer_dropped"   // the supporting paragraph without the sentences that give the answer
	madeHopDropped   = "hop_dropped"      // the whole question's answer with only the last hop's paragraph
	madeBothHops     = "all_hops"         // the whole question's answer with the paragraphs of all hops
	madeDistractors  = "distractors"      // distractors only
	madeMiss         = "search_miss"      // nothing came back
	madeAim          = "wrong_aim"        // a fact of a distractor that was searched for instead
	madeUnsupported  = "unsupported_step" // a conclusion over a step that nothing supports
	madeSkipped      = "skipped_step"     // a conclusion over a hop that was never looked up
	madeAbstain      = "abstain_justified"
	madeAbstainWrong = "abstain_unjustified"
	madeAbstainIE    = "abstain_irrelevant"
)

// maker makes the rollouts of one puzzle.
type maker struct {
	*puzzle
	source string
	names  *gazetteer
	decoys map[*hop][]*card
	out    []Rollout
}

// rolloutsOf makes the rollouts of all puzzles; all makes those of the maker's
// puzzle, which stands at that place of the data.
func rolloutsOf(source string, puzzles []puzzle, all func(m *maker, turn int)) []Rollout {
	names := newGazetteer(puzzles)
	paragraphs := newLibrary(puzzles)
	var out []Rollout
	for i := range puzzles {
		m := &maker{puzzle: &puzzles[i], source: source, names: names, decoys: map[*hop][]*card{}}
		for j := range m.hops {
			m.decoys[&m.hops[j]] = m.puzzle.decoys(paragraphs, &m.hops[j])
		}
		all(m, i)
		out = append(out, m.out...)
	}
	return out
}

// all makes the rollouts of a question. What not every question gets goes by
// turns.
func (m *maker) all(turn int) {
	last := len(m.hops) - 1
	rnd := chance(m.source, m.id, "plan")
	m.allRight()
	m.contradicted("wrong-last", last)
	if turn%2 == 1 {
		m.contradicted("wrong-earlier", rnd.IntN(max(1, last)))
	}
	dropped := m.hardest(func(h *hop) []Passage {
		left, ok := h.without()
		if !ok {
			return nil
		}
		return []Passage{left}
	})
	m.bridgeless("dropped", dropped[0], turn%2 == 0)
	m.bridgeless("dropped-other", dropped[1], false)
	decoyed := m.hardest(func(h *hop) []Passage { return (&shelf{decoys: m.decoys, taken: map[string]bool{}}).take(h, 3) })
	m.irrelevant("distractors", decoyed[0], turn%2 == 1)
	switch turn % 3 {
	case 0:
		m.whole("whole", schema.GapNone)
		m.aim("aim")
		m.abstain("abstain-none", madeAbstain)
	case 1:
		m.whole("whole-dropped", schema.GapMissingBridge)
		m.fact("fact")
		m.abstain("abstain-wrong", madeAbstainWrong)
	case 2:
		m.whole("whole-wrong", schema.GapContradicted)
		m.skipped("skipped", rnd.IntN(len(m.hops)))
		m.abstain("abstain-irrelevant", madeAbstainIE)
	}
	if turn%2 == 0 {
		m.whole("whole-right", schema.GapNone)
	}
	if turn%8 == 0 {
		m.miss("miss")
	}
}

// begin returns what a new rollout is made with. Its choices hang on its name
// alone.
func (m *maker) begin(name string) (*Rollout, *rand.Rand, *shelf) {
	r := &Rollout{ID: m.source + "-" + m.id + "-" + name, QuestionID: m.source + "-" + m.id, Question: m.question,
		Source: m.source, Gold: append([]string{m.answer}, m.aliases...)}
	return r, chance(m.source, m.id, name), &shelf{decoys: m.decoys, taken: map[string]bool{}}
}

// end keeps a rollout that has a scored step.
func (m *maker) end(r *Rollout) {
	for i := range r.Steps {
		if r.Steps[i].Scored() {
			m.out = append(m.out, *r)
			return
		}
	}
}

// fetched is how many passages a search brings: three to five, whatever the
// label.
func fetched(rnd *rand.Rand) int { return 3 + rnd.IntN(3) }

// next is the query of the hop after j, for what an agent writes.
func (m *maker) next(j int) string {
	if j+1 >= len(m.hops) {
		return ""
	}
	return m.hops[j+1].query(chance(m.source, m.id, "next"))
}

// search is a step of hop j that says statement.
func (m *maker) search(rnd *rand.Rand, j int, statement string, passages []Passage) Step {
	return Step{Kind: schema.KindSearch, Query: m.hops[j].query(rnd), Claim: statement,
		Text: claimed(rnd, statement, m.next(j)), Passages: passages}
}

// right is a step of hop j as it should be: the supporting paragraph among
// distractors, and the right answer.
func (m *maker) right(rnd *rand.Rand, s *shelf, j int) Step {
	h := &m.hops[j]
	ways := h.ways(h.answer)
	if len(ways) == 0 {
		ways = []string{fmt.Sprintf("The answer to %q is %s.", strings.TrimSpace(h.question), h.answer)}
	}
	step := m.search(rnd, j, pick(rnd, ways), among(rnd, s.take(h, fetched(rnd)-1), h.support))
	step.Quote = h.key
	return step
}

func label(s Step, gap schema.Gap, how, why string) Step {
	s.Label, s.Perturbation, s.Why = gap, how, why
	return s
}

// ending is the conclusion with this answer.
func (m *maker) ending(rnd *rand.Rand, answer string) (Step, bool) {
	ways := statements(m.question, answer)
	if len(ways) == 0 {
		return Step{}, false
	}
	statement := pick(rnd, ways)
	return Step{Kind: schema.KindConclusion, Claim: statement, Answer: answer, Text: concluded(rnd, statement)}, true
}

// allRight is the rollout in which every step holds. Of the claims whose every
// word stands in the paragraph a third is scored: there are enough of them to
// let a count of shared words pass for a judge.
func (m *maker) allRight() {
	r, rnd, s := m.begin("right")
	for j := range m.hops {
		step := m.right(rnd, s, j)
		easy := covered(step.Claim, m.hops[j].support) > 0.99
		if len(m.hops[j].ways(m.hops[j].answer)) > 0 && (!easy || rnd.IntN(3) == 0) {
			step = label(step, schema.GapNone, madeRight, "the supporting paragraph is there")
		}
		r.Steps = append(r.Steps, step)
	}
	answer := pick(rnd, append([]string{m.answer}, m.aliases...))
	if end, ok := m.ending(rnd, answer); ok {
		r.Answer = answer
		r.Steps = append(r.Steps, label(end, schema.GapNone, madeRight, "every hop is supported"))
	}
	m.end(r)
}

// hardest orders the hops by the share of their claim's words that one of the
// passages holds, most first: where it is high, words don't tell the label.
func (m *maker) hardest(passages func(*hop) []Passage) []int {
	share := make([]float64, len(m.hops))
	order := make([]int, len(m.hops))
	for j := range m.hops {
		h := &m.hops[j]
		order[j] = j
		for _, p := range passages(h) {
			share[j] = max(share[j], covered(strings.Join(statements(h.question, h.answer), " "), p))
		}
	}
	sort.SliceStable(order, func(a, b int) bool { return share[order[a]] > share[order[b]] })
	return order
}

// before adds the steps up to hop j, right and unscored.
func (m *maker) before(r *Rollout, rnd *rand.Rand, s *shelf, j int) {
	for i := range j {
		r.Steps = append(r.Steps, m.right(rnd, s, i))
	}
}

// contradicted is a rollout whose hop j comes to a wrong answer, with the right
// one in the passages. At the last hop the conclusion is wrong too.
func (m *maker) contradicted(name string, j int) {
	r, rnd, s := m.begin(name)
	h := &m.hops[j]
	found := m.names.wrongAnswers(rnd, h.question, h.answer, h.support.Text, append(h.names(), m.question, h.question, m.answer), h.fact)
	if len(found) == 0 {
		return
	}
	w := found[0]
	ways := h.ways(w.answer)
	if len(ways) == 0 {
		return
	}
	m.before(r, rnd, s, j)
	step := m.search(rnd, j, pick(rnd, ways), among(rnd, s.take(h, fetched(rnd)-1), h.support))
	step.Quote = h.key
	r.Steps = append(r.Steps, label(step, schema.GapContradicted, w.how, "the passage gives "+h.answer))
	if h.answer == m.answer && j == len(m.hops)-1 {
		if end, ok := m.ending(rnd, w.answer); ok {
			r.Answer = w.answer
			r.Steps = append(r.Steps, label(end, schema.GapContradicted, w.how, "the passages give "+m.answer))
		}
	}
	m.end(r)
}

// bridgeless is a rollout whose hop j has the supporting paragraph without the
// sentences that give the answer; the conclusion then hangs in the air.
func (m *maker) bridgeless(name string, j int, conclude bool) {
	r, rnd, s := m.begin(name)
	h := &m.hops[j]
	left, ok := h.without()
	ways := h.ways(h.answer)
	if !ok || len(ways) == 0 || m.given(j) {
		return
	}
	m.before(r, rnd, s, j)
	step := m.search(rnd, j, pick(rnd, ways), among(rnd, s.take(h, fetched(rnd)-1), left))
	r.Steps = append(r.Steps, label(step, schema.GapMissingBridge, madeDropped, "the sentence that gives it isn't there"))
	m.after(r, rnd, s, j, conclude, madeUnsupported)
	m.end(r)
}

// given reports whether the paragraphs of earlier hops give the answer of hop j.
func (m *maker) given(j int) bool {
	for i := range m.hops {
		if i != j && mentions(m.hops[i].support.Title+" "+m.hops[i].support.Text, m.hops[j].answer) && i < j {
			return true
		}
	}
	return false
}

// after adds the hops after j, right and unscored, and the conclusion that
// doesn't follow, where conclude says so.
func (m *maker) after(r *Rollout, rnd *rand.Rand, s *shelf, j int, conclude bool, how string) {
	if !conclude {
		return
	}
	for i := j + 1; i < len(m.hops); i++ {
		if mentions(m.hops[i].support.Text, m.hops[j].answer) && holds(m.hops[i].support.Text, m.hops[j].support.Title) {
			return // the later paragraph could close the gap
		}
		r.Steps = append(r.Steps, m.right(rnd, s, i))
	}
	if end, ok := m.ending(rnd, m.answer); ok {
		r.Answer = m.answer
		r.Steps = append(r.Steps, label(end, schema.GapIrrelevant, how, "a step that it rests on is not supported"))
	}
}

// irrelevant is a rollout whose hop j finds distractors only.
func (m *maker) irrelevant(name string, j int, conclude bool) {
	r, rnd, s := m.begin(name)
	h := &m.hops[j]
	ways := h.ways(h.answer)
	if len(ways) == 0 || m.given(j) {
		return
	}
	m.before(r, rnd, s, j)
	if m.seenNames(r, h) {
		return
	}
	passages := s.take(h, fetched(rnd))
	if len(passages) < 3 {
		return
	}
	step := m.search(rnd, j, pick(rnd, ways), shuffled(rnd, passages))
	r.Steps = append(r.Steps, label(step, schema.GapIrrelevant, madeDistractors, "no passage is about it"))
	m.after(r, rnd, s, j, conclude, madeUnsupported)
	m.end(r)
}

// seenNames reports whether a passage in view is about the hop already.
func (m *maker) seenNames(r *Rollout, h *hop) bool {
	for _, p := range r.Seen(len(r.Steps)) {
		if strings.EqualFold(p.Title, h.support.Title) || mentions(p.Text, h.answer) {
			return true
		}
	}
	return false
}

// skipped is a rollout that finds nothing of use on hop j, says nothing on it,
// and answers all the same.
func (m *maker) skipped(name string, j int) {
	r, rnd, s := m.begin(name)
	for i := range m.hops {
		h := &m.hops[i]
		if i != j {
			r.Steps = append(r.Steps, m.right(rnd, s, i))
			continue
		}
		r.Steps = append(r.Steps, Step{Kind: schema.KindSearch, Query: h.query(rnd), Passages: shuffled(rnd, s.take(h, fetched(rnd))),
			Text: "I need to look at the next part of the question."})
	}
	for i := range m.hops {
		if i != j && mentions(m.hops[i].support.Title+" "+m.hops[i].support.Text, m.hops[j].answer) && holds(m.hops[i].support.Text, m.hops[j].support.Title) {
			return // another paragraph tells it
		}
	}
	if j == len(m.hops)-1 && m.given(j) {
		return
	}
	end, ok := m.ending(rnd, m.answer)
	if !ok {
		return
	}
	r.Answer = m.answer
	r.Steps = append(r.Steps, label(end, schema.GapIrrelevant, madeSkipped, "one hop was never looked up"))
	m.end(r)
}

// whole is a single search for the whole question: with the paragraphs of all
// hops, with the last one only, or with a wrong answer.
func (m *maker) whole(name string, gap schema.Gap) {
	r, rnd, s := m.begin(name)
	last := &m.hops[len(m.hops)-1]
	answer, how, why := m.answer, madeBothHops, "the paragraphs of all hops are there"
	var support []Passage
	for i := range m.hops {
		support = append(support, m.hops[i].support)
	}
	n := max(1, 5-len(support))
	switch gap {
	case schema.GapMissingBridge:
		for i := range m.hops[:len(m.hops)-1] {
			// the last paragraph must not tell what the hop before found out
			if holds(last.support.Title+" "+last.support.Text, strings.TrimSpace(m.hops[i].support.Title)) {
				return
			}
		}
		n += len(support) - 1
		support, how, why = []Passage{last.support}, madeHopDropped, "the paragraph of an earlier hop isn't there"
	case schema.GapContradicted:
		found := m.names.wrongAnswers(rnd, last.question, m.answer, last.support.Text, append(last.names(), m.question, last.question), false)
		if len(found) == 0 {
			return
		}
		answer, how, why = found[0].answer, found[0].how, "the passages give "+m.answer
	}
	ways := statements(m.question, answer)
	if len(ways) == 0 {
		return
	}
	statement := pick(rnd, ways)
	step := Step{Kind: schema.KindSearch, Query: strings.TrimRight(m.question, "?"), Claim: statement, Text: claimed(rnd, statement, ""),
		Passages: among(rnd, s.take(last, n), support...)}
	r.Steps = append(r.Steps, label(step, gap, how, why))
	m.end(r)
}

// aim is a step that searches for something else, which shares words with the
// question, and says what is true of that.
func (m *maker) aim(name string) {
	r, rnd, s := m.begin(name)
	j := rnd.IntN(len(m.hops))
	h := &m.hops[j]
	m.before(r, rnd, s, j)
	wrong := s.take(h, 1)
	if len(wrong) == 0 {
		return
	}
	first := sentences(wrong[0].Text)[0]
	statement := selfContained(first, wrong[0].Title)
	if len(first) > 220 || len(first) < 30 || !mentions(statement, wrong[0].Title) {
		return
	}
	step := Step{Kind: schema.KindSearch, Query: wrong[0].Title, Claim: statement, Text: claimed(rnd, statement, m.next(j)),
		Passages: among(rnd, s.take(h, fetched(rnd)-1), wrong[0]), Quote: first}
	r.Steps = append(r.Steps, label(step, schema.GapContradicted, madeAim, "about "+wrong[0].Title+", which nobody asked for"))
	m.end(r)
}

// fact is a step that says the first sentence of the supporting paragraph: the
// counterpart of aim that holds.
func (m *maker) fact(name string) {
	r, rnd, s := m.begin(name)
	j := rnd.IntN(len(m.hops))
	h := &m.hops[j]
	m.before(r, rnd, s, j)
	first := sentences(h.support.Text)[0]
	statement := selfContained(first, h.support.Title)
	if len(first) > 220 || len(first) < 30 || !mentions(statement, h.support.Title) {
		return
	}
	step := Step{Kind: schema.KindSearch, Query: h.support.Title, Claim: statement, Text: claimed(rnd, statement, m.next(j)),
		Passages: among(rnd, s.take(h, fetched(rnd)-1), h.support), Quote: first}
	r.Steps = append(r.Steps, label(step, schema.GapNone, madeSentence, "stands in the paragraph that the hop needs"))
	m.end(r)
}

// abstain is a step that says it found nothing: rightly, wrongly, or over
// passages about something else.
func (m *maker) abstain(name string, how string) {
	r, rnd, s := m.begin(name)
	j := rnd.IntN(len(m.hops))
	h := &m.hops[j]
	m.before(r, rnd, s, j)
	step := Step{Kind: schema.KindSearch, Query: searched(rnd, h.question), Text: abstained(rnd, h.question), Abstains: true}
	switch how {
	case madeAbstain:
		left, ok := h.without()
		if !ok || m.given(j) {
			return
		}
		step.Passages = among(rnd, s.take(h, fetched(rnd)-1), left)
		step = label(step, schema.GapNone, how, "right paragraph, and the answer isn't in it")
	case madeAbstainWrong:
		step.Passages = among(rnd, s.take(h, fetched(rnd)-1), h.support)
		step.Quote = h.key
		step = label(step, schema.GapContradicted, how, "the passage gives "+h.answer)
	case madeAbstainIE:
		if m.given(j) || m.seenNames(r, h) {
			return
		}
		step.Passages = shuffled(rnd, s.take(h, fetched(rnd)))
		step = label(step, schema.GapIrrelevant, how, "no passage is about it")
	}
	r.Steps = append(r.Steps, step)
	m.end(r)
}

// miss is a step whose search brought nothing, and which claims all the same.
func (m *maker) miss(name string) {
	r, rnd, _ := m.begin(name)
	ways := m.hops[0].ways(m.hops[0].answer)
	if len(ways) == 0 {
		return
	}
	r.Steps = append(r.Steps, label(m.search(rnd, 0, pick(rnd, ways), nil), schema.GapIrrelevant, madeMiss, "nothing came back"))
	m.end(r)
}
