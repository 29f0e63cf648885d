// Package judgebench measures what the judges of A, B and C cost beside a
// straightforward client that asks all three about every step: on the real
// groups of a data set, and on generated groups that are as alike at their
// beginning as the real ones are. Both sides ask the same endpoint over HTTP,
// which answers by rules, and their labels are compared.
package judgebench
