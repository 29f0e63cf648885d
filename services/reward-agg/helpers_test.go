package rewardagg

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/pkg/schema"
)

// act is one step of a made-up rollout, labelled as the tree would.
type act struct {
	gap      schema.Gap
	stage    schema.Stage // default nli-local
	reason   schema.Reason
	kind     schema.Kind // default search
	query    string
	text     string // default claim
	claim    string
	answer   string
	entities []string
	saw      int
	abstains bool
	source   string // of the deciding quote
	noFacts  bool
	absent   bool
}

func (a act) label(index int) *schema.Label {
	l := &schema.Label{
		Run: "run", Rollout: "ro", Index: index, Digest: digestOf(index),
		Label: a.gap, Repair: a.gap.Repair(), Stage: a.stage, Reason: a.reason,
	}
	if l.Stage == "" {
		l.Stage = schema.StageLocal
	}
	if a.source != "" {
		l.Quotes = []schema.Quote{{Passage: a.source, Match: schema.MatchExact}}
	}
	if a.noFacts {
		return l
	}
	f := &schema.Facts{
		Kind: a.kind, Query: a.query, Text: a.text, Claim: a.claim, Answer: a.answer,
		Entities: a.entities, Saw: a.saw, Abstains: a.abstains,
	}
	if f.Kind == "" {
		f.Kind = schema.KindSearch
	}
	if f.Text == "" {
		f.Text = a.claim
	}
	at := 100 * index
	f.Spans = append(f.Spans, schema.Span{Kind: schema.SpanPlan, Start: at, End: at + 10})
	if a.query != "" {
		f.Spans = append(f.Spans, schema.Span{Kind: schema.SpanAction, Start: at + 10, End: at + 20})
	}
	if a.claim != "" {
		f.Spans = append(f.Spans, schema.Span{Kind: schema.SpanClaim, Start: at + 20, End: at + 30})
	}
	if a.answer != "" {
		f.Spans = append(f.Spans, schema.Span{Kind: schema.SpanAnswer, Start: at + 30, End: at + 40})
	}
	l.Facts = f
	return l
}

func digestOf(index int) string {
	return strings.Repeat("0", 60) + fmt.Sprintf("%04d", index)
}

func rolloutOf(acts ...act) (*schema.RolloutEnd, map[int]*schema.Label) {
	end := &schema.RolloutEnd{Run: "run", Rollout: "ro", Question: "?"}
	labels := map[int]*schema.Label{}
	for i, a := range acts {
		end.Steps = append(end.Steps, schema.StepRef{Index: i + 1, Digest: digestOf(i + 1)})
		if !a.absent {
			labels[i+1] = a.label(i + 1)
		}
	}
	return end, labels
}

func profile(t testing.TB, name string) *Profile {
	t.Helper()
	p, err := LoadProfile(name)
	require.NoError(t, err)
	return p
}

func compute(p *Profile, acts ...act) schema.Reward {
	end, labels := rolloutOf(acts...)
	return Compute(end, labels, p)
}

// reward is compute for rollouts that have one.
func reward(t testing.TB, p *Profile, acts ...act) float64 {
	t.Helper()
	r := compute(p, acts...)
	require.NotNil(t, r.Process, "%s: %s", r.Reason, r.Detail)
	return *r.Process
}

// Steps that the tables use.
func ok(query, claim string) act {
	return act{gap: schema.GapNone, query: query, claim: claim}
}

func gap(g schema.Gap, query, claim string) act { return act{gap: g, query: query, claim: claim} }

func conclude(g schema.Gap, claim, answer string) act {
	return act{gap: g, stage: schema.StageCross, kind: schema.KindConclusion, claim: claim, answer: answer}
}

func ptr(v float64) *float64 { return &v }
