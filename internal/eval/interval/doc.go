// Package interval says how sure a metric is: bootstrap intervals over
// questions, for one system and for the difference of two.
//
// Steps of one question are right or wrong together, so questions are drawn and
// not steps; an interval over steps would be too narrow. The intervals are
// bias-corrected and accelerated (BCa, Efron 1987), with the acceleration from
// leaving out a question at a time. Where BCa has none, percentiles stand in its
// place, and Estimate says so.
//
// The same sample, seed and number of draws give the same bytes on any number
// of cores.
package interval
