package transcript

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/pkg/schema"
)

// A transcript on the wire is read as the same rollout in a file is.
func TestAMessageIsReadAsAFileIs(t *testing.T) {
	t.Parallel()
	const question = "Who built Oakford Mill?"
	chat := `[{"role":"user","content":"Who built Oakford Mill?"},{"role":"assistant","content":"I need to search for the mill.","tool_calls":[{"id":"c1","function":{"name":"search","arguments":"{\"query\":\"Oakford Mill\"}"}}]},{"role":"tool","tool_call_id":"c1","content":"Oakford Mill was built by Silas Crane."},{"role":"assistant","content":"Silas Crane"}]`
	var messages []schema.ChatMessage
	require.NoError(t, json.Unmarshal([]byte(strings.NewReplacer(`"tool_calls":[{"id":"c1","function":{"name"`, `"calls":[{"id":"c1","name"`, `\"}"}}]`, `\"}"}]`).Replace(chat)), &messages))
	require.Len(t, messages[1].Calls, 1)
	turns := `[{"think":"I need the mill.","query":"Oakford Mill","passages":[{"title":"Oakford Mill","text":"Oakford Mill was built by Silas Crane <b>in 1841</b> & later."}]},{"think":"Oakford Mill was built by Silas Crane.","answer":"Silas Crane"}]`
	var wire []schema.Turn
	require.NoError(t, json.Unmarshal([]byte(turns), &wire))
	texts := map[Format]string{
		FormatSearchR1: "<think>I need the mill.</think><search>Oakford Mill</search><information>Doc 1(Title: \"Oakford Mill\") Oakford Mill was built by Silas Crane\u2028 in 1841.</information><think>Silas Crane built it.</think><answer>Silas Crane</answer><|im_end|>",
		FormatReAct:    "Thought 1: I need the mill.\nAction 1: Search[Oakford Mill]\nObservation 1: Oakford Mill was built by Silas Crane.\nThought 2: Silas Crane built Oakford Mill.\nAction 2: Finish[Silas Crane]",
	}
	cases := map[string]struct {
		message schema.Transcript
		record  map[string]any
	}{
		"chat":  {schema.Transcript{Messages: messages}, map[string]any{"messages": json.RawMessage(chat)}},
		"turns": {schema.Transcript{Turns: wire}, map[string]any{"steps": json.RawMessage(turns)}},
	}
	for f, text := range texts {
		cases[string(f)] = struct {
			message schema.Transcript
			record  map[string]any
		}{schema.Transcript{Text: text}, map[string]any{"completion": text}}
		named := cases[string(f)]
		named.message.Format = string(f)
		cases[string(f)+", named"] = named
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.message.Question, c.record["question"] = question, question
			got, err := FromMessage(&c.message)
			require.NoError(t, err)
			b, err := json.Marshal(c.record)
			require.NoError(t, err)
			for want, err := range Decode(strings.NewReader(string(b)), "x", Options{}) {
				require.NoError(t, err)
				require.Equal(t, want.Steps, got.Steps)
				require.Equal(t, want.Text, got.Text)
				require.Equal(t, want.Answer, got.Answer)
			}
			require.Equal(t, "Silas Crane", got.Answer)
			sound(t, got)
			if c.message.Text != "" {
				require.Equal(t, c.message.Text, got.Text, "spans are offsets into the text as given")
			}
		})
	}
}

// Every text in the test data that a file reader takes, a message gives alike.
func TestMessagesOfTheTestData(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("testdata", "*.txt"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		m := &schema.Transcript{Run: "r", Rollout: "o", Text: strings.ToValidUTF8(string(b), "?"), Question: "?"}
		require.NoError(t, m.Validate(), file)
		first, err := FromMessage(m)
		require.NoError(t, err, file)
		again, err := FromMessage(m)
		require.NoError(t, err)
		require.Equal(t, first, again, "%s is read twice, and differs", file)
	}
}

func TestMessagesThatHoldNoRollout(t *testing.T) {
	t.Parallel()
	silent, err := FromMessage(&schema.Transcript{Question: "?", Text: "\n "})
	require.NoError(t, err)
	require.Empty(t, silent.Steps)
	for name, m := range map[string]*schema.Transcript{
		"no question": {Text: "<search>a</search><information>b</information><answer>c</answer>"},
		"no form":     {Text: "words"},
	} {
		_, err := FromMessage(m)
		require.Error(t, err, name)
		require.Equal(t, schema.ReasonMalformed, schema.ReasonOf(err), name)
	}
	asked, err := FromMessage(&schema.Transcript{Text: "<answer>c</answer>", Prompt: "Question: Who built it?\n"})
	require.NoError(t, err)
	require.Equal(t, "Who built it?", asked.Question)
}
