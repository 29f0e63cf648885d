// Package metrics says how well predicted labels of steps fit the gold ones: F1
// of the class gap, by step and by question, F1 of each label and their mean,
// balanced accuracy, Cohen's kappa and the confusion matrix behind them.
//
// Everything is a function of a Tally, a small matrix of counts, and Tallies of
// questions add up to that of a set. So a bootstrap over questions costs a sum
// of counts a draw.
//
// A step that was not graded is neither a gap nor none. It is missed where its
// true label's recall is counted, it never counts as a false alarm, and in
// kappa it disagrees with every label; how many there are stands in every
// Summary. Where a metric is undefined it has no number but a typed reason.
package metrics
