// Package report turns predictions into a study: metrics with intervals for
// every system on every set, what each stage is worth, confusion matrices and
// distributions; as a table for terminals, JSON, Markdown and one HTML page.
//
// The constant systems flag-all and flag-none stand in every table, since a
// figure that they reach says nothing. Equal input gives equal bytes.
package report
