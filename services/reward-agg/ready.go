package rewardagg

import "github.com/stepgap/stepgap/pkg/schema"

// Missing lists the indices of end's steps that have no label yet, in the order
// of the end. Empty: the rollout can be computed. An aborted rollout needs none.
func Missing(end *schema.RolloutEnd, labels map[int]*schema.Label) []int {
	if end.Aborted {
		return nil
	}
	var missing []int
	for _, ref := range end.Steps {
		if labels[ref.Index] == nil {
			missing = append(missing, ref.Index)
		}
	}
	return missing
}

// Seal is the label that the aggregator puts in the place of a missing one at
// its deadline, so that a verdict that comes later is refused. It carries no
// digest: the step never came, or never came through.
func Seal(end *schema.RolloutEnd, index int) *schema.Label {
	return &schema.Label{
		Run: end.Run, Rollout: end.Rollout, Index: index,
		Label: schema.GapUngraded, Repair: schema.RepairNone,
		Stage: schema.StageReward, Reason: schema.ReasonMissing,
		Detail: "no label stood at the rollout's deadline",
	}
}
