// Package app assembles a StepGap process: configuration, judges, the loops of
// its roles, health and metrics, and the drain at the end. Everything that is
// started is stopped in reverse order.
package app
