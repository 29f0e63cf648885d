package llm

import (
	"bytes"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/internal/judge"
	"github.com/stepgap/stepgap/internal/judge/llm/llmtest"
	"github.com/stepgap/stepgap/pkg/schema"
)

//go:embed testdata/malformed.jsonl
var malformedFile []byte

// malformed is one kind of answer that endpoints and models have been seen to
// give, or could.
type malformed struct {
	Name string
	// Layer "text" is the model's text, "body" the whole HTTP body.
	Layer string
	// Text, Repeat times, then Suffix; Hex where it is no text at all.
	Text         string
	Repeat       int
	Suffix       string
	SuffixRepeat int `json:"suffix_repeat"`
	Hex          string
	Finish       string
	// Want is the verdict of one that is read all the same; else Reason (by
	// default judge_malformed) and Fault say how it ends. Fault is empty where no
	// answer came at all.
	Want   string
	Reason schema.Reason
	Fault  Fault
	// Calls is what it costs at most, and exactly.
	Calls int
}

func malformedAnswers(t *testing.T) []malformed {
	t.Helper()
	var out []malformed
	names := map[string]bool{}
	for _, line := range bytes.Split(bytes.TrimSpace(malformedFile), []byte("\n")) {
		var m malformed
		dec := json.NewDecoder(bytes.NewReader(line))
		dec.DisallowUnknownFields()
		require.NoError(t, dec.Decode(&m))
		require.False(t, names[m.Name], m.Name)
		names[m.Name] = true
		if m.Want == "" && m.Reason == "" {
			m.Reason = schema.ReasonJudgeMalformed
			if m.Fault == FaultFiltered || m.Fault == FaultRefusal {
				m.Reason = schema.ReasonJudgeError
			}
		}
		out = append(out, m)
	}
	return out
}

func (m malformed) content() string {
	return strings.Repeat(m.Text, max(1, m.Repeat)) + strings.Repeat(m.Suffix, max(1, m.SuffixRepeat))
}

func (m malformed) reply(t *testing.T) llmtest.Reply {
	t.Helper()
	if m.Layer == "text" {
		finish := m.Finish
		if finish == "" {
			finish = "stop"
		}
		return llmtest.Finish(m.content(), finish)
	}
	if m.Hex != "" {
		body, err := hex.DecodeString(m.Hex)
		require.NoError(t, err)
		return llmtest.Raw(string(body))
	}
	return llmtest.Raw(m.content())
}

// TestMalformedAnswers holds every kind to its typed reason and its calls, and
// counts the kinds.
func TestMalformedAnswers(t *testing.T) {
	t.Parallel()
	kinds := malformedAnswers(t)
	unusable := 0
	for _, m := range kinds {
		if m.Want == "" {
			unusable++
		}
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			srv := llmtest.New(t, m.reply(t))
			c, _ := newTestClient(t, testConfig(srv.URL))
			got, meta, err := Ask[verdict](t.Context(), c, testRequest())
			require.Len(t, srv.Calls(), m.Calls, "calls on the wire: %v", err)
			require.Equal(t, m.Calls, meta.Calls, "calls counted")
			if m.Want != "" {
				require.NoError(t, err)
				require.Equal(t, m.Want, got.Stated)
				require.GreaterOrEqual(t, meta.TokensIn, 0)
				return
			}
			je := judge.AsError(err)
			require.NotNil(t, je, "verdict %+v, error %v", got, err)
			require.Equal(t, m.Reason, je.Reason, "%v", err)
			require.Empty(t, got, "a failure is never a verdict")
			var answer *AnswerError
			if m.Fault == "" {
				require.False(t, errors.As(err, &answer), "%v", err)
			} else {
				require.ErrorAs(t, err, &answer)
				require.Equal(t, m.Fault, answer.Fault, "%v", err)
			}
			require.Less(t, len(err.Error()), 2000)
		})
	}
	t.Logf("%d kinds, of which %d are unusable", len(kinds), unusable)
	require.GreaterOrEqual(t, unusable, 40)
}

// A repair that goes right mends any kind that is worth one.
func TestMalformedAnswersAreMendedByOneRepair(t *testing.T) {
	t.Parallel()
	for _, m := range malformedAnswers(t) {
		if m.Want != "" || m.Calls != 2 {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			srv := llmtest.New(t, m.reply(t), llmtest.Text(`{"stated":"no"}`))
			c, _ := newTestClient(t, testConfig(srv.URL))
			got, meta, err := Ask[verdict](t.Context(), c, testRequest())
			require.NoError(t, err)
			require.Equal(t, "no", got.Stated)
			require.Equal(t, 2, meta.Calls)
		})
	}
}
