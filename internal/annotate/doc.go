// Package annotate lets people label steps blindly, on a page of this machine,
// and says how far they agree.
//
// Each annotator has a journal of their own in a shared folder: JSON lines that
// are only ever appended and synced to disk one by one, so that a session can
// end at any moment and go on later. Steps come in an order of the annotator's
// own. An annotator sees the question, the step, what earlier steps asked and
// claimed, and the passages; never a label, be it a pipeline's, a set's or
// another person's, and no gold answer.
//
// The package knows nothing of judges or transports.
package annotate
