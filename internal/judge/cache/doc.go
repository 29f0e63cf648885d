// Package cache keeps the verdicts of language models, so that none is paid for
// twice: in the process, between processes through a Store, and in files from
// which a run can be repeated without an endpoint. Each is an llm.Memory.
//
// Only verdicts that were read successfully are kept, never failures. The
// package knows nothing of NATS; package shared has the Store over it.
package cache
