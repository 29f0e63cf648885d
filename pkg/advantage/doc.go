// Package advantage turns the rewards of a GRPO group into advantages.
//
// A reward that was not given is nil, never 0: it takes no part in the group's
// mean and standard deviation, and its advantage is nil as well, which a trainer
// masks. A group in which fewer than two rewards were given has no baseline, so
// all its advantages are nil. A group of equal rewards has advantages of 0.
//
// The Python package stepgap holds the same functions (stepgap.advantages); golden
// vectors in testdata hold both to each other.
package advantage
