// Package schema is StepGap's wire: the messages that travel over NATS, the
// subjects that address them, their limits, and a codec that is safe to point
// at bytes from strangers.
//
// Bodies are MessagePack maps with short stable keys, announced by the header
// "Stepgap-Schema: 1". Unknown keys are ignored, so that a newer publisher can
// talk to an older stage. Run, rollout and index are taken from the subject; a
// body that says otherwise is refused.
//
// All text offsets on the wire count Unicode code points, not bytes, so that a
// Python worker can slice with them directly.
//
// The package knows nothing of NATS connections, judges or models.
package schema

// Version is the wire version that this package reads and writes.
const Version = "1"
