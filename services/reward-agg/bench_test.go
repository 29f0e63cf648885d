package rewardagg

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stepgap/stepgap/pkg/schema"
)

func longRollout(n int) []act {
	acts := make([]act, n)
	for i := range acts {
		acts[i] = act{
			gap:   []schema.Gap{schema.GapNone, schema.GapIrrelevant, schema.GapContradicted, schema.GapMissingBridge}[i%4],
			query: fmt.Sprintf("early life of the person number %d of the second list", i*7),
			claim: fmt.Sprintf("Person %d was born in the town of Harrowdale in %d. The second list names a smith.", i*7, 1000+i),
		}
	}
	return acts
}

func BenchmarkCompute(b *testing.B) {
	p := profile(b, "stepgap")
	for _, n := range []int{5, 50, schema.MaxSteps} {
		end, labels := rolloutOf(longRollout(n)...)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				Compute(end, labels, p)
			}
		})
	}
}

// hostileRollout is as long as a rollout can be, with texts that make every
// comparison dear.
func hostileRollout() []act {
	acts := longRollout(schema.MaxSteps)
	for i := range acts {
		a := &acts[i]
		var names strings.Builder
		for k := range 200 {
			fmt.Fprintf(&names, "Name%c%c ", 'a'+rune((i+k)%26), 'a'+rune(k%26))
		}
		a.query = names.String()
		for k := range 64 {
			a.claim += fmt.Sprintf(" The town of Harrowdale number%c has a smith of the second list.", 'a'+rune((i*k)%26))
		}
		a.text = strings.Repeat("I previously thought, my earlier, upon a closer, ", 1500)
		for k := range schema.MaxEntities {
			a.entities = append(a.entities, fmt.Sprintf("Name%c%c", 'a'+rune((i+k)%26), 'a'+rune(k%26)))
		}
	}
	return acts
}

func BenchmarkComputeHostile(b *testing.B) {
	end, labels := rolloutOf(hostileRollout()...)
	p := profile(b, "stepgap")
	for b.Loop() {
		Compute(end, labels, p)
	}
}
