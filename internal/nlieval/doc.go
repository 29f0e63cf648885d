// Package nlieval measures an NLI model on the parts of public sets that the
// training of the default model left out, and on quote and claim pairs written
// by hand: accuracy and macro-F1 with intervals, beside what can be had without
// a model. Each pair is judged twice, by the model alone and by stage D, in
// which the deterministic guard stands beside the model.
//
// The split is a rule (split.go) whose outcome is pinned (split.json): a set
// that differs from the one the rule was committed for is refused.
package nlieval
