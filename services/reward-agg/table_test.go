package rewardagg

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stepgap/stepgap/internal/docblock/docblocktest"
)

// TestTheTableOfPoliciesInTheDocsIsTrue holds the table in docs/rewards.md to what
// the tricks are worth.
func TestTheTableOfPoliciesInTheDocsIsTrue(t *testing.T) {
	t.Parallel()
	docblocktest.Holds(t, "../../docs/rewards.md", "policies", policyTable(t))
}

// policyTable has a row a trick: the most and the least that it adds to the honest
// policy's reward, over all worlds.
func policyTable(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprint(&b, "| trick | `paper`: most | where | `paper`: least | `stepgap`: most |\n|---|---|---|---|---|\n")
	for _, k := range tricks() {
		paper, where, least := gainsOf(t, profile(t, "paper"), k)
		safe, _, _ := gainsOf(t, profile(t, "stepgap"), k)
		wins := ""
		if paper > 1e-9 {
			wins = "**"
		}
		fmt.Fprintf(&b, "| %s | %s%+.2f%s | %s | %+.2f | %+.3f |\n", k.name, wins, paper, wins, where, least, safe)
	}
	return b.String()
}

// gainsOf is the most that a trick adds, the world where it does, and the least.
func gainsOf(t *testing.T, p *Profile, k trick) (most float64, where string, least float64) {
	t.Helper()
	for i, w := range worlds() {
		gain := reward(t, p, k.apply(w.honest)...) - reward(t, p, w.honest...)
		if math.Abs(gain) < 1e-9 {
			gain = 0 // rounding, which would print a sign
		}
		if i == 0 || gain > most+1e-9 {
			most, where = gain, w.name
		}
		if i == 0 || gain < least {
			least = gain
		}
	}
	return most, where, least
}
