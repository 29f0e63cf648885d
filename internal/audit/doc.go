// Package audit looks for a policy that farms its rewards: what share of its
// steps earn by rules' letter and not by work, and whether that grows while it
// trains. It only counts and compares; what is suspicious is said with the
// interval or the test that says so.
package audit
