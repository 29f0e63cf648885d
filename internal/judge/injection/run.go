package injection

import (
	"context"
	"fmt"
	"sort"
	"strings"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Tree are the deciders of the stages by the hop that leads to them; stage A
// stands under the empty hop.
type Tree map[tree.Hop]tree.Decider

// Options say how much is run. The zero value runs everything.
type Options struct {
	// Once puts each text into one place of one host alone, in turn: for judges
	// that cost something.
	Once bool
	// Texts bounds how many texts are run, spread over the corpus; 0: all.
	Texts int
	// Each is told of every case as it ends; may be nil.
	Each func(Case)
}

// Case is one text at one spot of one host.
type Case struct {
	Text  Text
	Host  string
	Place Place
	Spot  string
	// Before and After are the labels without and with the text; After is
	// ungraded where a judge could not judge.
	Before, After schema.Gap
	Stage         schema.Stage
	Detail        string
	// Changed says that the text changed the label, other than by stating a
	// fact (see Text.Asserts).
	Changed bool
	// Foreign counts quotes that don't stand in the evidence.
	Foreign int
	// Injected counts quotes that hold words of the text alone.
	Injected int
}

// Name tells a case from all others.
func (c Case) Name() string {
	return fmt.Sprintf("%s / %s, %s / %s", c.Text.Name, c.Place, c.Spot, c.Host)
}

// Report sums the cases up.
type Report struct {
	Texts, Cases int
	Changed      []Case
	Ungraded     []Case
	// Foreign and Injected count quotes; see Case.
	Foreign, Injected int
	// ToNone counts those of Changed that lost a gap.
	ToNone int
	// ByKind counts cases and changed ones by kind and place.
	ByKind map[string]map[Place]Share
}

// Share is how many of how many.
type Share struct{ Changed, Of int }

// Run puts the corpus into the hosts and compares the labels that the deciders
// give with those that they gave without it. A step that can't be judged is
// counted as ungraded, never as a label kept. The error is ctx's, or that a
// host could not be judged without any text.
func Run(ctx context.Context, t Tree, o Options) (Report, error) {
	texts, err := Corpus()
	if err != nil {
		return Report{}, err
	}
	hosts := Hosts()
	before := make([]schema.Gap, len(hosts))
	for i, h := range hosts {
		label, err := t.judge(ctx, h.rollout(nil, ""))
		if err != nil {
			return Report{}, fmt.Errorf("host %q without any text: %w", h.Name, err)
		}
		before[i] = label.Label
	}
	r := Report{ByKind: map[string]map[Place]Share{}}
	for n, text := range texts {
		if o.Texts > 0 && n*o.Texts/len(texts) == (n-1)*o.Texts/len(texts) && n > 0 {
			continue
		}
		r.Texts++
		for i, h := range hosts {
			if o.Once && i != n%len(hosts) {
				continue
			}
			for p, place := range text.Places {
				if o.Once && p != n/len(hosts)%len(text.Places) {
					continue
				}
				if !h.fits(place) {
					place = PlaceStep
					if !o.Once {
						continue
					}
				}
				at := spots(place)
				if o.Once {
					at = at[n%len(at) : n%len(at)+1]
				}
				for _, s := range at {
					c, err := t.attack(ctx, text, h, place, s, before[i])
					if err != nil {
						return r, err
					}
					r.add(c)
					if o.Each != nil {
						o.Each(c)
					}
				}
			}
		}
	}
	return r, nil
}

// attack judges one case.
func (t Tree) attack(ctx context.Context, text Text, h Host, place Place, s spot, before schema.Gap) (Case, error) {
	c := Case{Text: text, Host: h.Name, Place: place, Spot: s.name, Before: before}
	steps := h.rollout(&s, text.Attack())
	label, err := t.judge(ctx, steps)
	if err != nil {
		if ctx.Err() != nil || judge.AsError(err) == nil {
			return c, fmt.Errorf("%s: %w", c.Name(), err)
		}
		c.After, c.Detail = schema.GapUngraded, err.Error()
		return c, nil
	}
	c.After, c.Stage, c.Detail = label.Label, label.Stage, label.Detail
	c.Changed = c.After != before && !(text.Asserts && c.After != schema.GapNone)
	for _, q := range label.Quotes {
		switch {
		case !stands(q, steps):
			c.Foreign++
		case strings.Contains(text.Attack(), q.Text):
			c.Injected++
		}
	}
	return c, nil
}

// judge moves a rollout's steps through the tree and returns the last label.
func (t Tree) judge(ctx context.Context, steps []schema.Step) (*schema.Label, error) {
	earlier := map[int]*schema.Label{}
	var label *schema.Label
	for i := range steps {
		item := &tree.Item{Step: &steps[i], Earlier: earlier, Final: true}
		for hop := tree.Hop(""); ; {
			decider := t[hop]
			if decider == nil {
				return nil, fmt.Errorf("no decider for hop %q", hop)
			}
			d, err := decider.Decide(ctx, item)
			if err != nil {
				return nil, err
			}
			item.Trail = append(item.Trail, d.Entry)
			item.Abstaining, item.Quotes = d.Abstaining, d.Quotes
			if hop = d.Next; hop == tree.HopDone {
				label = &schema.Label{Index: steps[i].Index, Label: d.Gap, Stage: d.Entry.Stage, Reason: d.Reason, Detail: d.Detail, Quotes: d.Quotes, Trail: item.Trail}
				break
			}
		}
		earlier[steps[i].Index] = label
	}
	return label, nil
}

// stands reports whether a quote is its passage's text at its offsets.
func stands(q schema.Quote, steps []schema.Step) bool {
	for _, s := range steps {
		for _, p := range s.Passages {
			if p.Digest != q.Passage {
				continue
			}
			runes := []rune(p.Text)
			return q.Start >= 0 && q.Start < q.End && q.End <= len(runes) && string(runes[q.Start:q.End]) == q.Text
		}
	}
	return false
}

func (r *Report) add(c Case) {
	r.Cases++
	r.Foreign += c.Foreign
	r.Injected += c.Injected
	if r.ByKind[c.Text.Kind] == nil {
		r.ByKind[c.Text.Kind] = map[Place]Share{}
	}
	share := r.ByKind[c.Text.Kind][c.Place]
	share.Of++
	switch {
	case c.After == schema.GapUngraded:
		r.Ungraded = append(r.Ungraded, c)
	case c.Changed:
		r.Changed = append(r.Changed, c)
		share.Changed++
		if c.After == schema.GapNone {
			r.ToNone++
		}
	}
	r.ByKind[c.Text.Kind][c.Place] = share
}

// String is the report for people, a line a kind.
func (r Report) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d texts in %d cases: %d labels changed (%d from a gap to none), %d ungraded, %d quotes from outside the evidence, %d of the text itself",
		r.Texts, r.Cases, len(r.Changed), r.ToNone, len(r.Ungraded), r.Foreign, r.Injected)
	var kinds []string
	for kind := range r.ByKind {
		kinds = append(kinds, kind)
	}
	sort.Strings(kinds)
	for _, kind := range kinds {
		fmt.Fprintf(&b, "\n  %-17s", kind)
		for _, place := range []Place{PlaceStep, PlaceQuery, PlaceEvidence} {
			fmt.Fprintf(&b, " %s %d of %d", place, r.ByKind[kind][place].Changed, r.ByKind[kind][place].Of)
		}
	}
	return b.String()
}

// Clean judges a host as it is.
func (t Tree) Clean(ctx context.Context, h Host) (*schema.Label, error) {
	return t.judge(ctx, h.rollout(nil, ""))
}
