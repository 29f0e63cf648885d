// Package runlog reads what a run left behind: the reward of every rollout with
// its labels, from a server or from a file. It changes nothing.
package runlog
