package local

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/pkg/schema"
	entitycheck "github.com/stepgap/stepgap/services/entity-check"
)

// Align calls a step misaligned only where it is clearly off. Names of the
// question and of earlier claims are on course. A name that none of them holds
// is off in the first query, whatever relation is asked of it; later it may have
// been read in evidence, which stage A doesn't see, and is off only where
// something is asked of it that the question doesn't ask.
func (Judge) Align(ctx context.Context, in entitycheck.Input) (entitycheck.Verdict, error) {
	if err := ctx.Err(); err != nil {
		return entitycheck.Verdict{}, fmt.Errorf("reading the step's aim: %w", err)
	}
	aim := in.Query
	if aim == "" {
		aim = in.Claim
	}
	wanted := evidence.ContentTokens(aim)
	if len(wanted) == 0 {
		return aligned("The step names nothing that could be off."), nil
	}
	g := newGround(in)
	names := evidence.Names(aim)
	if len(names) == 0 {
		if shared := sharedToken(wanted, g.tokens); shared != "" {
			return aligned(fmt.Sprintf("It shares %q with the question or an earlier claim.", shared)), nil
		}
		return aligned("It names no entity that could be off."), nil
	}
	for _, name := range names {
		if other := cmp.Or(g.initials(name), g.people(name)); other != "" {
			return aligned(fmt.Sprintf("It shares %q with the question or an earlier claim.", other)), nil
		}
		if shared := sharedToken(evidence.ContentTokens(name), g.tokens); shared != "" && !(g.first && g.hasRival(name, aim)) {
			return aligned(fmt.Sprintf("It shares %q with the question or an earlier claim.", shared)), nil
		}
	}
	if why := g.excuse(in, aim, wanted, names); why != "" {
		return aligned(why), nil
	}
	return entitycheck.Verdict{Meta: meta(fmt.Sprintf(
		"%q occurs neither in the question nor in any earlier claim.", names[0]))}, nil
}

func aligned(why string) entitycheck.Verdict {
	return entitycheck.Verdict{Aligned: true, Meta: meta(why)}
}

// ground is what a step can be on course by.
type ground struct {
	text   string
	tokens []string
	names  []string
	// first: this is the first search. open: an earlier step claims nothing.
	first, open bool
}

func newGround(in entitycheck.Input) ground {
	known := []string{in.Question}
	g := ground{first: len(in.Earlier) == 0 && in.Query != ""}
	for _, prior := range in.Earlier {
		known = append(known, prior.Claim)
		g.open = g.open || prior.Claim == ""
	}
	g.text = strings.Join(known, "\n")
	g.tokens = evidence.ContentTokens(g.text)
	g.names = evidence.Names(g.text)
	return g
}

// excuse says why an aim none of whose names is known may be right all the same,
// or "".
func (g ground) excuse(in entitycheck.Input, aim string, wanted, names []string) string {
	named := tokenSet(names...)
	var relation []string
	for _, t := range wanted {
		if !named[t] {
			relation = append(relation, t)
		}
	}
	shared := sharedToken(relation, g.tokens)
	if shared == "" {
		shared = sharedRelation(aim, g.text)
	}
	switch {
	case in.Kind == schema.KindConclusion || in.Query == "":
		if shared != "" {
			return fmt.Sprintf("It shares %q with the question or an earlier claim.", shared)
		}
	case g.first && len(g.names) == 0:
		if shared != "" {
			return fmt.Sprintf("The question names nothing, and the step shares %q with it.", shared)
		}
	case g.first:
	case g.open:
		return "It shares no name with the question, but an earlier step claimed nothing, so its names may come from evidence."
	case len(relation) == 0:
		return "It looks up a name that may come from evidence."
	case shared != "":
		return fmt.Sprintf("It asks for %q, as the question or an earlier claim does, of a name that may come from evidence.", shared)
	}
	return ""
}

// initials returns a word of name that is made of the initials of one of the
// ground's names ("U.S." for "United States"), or "".
func (g ground) initials(name string) string {
	for _, other := range g.names {
		short := ""
		for _, key := range strings.Fields(evidence.EntityKey(other)) {
			if !evidence.IsStopWord(key) {
				short += string([]rune(key)[:1])
			}
		}
		for _, w := range evidence.Words(name) {
			bare := strings.ReplaceAll(w.Text, ".", "")
			if len(bare) > 1 && bare == strings.ToUpper(bare) && strings.Contains(short, w.Key) {
				return w.Text
			}
		}
	}
	return ""
}

// people returns the first word of name that calls people by a place of the
// ground ("British" for "Britain"), or "".
func (g ground) people(name string) string {
	const stem = 4
	for _, key := range evidence.Tokens(name) {
		if len(key) <= stem || !strings.HasSuffix(key, "ish") && !strings.HasSuffix(key, "ese") && !strings.HasSuffix(key, "an") {
			continue
		}
		for _, other := range g.names {
			if slices.ContainsFunc(evidence.Tokens(other), func(place string) bool { return strings.HasPrefix(place, key[:stem]) }) {
				return key
			}
		}
	}
	return ""
}

// hasRival reports whether a name ends like one of the ground's but begins with
// words of its own, while the aim holds nothing of what tells the other apart:
// "Bergen Shipping Company" for "Ardal Shipping Company".
func (g ground) hasRival(name, aim string) bool {
	own := strings.Fields(evidence.EntityKey(name))
	have, known := setOf(evidence.Tokens(aim)), setOf(evidence.Tokens(g.text))
	if len(own) < 2 || known[own[0]] {
		return false
	}
	return slices.ContainsFunc(g.names, func(other string) bool {
		keys := strings.Fields(evidence.EntityKey(other))
		return len(keys) >= 2 && keys[len(keys)-1] == own[len(own)-1] && !sameSpelling(keys[0], own[0]) && !have[keys[0]]
	})
}

// sameSpelling reports whether two words are one, a letter apart.
func sameSpelling(a, b string) bool {
	ra, rb := []rune(a), []rune(b)
	if len(ra) > len(rb) {
		ra, rb = rb, ra
	}
	if len(rb)-len(ra) > 1 {
		return false
	}
	head := 0
	for head < len(ra) && ra[head] == rb[head] {
		head++
	}
	tail := 0
	for tail < len(ra)-head && ra[len(ra)-1-tail] == rb[len(rb)-1-tail] {
		tail++
	}
	return len(rb)-head-tail <= 1
}

// sharedToken returns the first of a's tokens that b holds too, or that begins
// like one of b's ("Norwegian" and "Norway"); else "".
func sharedToken(a, b []string) string {
	const stem = 5
	have := make(map[string]bool, 2*len(b))
	head := func(t string) string {
		if r := []rune(t); len(r) > stem {
			return "^" + string(r[:stem])
		}
		return ""
	}
	for _, t := range b {
		have[t] = true
		if h := head(t); h != "" {
			have[h] = true
		}
	}
	for _, t := range a {
		if have[t] || head(t) != "" && have[head(t)] {
			return t
		}
	}
	return ""
}

// sharedRelation returns a word of aim that asks for the same kind of fact as a
// word of text, or "".
func sharedRelation(aim, text string) string {
	asked := map[string]bool{}
	for _, key := range evidence.Tokens(text) {
		if kind := relationKind(key); kind != "" {
			asked[kind] = true
		}
	}
	for _, key := range evidence.Tokens(aim) {
		if kind := relationKind(key); kind != "" && asked[kind] {
			return key
		}
	}
	return ""
}

// relationKind groups the words by which people ask for the same kind of fact,
// where their spelling doesn't show it.
func relationKind(key string) string {
	switch key {
	case "born", "birth", "birthplace", "birthdate", "birthday", "native", "age", "older", "younger", "oldest", "youngest", "old":
		return "birth"
	case "die", "died", "dies", "death", "dead", "buried", "burial", "killed", "lived", "longer":
		return "death"
	case "wife", "husband", "spouse", "married", "marry", "marriage", "wed", "wedding":
		return "marriage"
	case "father", "mother", "parent", "parents", "son", "daughter", "child", "children", "grandfather", "grandmother", "grandson",
		"granddaughter", "grandparents", "uncle", "aunt", "brother", "sister", "sibling", "siblings", "family", "stepmother", "stepfather",
		"father-in-law", "mother-in-law", "sibling-in-law", "relatives":
		return "kin"
	case "where", "place", "location", "located", "country", "city", "town", "state", "county", "nationality", "citizenship",
		"headquarters", "headquartered", "address", "region", "province":
		return "place"
	case "when", "year", "date", "time", "earlier", "later", "before", "after":
		return "time"
	case "author", "wrote", "writer", "written", "writes", "book", "novel":
		return "writing"
	case "director", "directed", "directs", "film", "movie":
		return "film"
	case "founder", "founded", "established", "founders", "creator", "created":
		return "founding"
	case "population", "inhabitants", "people", "residents":
		return "population"
	}
	return ""
}
