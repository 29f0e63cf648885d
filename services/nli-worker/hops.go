package nliworker

import (
	"context"
	"slices"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/pkg/schema"
)

// hopWindows bounds the windows that a claim over several hops is looked for in.
const hopWindows = 12

// bridge looks again at a sentence that no window entails and that describes
// something in the words of its question: the passages may name it, as the
// quotes of earlier steps do for a conclusion. What code found stands.
func (l *Local) bridge(ctx context.Context, step *schema.Step, sentence string, windows []window, f finding) (finding, error) {
	if f.outcome == entailed || f.outcome == contradicted && f.note != "" || len(descriptions(sentence, step.Question, "")) == 0 {
		return f, nil
	}
	var near []candidate
	for _, r := range telling(rank(windows, evidence.NewQuery(sentence))) {
		if len(near) == hopWindows || r.relevance < l.opts.Related {
			break
		}
		near = append(near, single(r.window))
	}
	if len(near) < 2 {
		return f, nil
	}
	b := newBridges(&Cross{scorer: l.scorer, opts: l.opts}, step, near)
	said := namingOf(sentence)
	b.names = slices.DeleteFunc(b.names, said.holds)
	r, err := b.resolve(ctx, sentence, maxHops)
	if err != nil {
		return finding{}, err
	}
	asked, unsure := f.pairs+r.pairs, f.near || r.near
	if r.outcome == entailed {
		f = r
	}
	f.pairs, f.near = asked, unsure
	return f, nil
}
