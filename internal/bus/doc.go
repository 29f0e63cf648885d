// Package bus is StepGap's use of NATS JetStream: the connection, the topology
// (streams, consumers and buckets as data), and the two
// ways of writing that everything else is built on: an awaited publish, and a
// publish that only the first writer of a subject wins.
//
// It knows nothing of steps, judges or rewards beyond their subjects.
package bus
