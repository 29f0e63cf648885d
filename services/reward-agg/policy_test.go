package rewardagg

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/pkg/schema"
)

// A world is what the corpus can give for a question; honest is the policy that
// asks, claims what it read, mends what it was told of and says so where the
// corpus has nothing. The labels are those the tree gives.
type world struct {
	name   string
	honest []act
}

// losing is a rollout of an untrained policy: nothing but a gap that it ignored.
func losing() world {
	return world{"all is lost", []act{
		gap(schema.GapIrrelevant, "Glass Orchard", "The Glass Orchard is a farm."),
		conclude(schema.GapIrrelevant, "Therefore it is a farm.", "farm"),
	}}
}

const backWords = "Actually, that was wrong. "

func worlds() []world {
	author := ok("author of The Glass Orchard", "The Glass Orchard was written by Mara Quill. It appeared in 1961.")
	born := ok("Mara Quill birthplace", "Mara Quill was born in Harrowdale. Her father was a smith.")
	end := conclude(schema.GapNone, "Therefore the author comes from a valley town.", "Harrowdale")
	miss := gap(schema.GapIrrelevant, "Glass Orchard", "")
	bridge := gap(schema.GapMissingBridge, "novelist Quill", "Mara Quill grew up near a forge.")
	bridge.entities = []string{"Mara Quill", "Tessa Quill"}
	viaSister := ok("Tessa Quill sister of novelist", "Mara Quill was born in Harrowdale. Tessa was her sister.")
	wrong := gap(schema.GapContradicted, "Mara Quill birthplace", "Mara Quill was born in Leeds.")
	back := ok("Mara Quill early life", "Mara Quill was born in Harrowdale. Her father was a smith.")
	back.text = backWords + back.claim
	absent := act{gap: schema.GapNone, reason: schema.ReasonAbstainOK, query: "Mara Quill early life", abstains: true}
	missBorn := gap(schema.GapIrrelevant, "Mara Quill birthplace", "")
	giveUp := act{gap: schema.GapNone, reason: schema.ReasonAbstainOK, kind: schema.KindConclusion, answer: "cannot be determined", abstains: true}
	return []world{
		{"every search hits", []act{author, born, end}},
		{"first search misses", []act{miss, author, born, end}},
		{"a bridge is needed", []act{author, bridge, viaSister, end}},
		{"a slip, taken back", []act{author, wrong, back, end}},
		{"half is not in the corpus", []act{author, missBorn, absent, giveUp}},
		{"a wrong conclusion", []act{author, born, conclude(schema.GapIrrelevant, "Therefore the author is Welsh.", "Wales")}},
	}
}

// A trick turns honest steps into those of a policy that farms.
type trick struct {
	name  string
	apply func([]act) []act
	// instead marks a policy that takes the place of the honest one, rather
	// than adding to it. Doing nothing is rightly worth more than doing harm,
	// so it is not held against a policy that does.
	instead bool
}

func paid(a act) bool { return a.gap == schema.GapNone && a.claim != "" && !a.abstains }

// each replaces every step by those that f gives.
func each(f func(i int, a act) []act) func([]act) []act {
	return func(acts []act) []act {
		var out []act
		for i, a := range acts {
			out = append(out, f(i, a)...)
		}
		return out
	}
}

func halves(a act) (act, act, bool) {
	s := sentencesOf(a.claim, len(a.claim))
	if !paid(a) || a.kind == schema.KindConclusion || len(s) < 2 {
		return a, a, false
	}
	first, second := a, a
	first.claim, second.claim = s[0], strings.Join(s[1:], " ")
	second.text = ""
	return first, second, true
}

func tricks() []trick {
	noop := act{gap: schema.GapNone, reason: schema.ReasonNoClaim}
	return []trick{
		{"split steps, second half without a query", each(func(_ int, a act) []act {
			first, second, can := halves(a)
			if !can {
				return []act{a}
			}
			second.query = ""
			return []act{first, second}
		}), false},
		{"split steps, query repeated", each(func(_ int, a act) []act {
			first, second, can := halves(a)
			if !can {
				return []act{a}
			}
			return []act{first, second}
		}), false},
		{"split steps, query reworded", each(func(i int, a act) []act {
			first, second, can := halves(a)
			if !can {
				return []act{a}
			}
			first.source = fmt.Sprintf("passage %d", i)
			second.source, second.query = first.source, fmt.Sprintf("another approach number%d", i)
			return []act{first, second}
		}), false},
		{"pad with no-ops at the end", func(acts []act) []act { return append(slices.Clone(acts), noop, noop, noop) }, false},
		{"pad with no-ops throughout", each(func(_ int, a act) []act { return []act{noop, a} }), false},
		{"restate earlier claims", each(func(i int, a act) []act {
			again := a
			again.query, again.text = fmt.Sprintf("unrelated search number%d", i), ""
			if !paid(a) || a.kind == schema.KindConclusion {
				return []act{a}
			}
			return []act{a, again}
		}), false},
		{"contradict then retract", each(func(i int, a act) []act {
			if !paid(a) || a.kind == schema.KindConclusion {
				return []act{a}
			}
			lie := gap(schema.GapContradicted, fmt.Sprintf("another approach number%d", i), fmt.Sprintf("The moon base opened in %d.", 1900+i))
			a.text = backWords + a.claim
			return []act{lie, a}
		}), false},
		{"contradict then retract, all along", func(acts []act) []act {
			var out []act
			for i := range 4 {
				lie := gap(schema.GapContradicted, fmt.Sprintf("another approach number%d", i), fmt.Sprintf("The moon base opened in %d.", 1900+i))
				lie.text = backWords + lie.claim
				out = append(out, lie)
			}
			return append(out, act{gap: schema.GapNone, reason: schema.ReasonNoClaim, text: backWords})
		}, true},
		{"contradict at the end", func(acts []act) []act {
			return append(slices.Clone(acts), gap(schema.GapContradicted, "", "The moon base opened in 1900."))
		}, false},
		{"open a bridge gap, then mend it", each(func(i int, a act) []act {
			if !paid(a) || a.kind == schema.KindConclusion || a.query == "" {
				return []act{a}
			}
			vague := gap(schema.GapMissingBridge, fmt.Sprintf("another approach number%d", i), fmt.Sprintf("The matter has aspect %d.", i))
			vague.entities = []string{a.query}
			return []act{vague, a}
		}), false},
		{"abstain always", each(func(_ int, a act) []act {
			if paid(a) {
				// The passages do state it: B finds the abstention unjustified.
				a.gap, a.stage, a.claim, a.text, a.abstains = schema.GapContradicted, schema.StageAbstain, "", "It cannot be determined.", true
			}
			return []act{a}
		}), true},
		{"seek what is not there and say so", func(acts []act) []act {
			var seek []act
			for i := range 2 {
				a := ok(fmt.Sprintf("another approach number%d", i), fmt.Sprintf("Nothing is said of aspect %d.", i))
				a.abstains = true
				seek = append(seek, a)
			}
			return append(seek, acts...)
		}, false},
		{"ask the same again after a gap", each(func(_ int, a act) []act {
			if a.gap == schema.GapNone || a.query == "" {
				return []act{a}
			}
			again := noop
			again.query = a.query
			return []act{a, again}
		}), false},
		{"duplicate queries", each(func(_ int, a act) []act {
			if a.query == "" {
				return []act{a}
			}
			return []act{a, a, a}
		}), false},
		{"never claim", each(func(_ int, a act) []act {
			if paid(a) {
				a.claim, a.text, a.reason = "", "", schema.ReasonNoClaim
			}
			return []act{a}
		}), true},
		{"never search", func(acts []act) []act {
			return []act{{gap: schema.GapIrrelevant, stage: schema.StageQuote, kind: schema.KindConclusion, claim: "The answer is Leeds.", answer: "Leeds"}}
		}, true},
		{"conclude again and again", func(acts []act) []act {
			return append(slices.Clone(acts), conclude(schema.GapNone, "So it is a town.", "town"), conclude(schema.GapNone, "So it is in England.", "England"))
		}, false},
	}
}

func TestPolicyNoTrickBeatsHonestyUnderStepgap(t *testing.T) {
	t.Parallel()
	p := profile(t, "stepgap")
	for _, w := range append(worlds(), losing()) {
		honest := reward(t, p, w.honest...)
		t.Logf("%-28s honest %+.4f", w.name, honest)
		for _, k := range tricks() {
			if k.instead && w.name == losing().name {
				continue
			}
			got := reward(t, p, k.apply(w.honest)...)
			t.Logf("    %-45s %+.4f", k.name, got)
			require.LessOrEqual(t, got, honest+1e-9, "%s, %s", w.name, k.name)
		}
	}
}

// Each guard of the stepgap profile is needed: without it some trick wins.
func TestPolicyEveryGuardIsNeeded(t *testing.T) {
	t.Parallel()
	guards := map[string]func(*Profile){
		"gains divided":                  func(p *Profile) { p.Divide.Gains = DivideNothing },
		"penalties divided":              func(p *Profile) { p.Divide.Penalties = DivideSteps },
		"duplicates as dear as ignoring": func(p *Profile) { p.Shape.NearDuplicate.Value /= 2 },
		"gaps capped":                    func(p *Profile) { p.CapGaps = false },
	}
	for _, rule := range profile(t, "stepgap").Unpaid {
		guards["unpaid "+string(rule)] = func(p *Profile) {
			p.Unpaid = slices.DeleteFunc(slices.Clone(p.Unpaid), func(r Rule) bool { return r == rule })
		}
	}
	for name, drop := range guards {
		p := *profile(t, "stepgap")
		drop(&p)
		var won []string
		for _, w := range append(worlds(), losing()) {
			honest := reward(t, &p, w.honest...)
			for _, k := range tricks() {
				if k.instead && w.name == losing().name {
					continue
				}
				if reward(t, &p, k.apply(w.honest)...) > honest+1e-9 {
					won = append(won, w.name+" / "+k.name)
				}
			}
		}
		t.Logf("without %s: %d tricks win, such as %v", name, len(won), won[:min(1, len(won))])
		require.NotEmpty(t, won, name)
	}
}

// What each trick adds to the honest policy's reward under the paper's own
// numbers, in the order of worlds. What is above 0 wins.
func TestPolicyTricksThatWinUnderPaper(t *testing.T) {
	t.Parallel()
	p := profile(t, "paper")
	want := map[string][]float64{
		"split steps, second half without a query": {+0.40, +0.40, +0.40, +0.40, +0.20, +0.40},
		"split steps, query repeated":              {+0.30, +0.30, +0.30, +0.30, +0.15, +0.30},
		"split steps, query reworded":              {+0.40, +0.40, +0.40, +0.40, +0.20, +0.40},
		"pad with no-ops at the end":               {+0.60, +0.60, +0.60, +0.60, +0.60, +0.50},
		"pad with no-ops throughout":               {+0.60, +0.60, +0.60, +0.60, +0.60, +0.60},
		"restate earlier claims":                   {+0.40, +0.40, +0.40, +0.40, +0.20, +0.40},
		"contradict then retract":                  {+0.30, +0.30, +0.10, +0.10, +0.15, +0.30},
		"contradict then retract, all along":       {+0.20, +0.20, +0.15, +0.05, +0.20, +0.50},
		"contradict at the end":                    {+0.05, +0.05, +0.05, +0.05, +0.05, -0.05},
		"open a bridge gap, then mend it":          {+0.10, +0.10, -0.10, -0.10, +0.05, +0.10},
		"abstain always":                           {-0.65, -0.65, -0.65, -0.85, -0.25, -0.50},
		"duplicate queries":                        {+0.60, +0.30, +0.40, +0.50, +0.30, +0.60},
		"never claim":                              {+0.00, +0.00, +0.00, -0.20, +0.00, +0.00},
		"never search":                             {-0.70, -0.70, -0.75, -0.85, -0.70, -0.40},
		"seek what is not there and say so":        {+0.40, +0.40, +0.40, +0.40, +0.40, +0.40},
		"ask the same again after a gap":           {+0.00, +0.05, +0.05, -0.05, +0.05, +0.00},
		"conclude again and again":                 {+0.40, +0.40, +0.40, +0.40, +0.40, +0.30},
	}
	for _, k := range tricks() {
		var gains []float64
		for _, w := range worlds() {
			gains = append(gains, reward(t, p, k.apply(w.honest)...)-reward(t, p, w.honest...))
		}
		line := ""
		for _, g := range gains {
			line += fmt.Sprintf(" %+.2f,", g)
		}
		t.Logf("%q: {%s},", k.name, line)
		if assert.Contains(t, want, k.name) {
			assert.InDeltaSlice(t, want[k.name], gains, 1e-9, k.name)
		}
	}
}
