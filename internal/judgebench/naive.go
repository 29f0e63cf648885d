package judgebench

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/stepgap/stepgap/internal/claim"
	"github.com/stepgap/stepgap/internal/judge/llm"
	"github.com/stepgap/stepgap/internal/transcript"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/client"
	"github.com/stepgap/stepgap/pkg/schema"
	abstaincheck "github.com/stepgap/stepgap/services/abstain-check"
	entitycheck "github.com/stepgap/stepgap/services/entity-check"
	quoteextract "github.com/stepgap/stepgap/services/quote-extract"
)

// Naive is a straightforward client of the judges: for each step it asks A, B
// and C, whatever they say, and then walks the tree with the three verdicts. It
// remembers nothing.
type Naive struct {
	entity  *entitycheck.LLM
	abstain *abstaincheck.LLM
	quote   *quoteextract.LLM
	// local and cross are stages D and E, which make no calls.
	local, cross tree.Decider
}

// NewNaive returns a naive client whose judges are built from setup.
func NewNaive(setup llm.Setup, local, cross tree.Decider) (*Naive, error) {
	n := &Naive{local: local, cross: cross}
	var err error
	if n.entity, err = entitycheck.NewLLM(setup); err != nil {
		return nil, fmt.Errorf("naive client: %w", err)
	}
	if n.abstain, err = abstaincheck.NewLLM(setup); err != nil {
		return nil, fmt.Errorf("naive client: %w", err)
	}
	if n.quote, err = quoteextract.NewLLM(setup); err != nil {
		return nil, fmt.Errorf("naive client: %w", err)
	}
	return n, nil
}

// Labels are labels by rollout and step.
type Labels map[string][]*schema.Label

// Run labels every rollout of groups, several at once.
func (n *Naive) Run(ctx context.Context, groups []Group, atOnce int) (Labels, error) {
	var rollouts []*transcript.Rollout
	for _, g := range groups {
		rollouts = append(rollouts, g.Rollouts...)
	}
	labels := make([][]*schema.Label, len(rollouts))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(atOnce)
	for i, r := range rollouts {
		work.Go(func() (err error) {
			labels[i], err = n.rollout(ctx, r)
			return err
		})
	}
	if err := work.Wait(); err != nil {
		return nil, err
	}
	out := Labels{}
	for i, r := range rollouts {
		out[r.ID] = labels[i]
	}
	return out, nil
}

func (n *Naive) rollout(ctx context.Context, r *transcript.Rollout) ([]*schema.Label, error) {
	earlier := map[int]*schema.Label{}
	var labels []*schema.Label
	for i := range r.Steps {
		step, err := asSent(&r.Steps[i])
		if err != nil {
			return nil, fmt.Errorf("rollout %s: %w", r.ID, err)
		}
		l, err := n.step(ctx, step, earlier)
		if err != nil {
			return nil, fmt.Errorf("rollout %s: %w", r.ID, err)
		}
		earlier[step.Index] = l
		labels = append(labels, l)
	}
	return labels, nil
}

// asSent is the step as a stage gets it.
func asSent(s *schema.Step) (*schema.Step, error) {
	sent := *s
	sent.Run, sent.Rollout = "naive", "naive"
	body, err := client.EncodeStep(&sent)
	if err != nil {
		return nil, fmt.Errorf("step %d: %w", s.Index, err)
	}
	out := &schema.Step{}
	if err := schema.Decode(body, out); err != nil {
		return nil, fmt.Errorf("step %d: %w", s.Index, err)
	}
	return out, out.BindStep(schema.StepID{Run: "naive", Rollout: "naive", Index: s.Index})
}

// verdicts are the answers of all three judges, given to the tree one by one.
type verdicts struct {
	entity  entitycheck.Verdict
	abstain abstaincheck.Verdict
	quote   quoteextract.Verdict
}

func (v verdicts) Align(context.Context, entitycheck.Input) (entitycheck.Verdict, error) {
	return v.entity, nil
}

func (v verdicts) Stated(context.Context, abstaincheck.Input) (abstaincheck.Verdict, error) {
	return v.abstain, nil
}

func (v verdicts) Extract(context.Context, quoteextract.Input) (quoteextract.Verdict, error) {
	return v.quote, nil
}

func (n *Naive) step(ctx context.Context, step *schema.Step, earlier map[int]*schema.Label) (*schema.Label, error) {
	v, err := n.ask(ctx, step)
	if err != nil {
		return nil, fmt.Errorf("step %d: %w", step.Index, err)
	}
	stages := map[tree.Hop]tree.Decider{
		tree.HopDone: entitycheck.New(v), tree.HopAbstain: abstaincheck.New(v), tree.HopQuote: quoteextract.New(v),
		tree.HopLocal: n.local, tree.HopCross: n.cross,
	}
	item := &tree.Item{Step: step, Earlier: earlier, Final: true}
	for hop := tree.HopDone; ; {
		d, err := stages[hop].Decide(ctx, item)
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", step.Index, err)
		}
		item.Trail = append(item.Trail, d.Entry)
		item.Abstaining, item.Quotes = d.Abstaining, d.Quotes
		if d.Next == tree.HopDone {
			return &schema.Label{
				Index: step.Index, Label: d.Gap, Repair: d.Gap.Repair(),
				Reason: d.Reason, Detail: d.Detail, Quotes: d.Quotes, Trail: item.Trail,
			}, nil
		}
		hop = d.Next
	}
}

// ask makes the three calls.
func (n *Naive) ask(ctx context.Context, s *schema.Step) (v verdicts, err error) {
	reading := claim.Read(s)
	claims := strings.Join(reading.Claims, " ")
	passages := append(s.Own(), s.Earlier()...)
	sought := s.Query
	if sought == "" {
		sought = s.Question
	}
	v.entity, err = n.entity.Align(ctx, entitycheck.Input{
		Question: s.Question, Kind: s.Kind, Query: s.Query, Claim: claims, Earlier: s.History,
	})
	if err != nil {
		return v, err
	}
	v.abstain, err = n.abstain.Stated(ctx, abstaincheck.Input{
		Question: s.Question, Query: s.Query, Sought: sought,
		Abstention: strings.Join(reading.Open, " "), Claim: claims, Passages: passages,
	})
	if err != nil {
		return v, err
	}
	v.quote, err = n.quote.Extract(ctx, quoteextract.Input{
		Question: s.Question, Kind: s.Kind, Query: s.Query, Claim: claims, Claims: reading.Claims, Passages: passages,
	})
	return v, err
}
