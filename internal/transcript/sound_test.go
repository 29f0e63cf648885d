package transcript

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/pkg/schema"
)

// sound checks what holds of every rollout, however odd its source: the wire
// takes each step, spans lie inside the text over what they say they cover, and
// no passage is a grader's or an environment's word.
func sound(t testing.TB, r *Rollout) {
	t.Helper()
	require.True(t, utf8.ValidString(r.Text))
	runes := []rune(r.Text)
	for i := range r.Steps {
		s := r.Steps[i]
		require.Equal(t, i+1, s.Index)
		if s.Question == "" {
			require.True(t, warned(r, WarnNoQuestion))
			s.Question = "?"
		}
		require.NoError(t, s.BindStep(schema.StepID{Run: "run", Rollout: SafeID(r.ID), Index: s.Index}))
		require.NoError(t, s.Validate(), "step %d of %s", s.Index, r.ID)
		require.Len(t, s.History, i)
		if s.Kind == schema.KindConclusion {
			require.Empty(t, s.Own(), "a conclusion has no passages of its own")
			require.Empty(t, s.Query)
		}
		seen := map[string]bool{}
		for _, p := range s.Passages {
			require.False(t, seen[p.Digest], "a passage twice")
			seen[p.Digest] = true
			if p.Ref == "" {
				require.Equal(t, schema.PassageDigest(p.Title, p.Text), p.Digest)
				require.Equal(t, denyNothing, deny(p.Text), "passage %q", p.Text)
			}
			require.LessOrEqual(t, p.ByStep, s.Index)
		}
		for _, sp := range s.Spans {
			require.LessOrEqual(t, sp.End, len(runes))
			covered := string(runes[sp.Start:sp.End])
			switch sp.Kind {
			case schema.SpanAnswer:
				if r.Format != FormatStepGap {
					require.Contains(t, covered, strings.TrimSpace(s.Answer))
				}
			case schema.SpanAction:
				// a tool call's JSON holds its queries one by one
				for _, q := range strings.Split(s.Query, "; ") {
					if r.Format != FormatChat {
						require.Contains(t, covered, strings.TrimSpace(q))
					}
				}
			}
			if r.Format != FormatStepGap { // a publisher's own spans are kept
				require.Equal(t, strings.TrimSpace(covered), covered, "spans begin and end with what was written")
			}
		}
	}
}

func warned(r *Rollout, code WarningCode) bool {
	for _, w := range r.Warnings {
		if w.Code == code {
			return true
		}
	}
	return false
}
