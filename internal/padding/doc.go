// Package padding writes text that is about nothing in particular, to hold
// labels against: whatever a retriever drags in beside the sentence that
// decides a step must not move the step's label.
//
// Everything in it is invented and made by rule, so that a text of a kind and
// size is always the same.
package padding
