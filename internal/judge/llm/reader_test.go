package llm

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

func TestReadAnswer(t *testing.T) {
	t.Parallel()
	const yes, no = `{"stated":"yes"}`, `{"stated":"no"}`
	type tc struct {
		text, want string
		fault      Fault
	}
	good := func(text, want string) tc { return tc{text: text, want: want} }
	bad := func(text string, fault Fault) tc { return tc{text: text, fault: fault} }
	for name, tc := range map[string]tc{
		"strict":                       good(yes, "yes"),
		"white space around":           good("\n\t "+yes+" \n", "yes"),
		"pretty":                       good("{\n  \"reason\": \"it says so\",\n  \"stated\": \"yes\"\n}", "yes"),
		"byte order mark":              good("\ufeff"+yes, "yes"),
		"escapes":                      good(`{"stated":"\u0079es"}`, "yes"),
		"braces in a string":           good(`{"reason":"a } and a {","stated":"no"}`, "no"),
		"fence":                        good("```json\n"+yes+"\n```", "yes"),
		"fence without a language":     good("```\n"+yes+"\n```", "yes"),
		"fence on one line":            good("```json "+yes+" ```", "yes"),
		"fence with talk around":       good("Sure! Here it is:\n```json\n"+yes+"\n```\nHope this helps.", "yes"),
		"fence never closed":           good("```json\n"+yes, "yes"),
		"fence in capitals":            good("```JSON\n"+yes+"\n```", "yes"),
		"two fences that agree":        good("```\n"+yes+"\n```\n```\n"+yes+"\n```", "yes"),
		"talk before":                  good("The answer is "+yes, "yes"),
		"talk after":                   good(yes+"\n\nLet me know if you need more.", "yes"),
		"talk with braces":             good("In the set {a, b} we find "+yes, "yes"),
		"an open brace before":         good("{ oops "+yes, "yes"),
		"another object before":        good(`{"thought":"hm"} `+yes, "yes"),
		"said twice":                   good(yes+yes, "yes"),
		"thinking aloud":               good("<think>maybe "+no+"</think>\n"+yes, "yes"),
		"two that differ":              bad(yes+"\n"+no, FaultAmbiguous),
		"two fences that differ":       bad("```\n"+yes+"\n```\n```\n"+no+"\n```", FaultAmbiguous),
		"a key twice":                  bad(`{"stated":"yes","stated":"no"}`, FaultAmbiguous),
		"a key twice, escaped":         bad(`{"stated":"yes","\u0073tated":"no"}`, FaultAmbiguous),
		"empty":                        bad("", FaultEmpty),
		"blank":                        bad(" \n ", FaultEmpty),
		"only thinking":                bad("<think>hm</think>", FaultEmpty),
		"thinking without end":         bad("<think>hm "+strings.Repeat("hm ", 9), FaultNotJSON),
		"prose":                        bad("Yes, it is stated.", FaultNotJSON),
		"bare word":                    bad("yes", FaultNotJSON),
		"bare string":                  bad(`"yes"`, FaultNotJSON),
		"array":                        bad(`["yes"]`, FaultNotJSON),
		"object in an array":           bad("["+yes+"]", FaultNotJSON),
		"null":                         bad("null", FaultNotJSON),
		"number":                       bad("1", FaultNotJSON),
		"cut":                          bad(`{"stated":"ye`, FaultNotJSON),
		"cut to a brace":               bad("{", FaultNotJSON),
		"single quotes":                bad(`{'stated':'yes'}`, FaultNotJSON),
		"trailing comma":               bad(`{"stated":"yes",}`, FaultNotJSON),
		"comment":                      bad("{\"stated\":\"yes\" // sure\n}", FaultNotJSON),
		"python":                       bad(`{"stated": True}`, FaultNotJSON),
		"XML":                          bad("<stated>yes</stated>", FaultNotJSON),
		"invalid UTF-8":                bad("{\"stated\":\"y\xffs\"}", FaultNotJSON),
		"missing field":                bad(`{"reason":"x"}`, FaultField),
		"empty object":                 bad(`{}`, FaultField),
		"unknown field":                bad(`{"stated":"yes","label":"none"}`, FaultField),
		"another case":                 bad(`{"Stated":"yes"}`, FaultField),
		"the schema instead":           bad(`{"type":"object","properties":{"stated":{"type":"string"}}}`, FaultField),
		"nested under a name":          bad(`{"answer":{"stated":"yes"}}`, FaultField),
		"boolean":                      bad(`{"stated":true}`, FaultType),
		"number for text":              bad(`{"stated":1}`, FaultType),
		"list for text":                bad(`{"stated":["yes"]}`, FaultType),
		"null for text":                bad(`{"stated":null}`, FaultType),
		"null for the optional":        bad(`{"stated":"yes","reason":null}`, FaultType),
		"deep":                         bad(`{"stated":`+strings.Repeat("[", 50)+strings.Repeat("]", 50)+`}`, FaultType),
		"value outside the enum":       bad(`{"stated":"maybe"}`, FaultValue),
		"value in capitals":            bad(`{"stated":"YES"}`, FaultValue),
		"value with a blank":           bad(`{"stated":"yes "}`, FaultValue),
		"empty value":                  bad(`{"stated":""}`, FaultValue),
		"megabytes":                    bad(yes+strings.Repeat(" ", maxAnswer), FaultTooLarge),
		"a storm of braces":            bad(strings.Repeat("{", maxAnswer-1), FaultNotJSON),
		"a storm of fences":            bad(strings.Repeat("```", 1000), FaultNotJSON),
		"a storm of quotes and braces": bad(strings.Repeat(`{"`, maxAnswer/4), FaultNotJSON),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := readAnswer[verdict](tc.text)
			if tc.fault == "" {
				require.NoError(t, err)
				require.Equal(t, tc.want, got.Stated)
				return
			}
			var answer *AnswerError
			require.ErrorAs(t, err, &answer)
			require.Equal(t, tc.fault, answer.Fault, "%v", err)
			require.Empty(t, got)
			require.LessOrEqual(t, utf8.RuneCountInString(answer.Detail), maxMessage+1)
		})
	}
}

func FuzzReadAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"stated":"yes"}`, "```json\n{\"stated\":\"no\"}\n```", `{"stated":"yes"}{"stated":"no"}`,
		"<think>x</think>{\"stated\":\"yes\"}", `{"reason":"}\"{","stated":"no"}`, "{", "```", `{"stated":[[[[]]]]}`,
	} {
		f.Add(seed)
	}
	for _, line := range strings.Split(strings.TrimSpace(string(malformedFile)), "\n") {
		var m malformed
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			f.Fatal(err)
		}
		f.Add(m.content())
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := readAnswer[verdict](text)
		if err != nil {
			var answer *AnswerError
			if !errors.As(err, &answer) || answer.Fault == "" {
				t.Fatalf("untyped error %v", err)
			}
			if got != (verdict{}) {
				t.Fatalf("a failure that gives a verdict: %+v", got)
			}
			return
		}
		if err := got.Validate(); err != nil {
			t.Fatalf("accepted %+v: %v", got, err)
		}
		// What was accepted is spelled out in the text, or escaped in it.
		if !strings.Contains(text, got.Stated) && !strings.Contains(text, `\u`) {
			t.Fatalf("verdict %q is nowhere in %q", got.Stated, text)
		}
		// Reading is stable: the canonical form reads as the same.
		data, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if again, err := readAnswer[verdict](string(data)); err != nil || again != got {
			t.Fatalf("read %+v, then %+v (%v)", got, again, err)
		}
	})
}
