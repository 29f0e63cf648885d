package nli

import "sort"

// pick chooses which of the waiting pairs share the next padded batch: always
// the oldest (index 0, so that none waits forever), then those nearest to it in
// length while rows*longest stays within budget tokens, rows within maxRows,
// and padding within maxPadding of the batch. lengths are in order of arrival;
// the result holds indices into it, the longest pair first.
func pick(lengths []int, budget, maxRows int, maxPadding float64) []int {
	if len(lengths) == 0 {
		return nil
	}
	byLen := make([]int, len(lengths))
	for i := range byLen {
		byLen[i] = i
	}
	sort.SliceStable(byLen, func(a, b int) bool { return lengths[byLen[a]] > lengths[byLen[b]] })
	at := 0
	for byLen[at] != 0 {
		at++
	}
	lo, hi := at, at // byLen[lo..hi] is the batch; lo is the longest
	tokens := lengths[0]
	for hi-lo+1 < maxRows {
		// The shorter neighbour adds padding for itself alone; the longer one
		// lengthens every row.
		up, down := lo-1, hi+1
		costUp, costDown := -1, -1
		if up >= 0 {
			costUp = (lengths[byLen[up]] - lengths[byLen[lo]]) * (hi - lo + 1)
		}
		if down < len(byLen) {
			costDown = lengths[byLen[lo]] - lengths[byLen[down]]
		}
		next := down
		if costDown < 0 || (costUp >= 0 && costUp < costDown) {
			next = up
		}
		if next < 0 || next >= len(byLen) {
			break
		}
		longest := lengths[byLen[min(lo, next)]]
		padded := longest * (hi - lo + 2)
		used := tokens + lengths[byLen[next]]
		if padded > budget || float64(padded-used) > maxPadding*float64(padded) {
			break
		}
		tokens = used
		lo, hi = min(lo, next), max(hi, next)
	}
	return byLen[lo : hi+1]
}
