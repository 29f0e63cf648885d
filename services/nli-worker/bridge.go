package nliworker

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/internal/nli"
	"github.com/stepgap/stepgap/pkg/schema"
)

const (
	// maxBridges bounds the names tried in place of a description.
	maxBridges = 4
	// maxHops bounds how many descriptions within each other are resolved.
	maxHops = 2
)

// bridges resolves descriptions in a conclusion by the names that quotes give.
type bridges struct {
	cross      *Cross
	question   string
	answer     string
	candidates []candidate
	names      []string
}

// newBridges takes the names that the quotes hold and the question and the
// answer don't: those that earlier queries and claims are about, or that stand
// in more than one quote.
func newBridges(c *Cross, step *schema.Step, candidates []candidate) *bridges {
	b := &bridges{cross: c, question: step.Question, answer: step.Answer, candidates: candidates}
	var said strings.Builder
	for _, h := range step.History {
		said.WriteString(h.Query + ". " + h.Claim + ". ")
	}
	asked := evidence.Words(step.Question)
	history := phraseOf(said.String())
	type counted struct {
		name   string
		quotes int
		said   bool
	}
	var found []counted
	at := make(map[string]int)
	titles := make(map[string]string) // a name as its own page writes it
	for _, cand := range candidates {
		if len(cand.windows) > 1 {
			continue
		}
		text := cand.premise
		title := bareTitle(cand.windows[0].title)
		if title != "" {
			text = `"` + title + `". ` + text
			titles[evidence.EntityKey(title)] = title
		}
		for _, name := range properNames(text) {
			key := evidence.EntityKey(name)
			if i, ok := at[key]; ok {
				found[i].quotes++
				continue
			}
			at[key] = -1
			if !namesOne(text, name) || holdsName(asked, name) || sharesContent(name, step.Answer) || strings.EqualFold(name, step.Answer) {
				continue
			}
			at[key] = len(found)
			found = append(found, counted{name, 1, history.holds(name)})
		}
		for key, i := range at {
			if i < 0 {
				delete(at, key)
			}
		}
	}
	sort.SliceStable(found, func(i, j int) bool {
		if found[i].said != found[j].said {
			return found[i].said
		}
		return found[i].quotes > found[j].quotes
	})
	for _, f := range found {
		if len(b.names) < maxBridges && (f.said || f.quotes > 1) {
			if title := titles[evidence.EntityKey(f.name)]; title != "" {
				f.name = title
			}
			b.names = append(b.names, f.name)
		}
	}
	return b
}

// namesOne reports whether name stands for something by itself in text: not an
// adjective ("an Italian painter"), nor two letters.
func namesOne(text, name string) bool {
	if len(name) < 3 {
		return false
	}
	words := evidence.Words(name)
	if len(words) != 1 || !isDemonym(words[0].Key) && nation(words[0].Key) == "" {
		return true
	}
	_, rest, _ := strings.Cut(text, name)
	next := wordsOf(rest)
	return len(next) == 0 || !strings.HasPrefix(rest, " ") || next[0].upper || isFinite(next[0].key) || evidence.IsStopWord(next[0].key)
}

// resolve puts names in place of the descriptions in claim, and finds the first
// that is what its description says and makes the claim one that the quotes
// entail.
func (b *bridges) resolve(ctx context.Context, claim string, hops int) (finding, error) {
	asked := 0
	for _, d := range descriptions(claim, b.question, b.answer) {
		for _, name := range b.names {
			fit, err := b.entailed(ctx, name, d.fits(claim, name), func(c candidate) bool { return d.supported(claim, c.premise) })
			if err != nil {
				return finding{}, err
			}
			asked += fit.pairs
			if fit.outcome != entailed {
				continue
			}
			bridged := d.replaced(claim, name)
			f, err := b.entailed(ctx, name, []string{bridged}, nil)
			if err != nil {
				return finding{}, err
			}
			asked += f.pairs
			if f.outcome != entailed && hops > 1 {
				f, err = b.resolve(ctx, bridged, hops-1)
				if err != nil {
					return finding{}, err
				}
				asked += f.pairs
			}
			if f.outcome == entailed {
				return both(fit, f, asked), nil
			}
		}
	}
	f, err := b.tailed(ctx, claim)
	f.pairs += asked
	return f, err
}

// deny takes an entailment back where the answer is what the question
// describes on its way, not what it asks for: "the author of Salt was born in"
// Ida Moor, who wrote it. A small model is led there by the name alone. Where
// the premise has every word of the claim, it says what was asked.
func (b *bridges) deny(ctx context.Context, claim string, f finding) (finding, error) {
	answer := strings.Trim(b.answer, ` ."'`)
	if !deniable(b.answer) || nothingDiffers(f.pair.Premise, presumed(claim, b.question, b.answer)) {
		return f, nil
	}
	const sure = 0.95
	for _, d := range descriptions(claim, b.question, b.answer) {
		if !d.definite(claim) {
			continue
		}
		is, err := b.entailed(ctx, answer, d.fits(claim, answer), func(c candidate) bool {
			return len(c.windows) == 1 && d.supported(claim, c.premise) && holdsAll(evidence.Words(c.premise), answer)
		})
		if err != nil {
			return finding{}, err
		}
		f.pairs += is.pairs
		if is.outcome == entailed && is.scores.Entailment >= sure {
			f.outcome, f.note = neutral, fmt.Sprintf("%s is %s, which the question starts from", answer, d.In(claim))
			return f, nil
		}
	}
	return f, nil
}

// deniable reports an answer that may be what the question describes on its way: a
// name.
func deniable(answer string) bool {
	answer = strings.Trim(answer, ` ."'`)
	return startsUpper(answer) && !hasDigit(answer) && len(strings.Fields(answer)) <= 6 && !bareAnswer(answer)
}

// tailed proves a statement whose answer stands in a relative clause by the
// name that the clause is about.
func (b *bridges) tailed(ctx context.Context, claim string) (finding, error) {
	t, ok := tailOf(claim, b.answer)
	asked := 0
	for i := 0; ok && i < len(b.names); i++ {
		first, second := t.parts(b.names[i])
		f, err := b.entailed(ctx, b.names[i], []string{second}, nil)
		if err != nil {
			return finding{}, err
		}
		asked += f.pairs
		if f.outcome != entailed {
			continue
		}
		head, err := b.entailed(ctx, b.names[i], []string{first}, nil)
		if err != nil {
			return finding{}, err
		}
		asked += head.pairs
		if head.outcome == entailed {
			return both(head, f, asked), nil
		}
	}
	return finding{outcome: neutral, pairs: asked}, nil
}

// both joins the findings of the two parts: the less sure one is shown.
func both(fit, bridged finding, asked int) finding {
	out, other := bridged, fit
	if fit.scores.Entailment < bridged.scores.Entailment {
		out, other = fit, bridged
	}
	out.windows = append(out.windows[:len(out.windows):len(out.windows)], other.windows...)
	out.pairs, out.near = asked, out.near || other.near
	return out
}

// entailed asks only premises that are wanted, name the bridge and hold whatever the guard
// wants of the hypotheses.
func (b *bridges) entailed(ctx context.Context, name string, hypotheses []string, wanted func(candidate) bool) (finding, error) {
	for i, h := range hypotheses {
		hypotheses[i] = presumed(h, b.question, b.answer)
	}
	var with []candidate
	for _, c := range b.candidates {
		if !holdsName(evidence.Words(c.premise), name) || wanted != nil && !wanted(c) {
			continue
		}
		for _, h := range hypotheses {
			if !b.cross.opts.Guard || absent(c.premise, h) == "" {
				with = append(with, c)
				break
			}
		}
	}
	if len(with) == 0 {
		return finding{outcome: neutral, pair: nli.Pair{Hypothesis: hypotheses[0]}}, nil
	}
	return b.cross.ask(ctx, with, hypotheses, lacksName)
}

func lacksName(premise, hypothesis string) string {
	if why := absent(premise, hypothesis); why != "" {
		return why + " is not in the quotes"
	}
	return swapped(premise, hypothesis)
}
