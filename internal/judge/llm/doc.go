// Package llm asks language models, behind any OpenAI-compatible endpoint, the
// questions of the tree's stages, and reads their answers.
//
// It is boring on purpose: an answer is either read strictly or the call fails
// with a typed *judge.Error; an outage is never a verdict. Three layers, each
// replaceable by a decorator of the same interface:
//
//   - Template renders a versioned prompt, with everything that strangers wrote
//     fenced as data.
//   - Completer sends it: Client is the one over go-openai, with a transport of
//     its own that retries and sees headers. Caches, shared limits and recorded
//     runs wrap a Completer.
//   - Ask reads the answer into a Go type, with at most one repair call.
//
// The questions themselves live with their stages, under services/. The package
// knows nothing of steps, labels or NATS.
package llm
