package cost

import (
	"cmp"
	"slices"
	"time"

	"github.com/stepgap/stepgap/pkg/schema"
)

// paid is the judge that is paid for by the call; the others run here.
const paid = "llm"

// Usage is what was spent.
type Usage struct {
	// Verdicts is how many trail entries are counted, failed tries of a step
	// among them.
	Verdicts int `json:"verdicts"`
	// Calls are HTTP attempts at an endpoint or, for an NLI model, pairs.
	Calls int `json:"calls"`
	// Extra are those calls that were not a verdict's first: retries, repairs. An
	// NLI model's pairs are none.
	Extra int `json:"extra_calls"`
	// CacheHits are verdicts for which nothing was spent.
	CacheHits int `json:"cache_hits"`
	TokensIn  int `json:"tokens_in"`
	TokensOut int `json:"tokens_out"`
	// TokensCached is the part of TokensIn that the endpoint had cached.
	TokensCached int `json:"tokens_cached"`
	// Latency is the time that the verdicts took, one after the other.
	Latency time.Duration `json:"latency_ns"`
	// Cost is in units of the currency; nil where a price is unknown.
	Cost *float64 `json:"cost"`
}

func (u *Usage) add(e schema.TrailEntry) {
	u.Verdicts++
	u.Calls += e.Calls
	if e.Judge == paid {
		u.Extra += max(0, e.Calls-1)
	}
	if e.CacheHit {
		u.CacheHits++
	}
	u.TokensIn += e.TokensIn
	u.TokensOut += e.TokensOut
	u.TokensCached += e.TokensCached
	u.Latency += time.Duration(e.LatencyUS) * time.Microsecond
}

func (u *Usage) merge(o Usage) {
	u.Verdicts += o.Verdicts
	u.Calls += o.Calls
	u.Extra += o.Extra
	u.CacheHits += o.CacheHits
	u.TokensIn += o.TokensIn
	u.TokensOut += o.TokensOut
	u.TokensCached += o.TokensCached
	u.Latency += o.Latency
}

// Line is what one stage spent on one judge and model.
type Line struct {
	Stage schema.Stage `json:"stage"`
	Judge string       `json:"judge"`
	Model string       `json:"model,omitempty"`
	Usage
}

// Bill is a run's ledger.
type Bill struct {
	Run      string `json:"run"`
	Labels   int    `json:"labels"`
	Ungraded int    `json:"ungraded"`
	// Lines are by stage, judge and model, in the order of the tree.
	Lines []Line `json:"lines"`
	// Total is over the lines of judges that are paid for by the call.
	Total Usage `json:"total"`
	// Unpriced are models whose price is unknown; then the total has no cost.
	Unpriced []string `json:"unpriced,omitempty"`
}

type lineKey struct {
	stage        schema.Stage
	judge, model string
}

// Ledger adds labels up. The zero value is empty.
type Ledger struct {
	labels, ungraded int
	lines            map[lineKey]*Usage
}

// Add counts a label's trail. Entries that asked no judge count for nothing.
func (l *Ledger) Add(label *schema.Label) {
	l.labels++
	if label.Label == schema.GapUngraded {
		l.ungraded++
	}
	if l.lines == nil {
		l.lines = map[lineKey]*Usage{}
	}
	for _, e := range label.Trail {
		if e.Judge == "" {
			continue
		}
		key := lineKey{e.Stage, e.Judge, e.Model}
		if l.lines[key] == nil {
			l.lines[key] = &Usage{}
		}
		l.lines[key].add(e)
	}
}

// Bill prices what was added.
func (l *Ledger) Bill(run string, prices Prices) Bill {
	b := Bill{Run: run, Labels: l.labels, Ungraded: l.ungraded, Lines: []Line{}}
	for key, u := range l.lines {
		line := Line{Stage: key.stage, Judge: key.judge, Model: key.model, Usage: *u}
		if key.judge == paid {
			if price, ok := prices.Of(key.model); ok {
				cost := price.Of(u.TokensIn, u.TokensOut, u.TokensCached)
				line.Cost = &cost
			} else if !slices.Contains(b.Unpriced, key.model) {
				b.Unpriced = append(b.Unpriced, key.model)
			}
			b.Total.merge(line.Usage)
		}
		b.Lines = append(b.Lines, line)
	}
	slices.Sort(b.Unpriced)
	slices.SortFunc(b.Lines, func(x, y Line) int {
		return cmp.Or(cmp.Compare(x.Stage.Letter(), y.Stage.Letter()), cmp.Compare(x.Judge, y.Judge), cmp.Compare(x.Model, y.Model))
	})
	if len(b.Unpriced) > 0 {
		return b
	}
	total := 0.0
	for _, line := range b.Lines { // in this order, so that the sum is the same each time
		if line.Cost != nil {
			total += *line.Cost
		}
	}
	b.Total.Cost = &total
	return b
}
