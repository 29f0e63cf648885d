package nliworker_test

import (
	"strings"
	"testing"

	"github.com/stepgap/stepgap/internal/evidence"
	"github.com/stepgap/stepgap/internal/padding"
	"github.com/stepgap/stepgap/internal/tree"
	"github.com/stepgap/stepgap/pkg/schema"
	nliworker "github.com/stepgap/stepgap/services/nli-worker"
	"github.com/stretchr/testify/require"
)

// TestPromise_P5_PaddingMovesNoLabel: 50 KB of unrelated text of any shape before
// or after the deciding sentence, in its passage or in others, changes neither
// label nor, where any window holds a word of the claim, the deciding pair; with a
// quote and without.
func TestPromise_P5_PaddingMovesNoLabel(t *testing.T) {
	t.Parallel()
	d, err := nliworker.NewLocal(realScorer(t), nliworker.Defaults())
	require.NoError(t, err)
	decide := func(claim string, quoted string, match schema.QuoteMatch, passages ...schema.Passage) tree.Decision {
		s := step(claim, passages...)
		item := &tree.Item{Step: s}
		if match == schema.MatchWindow {
			q, ok := evidence.BestWindow(passages, claim, 1)
			require.True(t, ok)
			item.Quotes = []schema.Quote{q}
		} else {
			for _, p := range passages {
				if strings.Contains(p.Text, quoted) {
					item.Quotes = []schema.Quote{quoteOf(p, quoted)}
				}
			}
		}
		got, err := d.Decide(t.Context(), item)
		require.NoError(t, err)
		return got
	}
	const size = 50_000
	pads := map[padding.Kind]string{}
	for _, k := range padding.Kinds() {
		pads[k] = padding.Text(k, size)
	}
	right, all, cases, plain, padded := 0, 0, 0, 0, 0
	for _, f := range padding.Facts() {
		for _, c := range []struct {
			claim string
			want  schema.Gap
		}{{f.Entailed, schema.GapNone}, {f.Contradicted, schema.GapContradicted}, {f.Open, schema.GapMissingBridge}} {
			for _, match := range []schema.QuoteMatch{schema.MatchExact, schema.MatchWindow} {
				core := f.Text()
				base := decide(c.claim, f.Sentence, match, passage(f.Title, core, 3))
				if match == schema.MatchExact {
					all++
					if base.Gap == c.want {
						right++
					} else {
						t.Logf("%q => %q: %s, not %s (%+v)", f.Sentence, c.claim, base.Gap, c.want, base.Entry.Scores)
					}
				}
				for i, place := range []padding.Place{padding.Before, padding.After, padding.Around, "other passage", "earlier passage"} {
					kind := padding.Kinds()[(cases+cases/7)%len(pads)]
					var passages []schema.Passage
					switch i {
					case 3:
						passages = []schema.Passage{passage("Chronicle", pads[kind], 3), passage(f.Title, core, 3)}
					case 4:
						passages = []schema.Passage{passage(f.Title, core, 3), passage("Chronicle", pads[kind], 1)}
					default:
						passages = []schema.Passage{passage(f.Title, padding.Put(core, pads[kind], kind.Joiner(), place), 3)}
					}
					cases++
					got := decide(c.claim, f.Sentence, match, passages...)
					require.Equal(t, base.Gap, got.Gap, "%s %s, %s, %q", kind, place, match, c.claim)
					if evidence.Relevance(base.Quotes[0].Text, c.claim) > 0 { // else no window says anything of it
						require.Equal(t, base.Entry.Premise, got.Entry.Premise, "%s %s, %s, %q", kind, place, match, c.claim)
					}
					plain += base.Entry.Calls
					padded += got.Entry.Calls
				}
			}
		}
	}
	t.Logf("%d of %d plain labels right; %d padded cases unmoved; %.2f pairs a case plain, %.2f padded", right, all, cases,
		float64(plain)/float64(cases), float64(padded)/float64(cases))
	require.Greater(t, 10*right, 7*all, "the model and guard should get most plain cases right")
}
