// Package injection is a corpus of texts that try to talk a judge into a label
// or out of one, and a way to run it: each text is put into hand-written steps
// of every label, and the label must stay what it was. The texts and the steps
// are the project's own; it is for tests and evaluation.
//
// The package moves steps through deciders in process and knows nothing of
// NATS or of any particular judge.
package injection
