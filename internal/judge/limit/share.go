package limit

// share divides limit slots among processes by what they want, as evenly as
// wants allow. Where there are fewer slots than processes that want one, they
// go round: turn says whose it is. What nobody wants is lent out in small
// amounts, so that the next call of an idle process need not wait for a lease.
func share(limit int, wants []int, turn int64) []int {
	out := make([]int, len(wants))
	left := limit
	for left > 0 {
		var hungry []int
		for i, w := range wants {
			if out[i] < w {
				hungry = append(hungry, i)
			}
		}
		if len(hungry) == 0 {
			break
		}
		each := left / len(hungry)
		if each == 0 {
			first := 0
			if left == limit { // nobody has any yet
				first = int(turn % int64(len(hungry)))
			}
			for k := range left {
				out[hungry[(first+k)%len(hungry)]]++
			}
			left = 0
			break
		}
		for _, i := range hungry {
			n := min(each, wants[i]-out[i])
			out[i] += n
			left -= n
		}
	}
	if left == 0 || len(wants) == 0 {
		return out
	}
	each := left / len(wants)
	for i := range out {
		out[i] += min(each, 1+wants[i]/2)
	}
	return out
}
