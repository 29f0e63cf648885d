// Package e2e tests the program as operators run it: a process a role, an
// external NATS server, processes that are killed. It holds no code of the
// product.
package e2e
