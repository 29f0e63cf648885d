// Package check sends logged rollouts through a running pipeline and collects
// what comes out: one result a rollout, in the order of the input.
package check
