// Package rewardagg turns the labels of an ended rollout into step rewards.
//
// A step's reward has two parts with two places: the base, by the step's label,
// anchored at the end of its claim; and the shape, by how its gap was repaired,
// anchored at the end of the repairing step's action, so that the tokens of the
// repair get it. A profile holds every magnitude.
//
// Everything here is a pure function of an end, its labels and a profile: no
// NATS, no clock, no model. Waiting for labels and sealing what is missing is
// the loop's work (internal/stage); this package only says what is missing.
package rewardagg
