package judgebench

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/schema"
)

// GroupSize is the number of rollouts of a generated group: GRPO's usual one.
const GroupSize = 8

// Generate makes groups of GroupSize rollouts out of at most n of the real
// ones, spread over them: the first rollout of each that begins with a search,
// and seven variants of it. Two rollouts of a group have the same first query
// as often as rates says real ones do, and claim the same from it as often as
// real ones do; every later step differs, in its query and in its claim, from
// that step of the others. The result depends on nothing but the arguments.
func Generate(groups []Group, rates Rates, n int, seed uint64) []Group {
	var bases []*transcript.Rollout
	for _, g := range groups {
		for _, r := range g.Rollouts {
			if len(r.Steps) > 1 && r.Steps[0].Query != "" {
				bases = append(bases, r)
				break
			}
		}
	}
	rng := rand.New(rand.NewPCG(seed, seed))
	var out []Group
	for i := range min(n, len(bases)) {
		base := bases[i*len(bases)/min(n, len(bases))]
		g := Group{Question: base.Question}
		for k := range GroupSize {
			// Two rollouts that keep the base's wording with probability p each
			// have it in common with probability p².
			sameQuery := rng.Float64() < math.Sqrt(rates.SameQuery)
			sameClaim := rng.Float64() < math.Sqrt(rates.SameClaim)
			g.Rollouts = append(g.Rollouts, variant(base, fmt.Sprintf("generated-%d-%d", i+1, k+1), k, sameQuery, sameClaim))
		}
		out = append(out, g)
	}
	return out
}

// variant is base as its k-th sibling would have written it.
func variant(base *transcript.Rollout, id string, k int, sameQuery, sameClaim bool) *transcript.Rollout {
	r := &transcript.Rollout{
		ID: id, Format: base.Format, Question: base.Question,
		Answer: base.Answer, Gold: base.Gold, Group: base.Group,
	}
	var history []schema.Prior
	for i, s := range base.Steps {
		s.Spans, s.Plan = nil, "" // they belong to the base's text
		if i > 0 || !sameQuery {
			s.Query = requery(s.Query, k)
		}
		if i > 0 || !sameQuery || !sameClaim {
			s.Claim = reword(s.Claim, k)
		}
		s.History = append([]schema.Prior(nil), history...)
		history = append(history, schema.Prior{Index: s.Index, Query: s.Query, Claim: s.Claim})
		r.Steps = append(r.Steps, s)
	}
	return r
}

// requery is a query as the k-th sibling would word it.
func requery(query string, k int) string {
	if query == "" {
		return ""
	}
	return query + " " + [GroupSize]string{"facts", "article", "overview", "details", "summary", "page", "information", "entry"}[k]
}

// reword is a claim as the k-th sibling would word it: the same fact, in a
// sentence of its own wording.
func reword(claim string, k int) string {
	text := strings.TrimRight(claim, " .")
	if text == "" {
		return claim
	}
	return text + [GroupSize]string{
		", as the passage has it.", ", as far as the passages go.", ", by these passages.", ", as the text says.",
		", as given there.", ", as one can read there.", ", as that page says.", ", as the article says.",
	}[k]
}
