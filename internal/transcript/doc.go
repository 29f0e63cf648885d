// Package transcript reads rollouts as people have them (Search-R1 tags,
// R1-Searcher tags, ReSearch, AutoRefine, Search-o1, ReAct, chat messages with
// tool calls, and JSONL) and turns them into steps.
//
// A step is one sub-goal: the query, the passages that it brought, and what the
// policy then claimed from them, which stands at the head of its next turn. The
// rest of that turn is the plan of the next step. The last turn gives the claim
// of the last search step and a conclusion without passages of its own. Facts
// claimed before the first search are a step without query and passages.
//
// Evidence is what the retriever returned, as given: HTML entities, doubled
// quotes and invisible characters stay as they are, so that a quote is always
// a substring of its passage; only document headers ("Doc 1(Title: ...)"),
// "(Result 1 / 3)" prefixes and the white space around a document are taken
// off. The words of a grader or an environment, and what the policy wrote
// itself into an evidence block, are never evidence.
//
// Spans are offsets in code points into Rollout.Text, over what the policy
// wrote. Where a rollout has one running text (tags, ReAct), Text is that text
// as given. For formats without one, Text is the policy's own words in order:
//
//	chat               each assistant message; the queries of its tool calls
//	                   follow on lines of their own; a blank line between turns
//	normalized, stepgap (simple form)
//	                   each step's thought, its query or answer on the next
//	                   line, and a blank line between steps
//	stepgap (wire form without "text")
//	                   each step's plan, query, text and answer likewise
//
// The package knows nothing of judges, labels or transports.
package transcript
