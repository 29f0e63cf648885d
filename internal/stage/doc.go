// Package stage is the one loop that every consumer of the pipeline runs, and
// the three things that are run in it: a stage of the tree, the live checks,
// and the aggregator.
//
// The loop pulls a message only when a worker is free to handle it, looks at
// deliveries and deadline before decoding, gives signs of life while the
// decision takes its time, publishes what follows and waits for the server's
// word, and only then acknowledges, and waits for that too. Nothing is ever
// acknowledged first: a crash between any two of these costs time, never truth,
// since labels and rewards take only their first writer.
//
// Decisions are pure and live under services/; this package knows NATS so that
// they need not.
package stage
