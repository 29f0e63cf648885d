package nliworker

import (
	"math"
	"regexp"
	"sort"
	"strconv"
	"strings"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/internal/nli"
)

// A small NLI model takes 6.4 tonnes and 6,400 kilograms for two weights. Code
// puts an amount of the claim as the evidence puts it, where the two are one.

// asked is a pair as the model is asked about it: amounts in the units of the
// premise.
func asked(premise, hypothesis string) nli.Pair {
	return nli.Pair{Premise: premise, Hypothesis: inUnitsOf(premise, hypothesis)}
}

// quantity is an amount with its unit; base is what it comes to in the unit that
// all of its dimension are counted in.
type quantity struct {
	evidence.Span
	dimension string
	base      float64
}

type unit struct {
	dimension string
	factor    float64
}

// units by their names, in the singular and in small letters.
var units = map[string]unit{
	"mm": {"length", 1e-3}, "millimetre": {"length", 1e-3}, "millimeter": {"length", 1e-3},
	"cm": {"length", 1e-2}, "centimetre": {"length", 1e-2}, "centimeter": {"length", 1e-2},
	"m": {"length", 1}, "metre": {"length", 1}, "meter": {"length", 1},
	"km": {"length", 1e3}, "kilometre": {"length", 1e3}, "kilometer": {"length", 1e3},
	"mi": {"length", 1609.344}, "mile": {"length", 1609.344}, "ft": {"length", 0.3048}, "foot": {"length", 0.3048}, "feet": {"length", 0.3048},
	"yd": {"length", 0.9144}, "yard": {"length", 0.9144}, "inch": {"length", 0.0254}, "inches": {"length", 0.0254},
	"ha": {"area", 1e4}, "hectare": {"area", 1e4}, "acre": {"area", 4046.856},
	"km2": {"area", 1e6}, "km²": {"area", 1e6}, "sq km": {"area", 1e6}, "square kilometre": {"area", 1e6}, "square kilometer": {"area", 1e6},
	"sq mi": {"area", 2.589988e6}, "square mile": {"area", 2.589988e6},
	"m2": {"area", 1}, "m²": {"area", 1}, "square metre": {"area", 1}, "square meter": {"area", 1},
	"g": {"mass", 1e-3}, "gram": {"mass", 1e-3}, "kg": {"mass", 1}, "kilogram": {"mass", 1}, "kilo": {"mass", 1},
	"t": {"mass", 1e3}, "tonne": {"mass", 1e3}, "lb": {"mass", 0.45359237}, "pound": {"mass", 0.45359237},
	"litre": {"volume", 1}, "liter": {"volume", 1}, "hectolitre": {"volume", 100}, "hectoliter": {"volume", 100},
	"min": {"time", 60}, "minute": {"time", 60}, "hour": {"time", 3600}, "h": {"time", 3600}, "second": {"time", 1},
}

var reQuantity = func() *regexp.Regexp {
	names := make([]string, 0, len(units))
	for name := range units {
		names = append(names, strings.ReplaceAll(regexp.QuoteMeta(name), " ", `\s`))
	}
	sort.Slice(names, func(i, j int) bool { // the longest first, which is the one meant
		return len(names[i]) > len(names[j]) || len(names[i]) == len(names[j]) && names[i] < names[j]
	})
	return regexp.MustCompile(`(\d[\d,]*(?:\.\d+)?)(?:\s|-|\x{00a0})?(` + strings.Join(names, "|") + `)(s?)(?:[^\pL\pN²]|$)`)
}()

func quantities(text string) []quantity {
	var out []quantity
	for _, m := range reQuantity.FindAllStringSubmatchIndex(text, -1) {
		value, err := strconv.ParseFloat(strings.ReplaceAll(text[m[2]:m[3]], ",", ""), 64)
		if err != nil {
			continue
		}
		u := units[text[m[4]:m[5]]]
		out = append(out, quantity{evidence.Span{Start: m[2], End: m[7]}, u.dimension, value * u.factor})
	}
	return out
}

// inUnitsOf is claim with its amounts as premise writes them, where premise
// gives the same amount; other amounts stay, and differ as they did.
func inUnitsOf(premise, claim string) string {
	given := quantities(premise)
	if len(given) == 0 {
		return claim
	}
	ours := quantities(claim)
	for i := len(ours) - 1; i >= 0; i-- {
		q := ours[i]
		for _, g := range given {
			if g.dimension == q.dimension && math.Abs(g.base-q.base) <= 1e-3*g.base {
				claim = claim[:q.Start] + g.In(premise) + claim[q.End:]
				break
			}
		}
	}
	return claim
}
