// Package distill turns labelled steps into training data for students: chats
// for a language model that is to answer as the judge single-llm does, and
// pairs for an encoder that is served as the judge student.
//
// Labels come from a teacher, which may be any configuration of the tree, or
// from a step set's own labels. Steps that the teacher did not grade, was not
// sure of, or that a second set of labels contradicts are left out, and counted.
// Splits go by question: no question stands in two of them. The same input gives
// the same bytes.
//
// The package knows nothing of NATS, nor of how students are trained.
package distill
