// Package nliworker decides the two stages of the tree that an NLI model
// judges: D, whether the quote entails the step's claim, and E, whether the
// quotes of earlier steps entail the conclusion.
//
// A claim is judged sentence by sentence, never cut. For each sentence one
// window of the evidence decides: the quote's own sentence, or the window most
// relevant to the sentence, by a score that depends on nothing but the two.
// Contradiction is tested first and counts only there; any other window counts
// only if it entails. A deterministic guard stands beside the model, for
// numbers, dates, names and negations: an entailing premise holds the claim's
// names as a whole, and does not say otherwise of an end, a rank, a count, a role
// or who did it to whom. Two passages are read together only where they name the
// same thing. A claim over several hops is resolved as a conclusion is.
//
// A conclusion is asked as it stands and without what its question presupposes.
// Where that fails, a name from the quotes takes the place of a description
// ("the author of Salt"), and both parts must be entailed; last, the claims of
// earlier steps that were found entailed are premises too. Comparisons of dates
// and counts are decided by code. An answer that no premise names, a
// description that the quotes say nothing of, and an answer that is the
// question's own bridge are never entailed.
//
// In place of an NLI model rules (Rules) or a language model (LLM) may score the
// pairs: the windows, the guard and the tree stay the same.
//
// The package knows nothing of NATS, nor of how a model runs.
package nliworker
