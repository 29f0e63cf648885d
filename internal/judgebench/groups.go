package judgebench

import (
	"fmt"
	"iter"
	"strings"

	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Group is the rollouts of one question.
type Group struct {
	Question string
	Rollouts []*transcript.Rollout
}

// Groups puts rollouts of the same question together and returns those
// questions that have at least two, in the order of their first rollout. A
// rollout without steps belongs to none.
func Groups(rollouts iter.Seq2[*transcript.Rollout, error]) ([]Group, error) {
	var order []string
	all := map[string][]*transcript.Rollout{}
	for r, err := range rollouts {
		if err != nil {
			return nil, fmt.Errorf("reading groups: %w", err)
		}
		question := strings.TrimSpace(r.Question)
		if question == "" || len(r.Steps) == 0 {
			continue
		}
		if all[question] == nil {
			order = append(order, question)
		}
		all[question] = append(all[question], r)
	}
	var groups []Group
	for _, q := range order {
		if len(all[q]) > 1 {
			groups = append(groups, Group{q, all[q]})
		}
	}
	return groups, nil
}

// Rates say how much alike the rollouts of a question are. A rate is over pairs
// of rollouts of the same question, pooled.
type Rates struct {
	Questions int `json:"questions"`
	Rollouts  int `json:"rollouts"`
	Steps     int `json:"steps"`
	// Pairs of rollouts that both begin with a search.
	Pairs int `json:"pairs"`
	// SameQuery is the share of pairs with the same first query.
	SameQuery float64 `json:"same_first_query"`
	// SamePassages and SameClaim are, among those, the shares that also got the
	// same passages, and that also claimed the same from them.
	SamePassages float64 `json:"same_passages_given_query"`
	SameClaim    float64 `json:"same_claim_given_query_and_passages"`
}

// Measure counts pairs. It fails where there are none to count: a rate of no
// pairs is no number.
func Measure(groups []Group) (Rates, error) {
	r := Rates{Questions: len(groups)}
	var query, passages, claim int
	for _, g := range groups {
		r.Rollouts += len(g.Rollouts)
		var firsts []*schema.Step
		for _, rollout := range g.Rollouts {
			r.Steps += len(rollout.Steps)
			if first := &rollout.Steps[0]; first.Query != "" {
				firsts = append(firsts, first)
			}
		}
		for i, a := range firsts {
			for _, b := range firsts[:i] {
				r.Pairs++
				if a.Query != b.Query {
					continue
				}
				query++
				if !samePassages(a, b) {
					continue
				}
				passages++
				if a.Claim == b.Claim {
					claim++
				}
			}
		}
	}
	if passages == 0 {
		return r, fmt.Errorf("measuring %d groups: no two rollouts of a question begin with the same search", len(groups))
	}
	r.SameQuery = float64(query) / float64(r.Pairs)
	r.SamePassages = float64(passages) / float64(query)
	r.SameClaim = float64(claim) / float64(passages)
	return r, nil
}

func samePassages(a, b *schema.Step) bool {
	if len(a.Passages) != len(b.Passages) {
		return false
	}
	for i := range a.Passages {
		if a.Passages[i].Title != b.Passages[i].Title || a.Passages[i].Text != b.Passages[i].Text {
			return false
		}
	}
	return true
}
