// Package rescore computes a run's rewards anew under another profile, and its
// labels under other thresholds, from the labels' trails alone: no model is asked,
// and the run itself is not altered. The result is another run.
package rescore
