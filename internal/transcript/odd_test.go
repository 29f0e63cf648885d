package transcript

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/stepgap/stepgap/pkg/schema"
)

// searchR1 writes one search with an observation and what follows it.
func searchR1(query, observation, after string) string {
	return "Question: who built the mill?\n<think>I need to search.</think>\n<search>" + query + "</search>\n" + observation + "\n" + after
}

const doc = `Doc 1(Title: "Mill") The mill was built by Silas Crane.`

// Every kind of oddity that is known from real rollouts, one case a kind or
// more.
func TestOddities(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		text  string
		check func(t *testing.T, r *Rollout)
	}{
		"CSV doubled quotes in evidence": {
			searchR1("mill", `<information>Doc 1(Title: "Mill") It is called ""The Old Lady"" here.</information>`, "<answer>x</answer>"),
			func(t *testing.T, r *Rollout) { texts(t, r, 1, `It is called ""The Old Lady"" here.`) },
		},
		"CSV quotes around a whole document": {
			`{"question":"Who?","steps":[{"think":"","action":"search","query":"a","docs":["\"Title: Mill Text:  It is the \"\"Old Lady\"\".\""]},{"think":"","action":"answer","query":"x","docs":[]}]}`,
			func(t *testing.T, r *Rollout) {
				texts(t, r, 1, `It is the ""Old Lady"".`+`"`)
				require.Equal(t, "Mill", r.Steps[0].Own()[0].Title)
			},
		},
		"the thought says that evidence is missing": {
			searchR1("mill", "<information>"+doc+"</information>", "The search results provide information about the mill but does not mention its owner.\n<search>owner of the mill</search><information>"+doc+"</information><answer>x</answer>"),
			func(t *testing.T, r *Rollout) {
				require.Empty(t, r.Steps[0].Claim)
				require.Contains(t, r.Steps[0].Text, "does not mention its owner")
			},
		},
		"an abstaining final answer": {
			searchR1("mill", "<information>"+doc+"</information>", "<answer>unknown</answer>"),
			func(t *testing.T, r *Rollout) {
				last := r.Steps[len(r.Steps)-1]
				require.Equal(t, schema.KindConclusion, last.Kind)
				require.Empty(t, last.Claim)
				require.Equal(t, "unknown", last.Answer)
			},
		},
		"zero-width, bidi and soft hyphen characters": {
			searchR1("mill\u200b", "<information>Doc 1(Title: \"Mill\") The m\u00adill\u200e (\u202bطاحونة\u202c) is old.</information>", "The mill is old.\u200b<answer>x</answer>"),
			func(t *testing.T, r *Rollout) {
				texts(t, r, 1, "The m\u00adill\u200e (\u202bطاحونة\u202c) is old.")
			},
		},
		"a byte-order mark": {
			"\ufeff" + searchR1("mill", "<information>"+doc+"</information>", "<answer>x</answer>"),
			func(t *testing.T, r *Rollout) { require.Equal(t, "who built the mill?", r.Question) },
		},
		"a look-up that is exhausted": {
			"Question: Q?\nThought 1: I look.\nAction 1: Lookup[mill]\nObservation 1: No more results.\nThought 2: I stop.\nAction 2: Finish[x]\nObservation 2: Episode finished, reward = 0\n",
			func(t *testing.T, r *Rollout) { missed(t, r, 1, "mill") },
		},
		"CJK, Cyrillic, Hebrew and Arabic in evidence": {
			searchR1("磨坊", "<information>Doc 1(Title: \"磨坊\") 磨坊建于1841年。Мельница построена. הטחנה נבנתה. بنيت الطاحونة.</information>", "磨坊建于1841年。<answer>1841</answer>"),
			func(t *testing.T, r *Rollout) {
				texts(t, r, 1, "磨坊建于1841年。Мельница построена. הטחנה נבנתה. بنيت الطاحونة.")
				require.Equal(t, "磨坊", r.Steps[0].Query)
				covers(t, r, 1, schema.SpanAction, "磨坊")
				covers(t, r, 1, schema.SpanClaim, "磨坊建于1841年。")
			},
		},
		"the same query in several steps": {
			searchR1("mill", "<information>"+doc+"</information>", "The mill is old.\n<search>mill</search>\n<information>"+doc+"</information>\n<answer>x</answer>"),
			func(t *testing.T, r *Rollout) {
				require.Len(t, r.Steps, 3)
				require.True(t, warned(r, WarnDuplicateQuery))
				require.Len(t, r.Steps[1].Own(), 1, "what was fetched again is this step's own too")
				require.Len(t, r.Steps[1].Passages, 1)
				require.Equal(t, 1, r.Steps[2].Passages[0].ByStep)
			},
		},
		"HTML tags and entities in evidence": {
			searchR1("mill", "<information>Doc 1(Title: \"Mill &amp; Sons\") It was <b>built</b> in 1841.<br> &quot;Old&quot; <ref>1</ref></information>", "<answer>x</answer>"),
			func(t *testing.T, r *Rollout) {
				texts(t, r, 1, "It was <b>built</b> in 1841.<br> &quot;Old&quot; <ref>1</ref>")
				require.Equal(t, "Mill &amp; Sons", r.Steps[0].Own()[0].Title)
			},
		},
		"no search at all": {
			"Question: who built the mill?\n<think>Mills are old.</think><answer>Silas Crane</answer>",
			func(t *testing.T, r *Rollout) {
				require.Len(t, r.Steps, 2)
				require.Equal(t, "Mills are old.", r.Steps[0].Claim)
				require.Empty(t, r.Steps[1].Passages)
				require.Equal(t, schema.KindConclusion, r.Steps[1].Kind)
			},
		},
		"no search and no facts": {
			"Question: who built the mill?\n<think></think><answer>Silas Crane</answer>",
			func(t *testing.T, r *Rollout) { require.Len(t, r.Steps, 1) },
		},
		"a search that finds only similar names": {
			"Question: Q?\nThought 1: I look.\nAction 1: Search[Ida Roos]\nObservation 1: Could not find [Ida Roos]. Similar: ['Ida', \"Roos's law\"]\nThought 2: I stop.\nAction 2: Finish[x]\nObservation 2: Answer is INCORRECT\n",
			func(t *testing.T, r *Rollout) { missed(t, r, 1, "Ida Roos") },
		},
		"could not find, without brackets": {
			"Question: Q?\nThought 1: I look.\nAction 1: Search[Ida Roos]\nObservation 1: Could not find Ida Roos. Similar: ['Ida'].\nThought 2: I stop.\nAction 2: Finish[x]\nObservation 2: Episode finished, reward = 0\n",
			func(t *testing.T, r *Rollout) { missed(t, r, 1, "Ida Roos") },
		},
		"an observation that says the action was invalid": {
			"Question: Q?\nThought 1: I look.\nAction 1: Search[Ida Roos]\nObservation 1: Invalid action: search[Ida Roos]\nThought 2: I stop.\nAction 2: Finish[x]\nObservation 2: Answer is CORRECT\n",
			func(t *testing.T, r *Rollout) { missed(t, r, 1, "Ida Roos") },
		},
		"quotes inside a query": {
			searchR1(`"mill" owner`, "<information>"+doc+"</information>", "<answer>x</answer>"),
			func(t *testing.T, r *Rollout) {
				require.Equal(t, `"mill" owner`, r.Steps[0].Query)
				covers(t, r, 1, schema.SpanAction, `"mill" owner`)
			},
		},
		"an empty thought": {
			searchR1("mill", "<information>"+doc+"</information>", "<think>\n\n </think><answer>Silas Crane</answer>"),
			func(t *testing.T, r *Rollout) {
				require.Empty(t, r.Steps[0].Claim)
				require.Empty(t, r.Steps[0].Text)
			},
		},
		"no-break space": {
			searchR1("\u00a0mill\u00a0", "<information>Doc 1(Title: \"Mill\") It is 1.7\u00a0cm high.\u00a0</information>", "<answer>\u00a0x\u00a0</answer>"),
			func(t *testing.T, r *Rollout) {
				texts(t, r, 1, "It is 1.7\u00a0cm high.")
				require.Equal(t, "mill", r.Steps[0].Query)
				require.Equal(t, "x", r.Answer)
			},
		},
		"an action that can't be read": {
			"Question: Q?\nThought 1: I look.\nAction 1: Search[mill]\nObservation 1: The mill is old.\nThought 2: The mill is old. So the answer is A and B.\nAction 2: Finish[A, B\nObservation 2: Invalid action: finish[A, B\n",
			func(t *testing.T, r *Rollout) {
				require.True(t, warned(r, WarnInvalidAction))
				require.Empty(t, r.Answer, "the environment did not take it")
				require.Len(t, r.Steps, 2)
				require.Equal(t, "The answer is A and B.", r.Steps[1].Claim)
			},
		},
		"a search whose bracket never closes": {
			"Question: Q?\nThought 1: I look.\nAction 1: Search[mill, Kent,\nObservation 1: Invalid action: search[mill, Kent,\nThought 2: I stop.\nAction 2: Finish[x]\n",
			func(t *testing.T, r *Rollout) {
				missed(t, r, 1, "mill, Kent,")
				require.True(t, warned(r, WarnInvalidAction))
			},
		},
		"words in place of an action": {
			"Question: Q?\nThought 1: I look.\nAction 1: I will just guess\nObservation 1: Invalid action.\nThought 2: I stop.\nAction 2: Finish[x]\n",
			func(t *testing.T, r *Rollout) {
				require.Len(t, r.Steps, 1)
				require.True(t, warned(r, WarnInvalidAction))
			},
		},
		"a document of many thousand characters": {
			searchR1("mill", "<information>Doc 1(Title: \"Mill\") "+strings.Repeat("The mill is old. ", 2000)+"</information>", "<answer>x</answer>"),
			func(t *testing.T, r *Rollout) {
				require.Len(t, r.Steps[0].Own()[0].Text, len(strings.Repeat("The mill is old. ", 2000))-1)
			},
		},
		"an over-long query": {
			searchR1(strings.Repeat("mill and barn ", 3000), "<information>"+doc+"</information>", "<answer>x</answer>"),
			func(t *testing.T, r *Rollout) {
				require.True(t, warned(r, WarnClipped))
				require.LessOrEqual(t, len(r.Steps[0].Query), schema.MaxQuery)
			},
		},
		"an observation of nothing": {
			"Question: Q?\nThought: I look.\nAction: search[mill]\nObservation: None\nThought: I stop.\nAction: finish[x]\nObservation: Episode finished, reward = True\n",
			func(t *testing.T, r *Rollout) { missed(t, r, 1, "mill") },
		},
		"blocks of another kind between": {
			"Question: Q?\nThought: I look.\nAction: search[mill]\nObservation: The mill is old.\nReflection: I should have searched for the owner.\nThought: The mill is old.\nAction: finish[x]\nObservation: Episode finished, reward = True\n",
			func(t *testing.T, r *Rollout) {
				texts(t, r, 1, "The mill is old.")
				require.Equal(t, "The mill is old.", r.Steps[0].Claim)
			},
		},
		"an evidence block that is cut off, and goes on in the policy's words": {
			"Question: Q?\n<think>\n\n</think>\n\nMy previous action is invalid. If I want to search, I should put the query between <search> and </search>. If I want to give the final answer, I should put the answer between <answer> and </answer>. Let me try again.\nSearch Query: <search> mill </search>\n\n<information>Doc 1(Title: \"Mill\") The mill was built by Silas Crane.\nDoc 2(Title: \"Mill\") It was burned down in the year of the great flood and then it was rebuilt by aliens.</search>\nMy previous action is invalid. If I want to search, I should put the query between <search> and </search>. If I want to give the final answer, I should put the answer between <answer> and </answer>. Let me try again.\n<search> mill </search>\n<information>Doc 1(Title: \"Mill\") The mill was built by Silas Crane.</information>\nThe mill was built by Silas Crane.",
			func(t *testing.T, r *Rollout) {
				require.Len(t, r.Steps, 2)
				texts(t, r, 1, "The mill was built by Silas Crane.")
				require.True(t, warned(r, WarnCutEvidence))
				require.True(t, warned(r, WarnEnvironment))
				require.True(t, warned(r, WarnNoAnswer))
				require.Empty(t, r.Steps[0].Claim)
				require.Equal(t, "The mill was built by Silas Crane.", r.Steps[1].Claim)
				for _, s := range r.Steps {
					require.NotContains(t, s.Text+s.Claim+s.Plan, "aliens")
					for _, p := range s.Passages {
						require.NotContains(t, p.Text, "aliens")
					}
				}
			},
		},
		"a cut block up to the next search": {
			searchR1("mill", "<information>"+doc+"\nDoc 2(Title: \"B\") The barn is", "<search>barn</search>\n<information>Doc 1(Title: \"B\") The barn is old.</information><answer>x</answer>"),
			func(t *testing.T, r *Rollout) {
				texts(t, r, 1, "The mill was built by Silas Crane.")
				texts(t, r, 2, "The barn is old.")
			},
		},
		"an evidence block that nothing asked for": {
			"Question: Q?\n<think>I know it.</think>\n<information>Doc 1(Title: \"Mill\") The mill was built by me.</information>\n<answer>me</answer>",
			func(t *testing.T, r *Rollout) {
				require.True(t, warned(r, WarnUnasked))
				for _, s := range r.Steps {
					require.Empty(t, s.Passages)
				}
			},
		},
		"a second evidence block after the first": {
			searchR1("mill", "<information>"+doc+"</information>", "Hm.\n<information>Doc 1(Title: \"Mill\") The mill was built by me.</information>\n<answer>x</answer>"),
			func(t *testing.T, r *Rollout) { texts(t, r, 1, "The mill was built by Silas Crane.") },
		},
		"two searches with the same documents": {
			searchR1("mill", "<information>"+doc+"</information>", "The mill is old.<search>the mill in Kent</search><information>"+doc+"</information><answer>x</answer>"),
			func(t *testing.T, r *Rollout) { require.Len(t, r.Steps[1].Own(), 1) },
		},
		"JSON inside the evidence block": {
			searchR1("mill", `<information>{"result": "Doc 1: The mill was built by Silas Crane.\nDoc 2: Kent is a county."}</information>`, "<answer>x</answer>"),
			func(t *testing.T, r *Rollout) {
				texts(t, r, 1, "The mill was built by Silas Crane.", "Kent is a county.")
			},
		},
		"JSON that says there was an error": {
			searchR1("mill", `<information>{"error": "connection refused"}</information>`, "<answer>x</answer>"),
			func(t *testing.T, r *Rollout) { missed(t, r, 1, "mill") },
		},
		"a title on a line of its own": {
			searchR1("mill", "<information>Doc 1 (Title: Mill (Kent))\nThe mill was built by Silas Crane.\n\nDoc 2 (Title: Kent)\nKent is a county.</information>", "<answer>x</answer>"),
			func(t *testing.T, r *Rollout) {
				texts(t, r, 1, "The mill was built by Silas Crane.", "Kent is a county.")
				require.Equal(t, "Mill (Kent)", r.Steps[0].Own()[0].Title)
			},
		},
		"numbers that only look like headers": {
			searchR1("mill", "<information>Doc 1: The mill has\n(2) wheels and\n(7) doors.\nDoc 2: Kent is a county.</information>", "<answer>x</answer>"),
			func(t *testing.T, r *Rollout) {
				require.Len(t, r.Steps[0].Own(), 2)
			},
		},
		"several answers": {
			searchR1("mill", "<information>"+doc+"</information>", "<answer>one</answer>\nWait.\n<answer>two</answer>"),
			func(t *testing.T, r *Rollout) {
				require.Equal(t, "two", r.Answer)
				require.True(t, warned(r, WarnSeveralAnswers))
				require.Len(t, r.Steps, 2)
			},
		},
		"an answer, and then another search": {
			searchR1("mill", "<information>"+doc+"</information>", "<answer>one</answer>\n<search>barn</search><information>"+doc+"</information><answer>two</answer>"),
			func(t *testing.T, r *Rollout) {
				require.Equal(t, "two", r.Answer)
				require.Len(t, r.Steps, 3)
			},
		},
		"a query that is never closed": {
			"Question: Q?\n<search>mill in Kent\nand so on",
			func(t *testing.T, r *Rollout) {
				require.Equal(t, "mill in Kent", r.Steps[0].Query)
				require.True(t, warned(r, WarnUnclosedQuery))
			},
		},
		"an answer that is never closed": {
			searchR1("mill", "<information>"+doc+"</information>", "<answer>Silas Crane"),
			func(t *testing.T, r *Rollout) {
				require.Equal(t, "Silas Crane", r.Answer)
				require.True(t, warned(r, WarnUnclosedAnswer))
			},
		},
		"a search for nothing": {
			searchR1("", "<information>"+doc+"</information>", "<answer>x</answer>"),
			func(t *testing.T, r *Rollout) { require.True(t, warned(r, WarnEmptyQuery)) },
		},
		"a rollout that stops after a search": {
			"Question: Q?\n<think>I look.</think><search>mill</search>",
			func(t *testing.T, r *Rollout) {
				require.Len(t, r.Steps, 1)
				require.True(t, warned(r, WarnNoAnswer))
				require.True(t, warned(r, WarnNoEvidence))
			},
		},
		"a grader's word inside a longer observation": {
			"Question: Q?\nThought 1: I look.\nAction 1: Search[mill]\nObservation 1: The mill is old.\nCorrect answer: Silas Crane\nAnswer is INCORRECT\n",
			func(t *testing.T, r *Rollout) { texts(t, r, 1, "The mill is old.") },
		},
		"an error from the search engine": {
			searchR1("mill", "<information>Search failed: 503 Service Unavailable</information>", "<answer>x</answer>"),
			func(t *testing.T, r *Rollout) { missed(t, r, 1, "mill") },
		},
		"a document that begins like an error": {
			searchR1("mill", "<information>Doc 1(Title: \"Time Out\") Time Out is a magazine that was founded in London. 450 people work there.</information>", "<answer>x</answer>"),
			func(t *testing.T, r *Rollout) {
				texts(t, r, 1, "Time Out is a magazine that was founded in London. 450 people work there.")
			},
		},
		"line ends of another system": {
			strings.ReplaceAll("Question: Q?\nThought 1: I look.\nAction 1: Search[mill]\nObservation 1: The mill is old.\nThought 2: The mill is old.\nAction 2: Finish[x]\n", "\n", "\r\n"),
			func(t *testing.T, r *Rollout) {
				require.Equal(t, "mill", r.Steps[0].Query)
				require.Equal(t, "x", r.Answer)
			},
		},
		"bytes that are no UTF-8": {
			searchR1("mill\xff", "<information>"+doc+"</information>", "<answer>x\xfe</answer>"),
			func(t *testing.T, r *Rollout) { require.True(t, warned(r, WarnBadUTF8)) },
		},
		"input on a line of its own": {
			"Question: Q?\nThought: I look.\nAction: Search\nAction Input: mill in Kent\nObservation: The mill is old.\nThought: The mill is old.\nFinal Answer: x\n",
			func(t *testing.T, r *Rollout) {
				require.Equal(t, "mill in Kent", r.Steps[0].Query)
				texts(t, r, 1, "The mill is old.")
				require.Equal(t, "x", r.Answer)
			},
		},
		"a newline that was lost": {
			"Question: Q?\nThought 1: I look. Action 1: Search[mill]\nObservation 1: The mill is old.\nThought 2: The mill is old. Action 2: Finish[x]\n",
			func(t *testing.T, r *Rollout) {
				require.Equal(t, "mill", r.Steps[0].Query)
				require.Equal(t, "The mill is old.", r.Steps[0].Claim)
			},
		},
		"a tool call that is no JSON": {
			`{"question":"Q?","messages":[{"role":"user","content":"Q?"},{"role":"assistant","content":"<tool_call>{name: search, mill}</tool_call>"},{"role":"user","content":"<tool_response>The mill is old.</tool_response>"},{"role":"assistant","content":"<answer>x</answer>"}]}`,
			func(t *testing.T, r *Rollout) {
				require.True(t, warned(r, WarnUnreadableCall))
				require.Len(t, r.Steps, 2)
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.check(t, decode(t, c.text))
		})
	}
}

func texts(t *testing.T, r *Rollout, step int, want ...string) {
	t.Helper()
	require.GreaterOrEqual(t, len(r.Steps), step)
	var got []string
	for _, p := range r.Steps[step-1].Own() {
		got = append(got, p.Text)
	}
	require.Equal(t, want, got)
}

// missed checks that a search found nothing and is a step all the same.
func missed(t *testing.T, r *Rollout, step int, query string) {
	t.Helper()
	s := r.Steps[step-1]
	require.Equal(t, query, s.Query)
	require.Empty(t, s.Own())
	require.True(t, warned(r, WarnNoEvidence))
}

func covers(t *testing.T, r *Rollout, step int, kind schema.SpanKind, want string) {
	t.Helper()
	runes := []rune(r.Text)
	for _, sp := range r.Steps[step-1].Spans {
		if sp.Kind == kind && string(runes[sp.Start:sp.End]) == want {
			return
		}
	}
	require.Fail(t, fmt.Sprintf("no %s span over %q", kind, want))
}
