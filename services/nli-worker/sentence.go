package nliworker

import (
	"context"
	"slices"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/pkg/schema"
)

// sentence is one sentence of a claim under judgement.
type sentence struct {
	local  *Local
	claim  string
	query  evidence.Query
	proven []window // those that entailed earlier sentences of the same claim
	alone  bool     // the claim has no other sentence
	limit  int      // tokens of a premise
}

// candidate is a premise that may decide the sentence.
type candidate struct {
	premise string
	windows []window
}

func single(w window) candidate { return candidate{premise: w.premise, windows: []window{w}} }

// judge asks the model in two rounds: the deciding window, by itself and with
// its neighbours; then, if that left the sentence open, the premises that count
// only if they entail.
func (s *sentence) judge(ctx context.Context, quotes []schema.Quote, windows []window) (finding, error) {
	ranking := rank(windows, s.query)
	core, err := s.deciding(quotes, windows, ranking)
	if err != nil {
		return finding{}, err
	}
	wide, err := widen(core, s.query, s.local.opts.Related, 2, s.limit, s.local.scorer)
	if err != nil {
		return finding{}, err
	}
	first := []candidate{single(core)}
	if wide.premise != core.premise {
		first = append(first, single(wide))
	}
	scores, err := s.score(ctx, first)
	if err != nil {
		return finding{}, err
	}
	f := s.read(first, scores)
	f.near = s.local.opts.unsure(f, scores)
	if f.outcome != neutral {
		return f, nil
	}
	more, err := s.others(core, telling(ranking))
	if err != nil || len(more) == 0 {
		return f, err
	}
	scores, err = s.score(ctx, more)
	if err != nil {
		return finding{}, err
	}
	f.pairs += len(more)
	o := s.local.opts
	for i, c := range more {
		if s.entails(c, scores[i]) && !(o.Guard && denied(c.premise, inUnitsOf(c.premise, s.claim)) != "") {
			won := s.finding(entailed, c, scores[i], "", f.pairs)
			won.near = f.near || o.near(scores[i].Entailment, o.Entailment)
			return won, nil
		}
	}
	for i := range more {
		f.near = f.near || o.near(scores[i].Entailment, o.Entailment)
	}
	return f, nil
}

// deciding is the window that the sentence stands or falls with: the quote
// most relevant to it, unless the claim has other sentences too, which the
// quote may have been chosen for, and another window is clearly nearer to this
// one. Without a quote it is the most relevant window; the one that C hands on
// then has neighbours in it whatever they are about, and is looked for anew.
func (s *sentence) deciding(quotes []schema.Quote, windows []window, ranking []ranked) (window, error) {
	var best window
	relevance, found := -1.0, false
	for i := range quotes {
		if quotes[i].Match == schema.MatchWindow && len(ranking) > 0 {
			continue
		}
		w, err := quoteWindow(&quotes[i], windows, s.query, s.limit, s.local.scorer)
		if err != nil {
			return window{}, err
		}
		if r := s.query.Relevance(w.premise); r > relevance {
			best, relevance, found = w, r, true
		}
	}
	switch {
	case !found && len(ranking) == 0:
		return window{}, errNoEvidence
	case len(ranking) == 0, found && s.alone:
		return best, nil
	case !found, ranking[0].relevance > relevance+s.local.opts.QuoteMargin:
		return ranking[0].window, nil
	default:
		return best, nil
	}
}

// read tests the deciding window: contradiction first, then entailment. A window
// that nobody quoted, and that holds no word of the claim but in its title,
// decides nothing: any text under that title would be as near.
func (s *sentence) read(c []candidate, scores []schema.Scores) finding {
	o := s.local.opts
	core, all := c[0], c[len(c)-1] // all is the widest
	claim := inUnitsOf(core.premise, s.claim)
	silent := core.windows[0].given == nil && s.query.Relevance(core.windows[0].text) == 0
	if scores[0].Contradiction >= o.Contradiction && !silent {
		if !o.Guard || aboutSame(core.premise, claim) && !nothingDiffers(core.premise, claim) {
			return s.finding(contradicted, core, scores[0], "", len(c))
		}
	}
	if o.Guard {
		if why := conflict(core.premise, claim); why != "" && (wholly(core.premise, claim) || conflict(all.premise, inUnitsOf(all.premise, s.claim)) != "") {
			return s.finding(contradicted, core, scores[0], why, len(c))
		}
		if why := swapped(core.premise, claim); why != "" && swapped(all.premise, inUnitsOf(all.premise, s.claim)) != "" {
			return s.finding(contradicted, core, scores[0], why, len(c))
		}
	}
	for i := range c {
		if !silent && s.entails(c[i], scores[i]) {
			if why := denied(c[i].premise, inUnitsOf(c[i].premise, s.claim)); why != "" && o.Guard {
				return s.finding(contradicted, c[i], scores[i], why, len(c))
			}
			return s.finding(entailed, c[i], scores[i], "", len(c))
		}
	}
	for i := range c {
		if o.Guard && verbatim(c[i], s.claim) {
			f := s.finding(entailed, c[i], scores[i], "it stands there word for word", len(c))
			f.computed = true
			return f
		}
	}
	note := ""
	if o.Guard {
		switch {
		case scores[0].Contradiction >= o.Contradiction && (silent || !aboutSame(core.premise, claim)):
			note = "the evidence is about something else"
		case scores[0].Contradiction >= o.Contradiction:
			note = "the model sees a contradiction where no word differs"
		case scores[0].Entailment >= o.Entailment:
			if note = swapped(core.premise, claim); note == "" {
				note = absent(core.premise, claim) + " is not in the evidence"
			}
		}
	}
	return s.finding(neutral, core, scores[0], note, len(c))
}

// verbatim reports whether a premise is the claim, word for word: the model need
// not be asked whether a sentence says what it says.
func verbatim(c candidate, claim string) bool {
	said := phraseOf(claim)
	return phraseOf(c.premise) == said || len(c.windows) == 1 && phraseOf(c.windows[0].text) == said
}

// unsure reports whether a little more or less of a score would have changed
// what was found in the deciding window; what code found stands whatever the
// scores are.
func (o Options) unsure(f finding, scores []schema.Scores) bool {
	switch {
	case f.outcome == contradicted && f.note != "":
		return false
	case f.outcome == contradicted:
		return o.near(scores[0].Contradiction, o.Contradiction)
	case f.outcome == entailed:
		return o.near(scores[0].Contradiction, o.Contradiction) || o.near(f.scores.Entailment, o.Entailment)
	}
	return o.near(scores[0].Contradiction, o.Contradiction) ||
		slices.ContainsFunc(scores, func(s schema.Scores) bool { return o.near(s.Entailment, o.Entailment) })
}

func (s *sentence) entails(c candidate, scores schema.Scores) bool {
	o := s.local.opts
	return scores.Entailment >= o.Entailment && scores.Contradiction < o.Contradiction &&
		(!o.Guard || absent(c.premise, inUnitsOf(c.premise, s.claim)) == "" && swapped(c.premise, s.claim) == "")
}

func (s *sentence) finding(out outcome, c candidate, scores schema.Scores, note string, pairs int) finding {
	return finding{
		outcome: out, scores: scores, windows: c.windows, note: note, pairs: pairs,
		pair: asked(c.premise, s.claim),
	}
}

func (s *sentence) score(ctx context.Context, c []candidate) ([]schema.Scores, error) {
	pairs := make([]nli.Pair, len(c))
	for i := range c {
		pairs[i] = asked(c[i].premise, s.claim)
	}
	return s.local.scorer.Score(ctx, pairs)
}

// others are the premises that count only if they entail: the next most
// relevant windows, the deciding window joined with the one that adds most of
// what it lacks, and with what proved the claim's earlier sentences.
func (s *sentence) others(core window, ranking []ranked) ([]candidate, error) {
	o := s.local.opts
	var out []candidate
	seen := map[string]bool{core.premise: true}
	var near []window
	for _, r := range ranking {
		if len(near) == o.Windows || r.relevance < o.Related {
			break
		}
		if p := r.premise; !seen[p] && p != core.premise {
			seen[p] = true
			near = append(near, r.window)
			out = append(out, single(r.window))
		}
	}
	join := func(ws ...window) error {
		c := joined(ws)
		if seen[c.premise] {
			return nil
		}
		seen[c.premise] = true
		fits, err := nli.Fits(c.premise, s.limit, s.local.scorer)
		if err != nil || !fits {
			return err
		}
		out = append(out, c)
		return nil
	}
	if w, ok := s.complement(core, ranking); ok {
		if err := join(core, w); err != nil {
			return nil, err
		}
	}
	if len(s.proven) > 0 {
		if err := join(append(append([]window{}, s.proven...), core)...); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// complement is the window which, together with core, holds most of the claim.
// It must itself name what core or the claim names: a sentence that merely
// stands under the same title, and lends a word that core lacks, proves nothing.
func (s *sentence) complement(core window, ranking []ranked) (window, bool) {
	const gain, looked = 0.1, 32
	base := core.premise
	best, found := s.query.Relevance(base)+gain, false
	var w window
	for i, r := range ranking {
		if i == looked {
			break
		}
		if got := s.query.Relevance(base + " " + r.premise); got > best && s.tied(r.window, core) {
			best, w, found = got, r.window, true
		}
	}
	return w, found
}

// tied reports whether w names something that core or the claim does. A pronoun
// names the title that took its place.
func (s *sentence) tied(w, core window) bool {
	text := w.text
	if w.titled && pronounHead.MatchString(w.text) {
		text = w.premise
	}
	if w.passage != core.passage {
		// Two passages that name nothing in common say nothing together.
		return sharesName(w.premise, core.premise)
	}
	return sharesName(text, s.claim) || sharesName(text, core.premise)
}

// joined is one premise of several windows, each once, in the order given.
func joined(ws []window) candidate {
	var c candidate
	var parts []string
	seen := make(map[string]bool)
	for _, w := range ws {
		if p := w.premise; !seen[p] {
			seen[p] = true
			parts = append(parts, p)
			c.windows = append(c.windows, w)
		}
	}
	c.premise = strings.Join(parts, " ")
	return c
}
