// Package gateway serves StepGap over HTTP, for trainers without NATS at hand:
// rollouts are posted, rewards are waited for, and OpenRLHF finds the protocol
// of its remote reward URL. Whatever can't be given is said in words (a state, a
// null with its reason, a problem), never as a number.
//
// It is a client of the pipeline like any other: it knows pkg/client and the
// reader of transcripts, and must not know stages, judges or streams.
package gateway
