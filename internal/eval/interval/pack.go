package interval

import "github.com/stepgap/stepgap/internal/eval/metrics"

// cells is how many counts a pair has.
const cells = 2 * (metrics.Labels*(metrics.Labels+1) + 4)

// counts lists the counts of a pair.
func counts(p *pair) (out [cells]*int) {
	i := 0
	for _, t := range []*metrics.Tally{&p.a, &p.b} {
		for r := range t.Steps {
			for c := range t.Steps[r] {
				out[i] = &t.Steps[r][c]
				i++
			}
		}
		for r := range t.Questions {
			for c := range t.Questions[r] {
				out[i] = &t.Questions[r][c]
				i++
			}
		}
	}
	return out
}

// packed are the questions as rows of those counts that some question has:
// most of a confusion matrix is empty, and a draw reads every row it takes.
type packed struct {
	used []int // cells
	rows []int32
}

func pack(questions []pair) packed {
	var k packed
	var total pair
	for i := range questions {
		total.add(&questions[i])
	}
	for i, n := range counts(&total) {
		if *n != 0 {
			k.used = append(k.used, i)
		}
	}
	for i := range questions {
		at := counts(&questions[i])
		for _, cell := range k.used {
			k.rows = append(k.rows, int32(*at[cell]))
		}
	}
	return k
}

// add adds question i to a sum of rows.
func (k *packed) add(sum []int32, i int) {
	row := k.rows[i*len(k.used):]
	row = row[:len(sum)]
	for j, n := range row {
		sum[j] += n
	}
}

// unpack writes a sum of rows into p.
func (k *packed) unpack(sum []int32, p *pair) {
	at := counts(p)
	for j, cell := range k.used {
		*at[cell] = int(sum[j])
	}
}
