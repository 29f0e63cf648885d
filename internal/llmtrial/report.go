package llmtrial

import (
	"cmp"
	"slices"

	"github.com/stepgap/stepgap/internal/cost"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Report is what a trial measured.
type Report struct {
	Date  string `json:"date"`
	Model string `json:"model"`
	// Price is in the currency of the reader's choice; nil where none was given.
	Price *cost.Price `json:"price_per_million"`
	// Accuracy, P50Seconds and Tokens are the stages' figures once more, by the
	// stage's name.
	Accuracy   map[schema.Stage]float64 `json:"accuracy"`
	P50Seconds map[schema.Stage]float64 `json:"p50_s"`
	Tokens     map[schema.Stage]Tokens  `json:"tokens"`
	Stages     []StageReport            `json:"stages"`
}

// Tokens are a stage's tokens; Cached is the part of In that the endpoint had
// cached.
type Tokens struct {
	In     int `json:"in"`
	Cached int `json:"cached"`
	Out    int `json:"out"`
}

// StageReport is what a trial measured of one stage.
type StageReport struct {
	Stage  schema.Stage `json:"stage"`
	Prompt string       `json:"prompt"`
	Items  int          `json:"items"`
	// Reached are the items that came to the stage; only they can be right.
	Reached int `json:"reached"`
	Right   int `json:"right"`
	Errors  int `json:"errors"`
	// Constant is what the best constant answer gets right, Local the judge
	// made of rules.
	Constant int `json:"constant_right"`
	Local    int `json:"local_right"`
	// RelevanceRight counts C's items whose passages were rightly called
	// relevant or not; nil for other stages.
	RelevanceRight *int   `json:"relevance_right,omitempty"`
	Calls          int    `json:"calls"`
	Tokens         Tokens `json:"tokens"`
	// Cost is nil where there is no price.
	Cost *float64 `json:"cost"`
	// P50Seconds and MaxSeconds are of the stage's handling of an item, its
	// call included; nil where no item reached the stage.
	P50Seconds *float64 `json:"p50_s"`
	MaxSeconds *float64 `json:"max_s"`
	// Load is the machine's mean 1-minute load average over the items, the
	// model's own threads included if it runs there too; nil where unknown.
	Load *float64 `json:"load"`
	// ConfidenceRight and ConfidenceWrong are means; nil where there is none.
	ConfidenceRight *float64 `json:"confidence_right"`
	ConfidenceWrong *float64 `json:"confidence_wrong"`
	// Quotes counts the quotes of all labels, of all runs where there are more,
	// Outside those that do not stand in their passage.
	Quotes  int    `json:"quotes"`
	Outside int    `json:"quotes_outside"`
	Flips   *Flips `json:"flips,omitempty"`
	// PaddingFlips compares with a run that had unrelated text around the
	// evidence; nil where there was none.
	PaddingFlips *Flips `json:"padding_flips,omitempty"`
	Cases        []Case `json:"cases"`
}

// Flips compares two runs over the same items.
type Flips struct {
	// Pairs counts the items that both runs gave a verdict on by a call; one
	// that came from a verdict cache can't differ.
	Pairs  int      `json:"pairs"`
	Cached int      `json:"cached"`
	Differ []string `json:"differ"`
	// Rate is the share of pairs that differ; nil where there are none.
	Rate *float64 `json:"rate"`
}

// Case is one item's answer.
type Case struct {
	Name       string   `json:"name"`
	Want       string   `json:"want"`
	Got        string   `json:"got"`
	Right      bool     `json:"right"`
	Confidence *float64 `json:"confidence,omitempty"`
	Seconds    float64  `json:"s"`
	Missed     string   `json:"missed,omitempty"`
	Error      string   `json:"error,omitempty"`
}

// Summarise sums up one stage's answers; items and answers stand in the same
// order.
func Summarise(stage schema.Stage, items []Item, answers []Answer, price *cost.Price) StageReport {
	r := StageReport{Stage: stage, Items: len(items), Constant: Constant(items)}
	relevance := 0
	var right, wrong, seconds []float64
	for i, a := range answers {
		item, e := items[i], a.Entry
		c := Case{Name: item.Name, Want: wanted(item), Got: a.Got, Right: a.Right, Confidence: e.Confidence, Seconds: float64(e.LatencyUS) / 1e6, Missed: a.Missed, Error: a.Err}
		r.Cases = append(r.Cases, c)
		r.Right += count(a.Right)
		r.Errors += count(a.Err != "")
		relevance += count(a.Reached && a.Err == "" && a.Relevant == (item.Want != irrelevant))
		r.Quotes += a.Quotes
		r.Outside += a.Outside
		if !a.Reached {
			continue
		}
		r.Reached++
		r.Prompt = cmp.Or(e.Prompt, r.Prompt)
		r.Calls += e.Calls
		r.Tokens.In += e.TokensIn
		r.Tokens.Cached += e.TokensCached
		r.Tokens.Out += e.TokensOut
		seconds = append(seconds, c.Seconds)
		switch {
		case e.Confidence == nil || a.Err != "":
		case a.Right:
			right = append(right, *e.Confidence)
		default:
			wrong = append(wrong, *e.Confidence)
		}
	}
	if stage == schema.StageQuote {
		r.RelevanceRight = &relevance
	}
	if price != nil {
		spent := price.Of(r.Tokens.In, r.Tokens.Out, r.Tokens.Cached)
		r.Cost = &spent
	}
	r.ConfidenceRight, r.ConfidenceWrong = mean(right), mean(wrong)
	if len(seconds) > 0 {
		slices.Sort(seconds)
		r.P50Seconds, r.MaxSeconds = &seconds[len(seconds)/2], &seconds[len(seconds)-1]
	}
	return r
}

func (r *StageReport) addQuotes(answers []Answer) {
	for _, a := range answers {
		r.Quotes += a.Quotes
		r.Outside += a.Outside
	}
}

// Compare compares two runs' answers to the same items.
func Compare(items []Item, first, second []Answer) *Flips {
	f := &Flips{Differ: []string{}}
	for i, item := range items {
		a, b := first[i], second[i]
		switch {
		case !a.Reached || !b.Reached || a.Err != "" || b.Err != "":
		case a.Entry.CacheHit || b.Entry.CacheHit:
			f.Cached++
		default:
			f.Pairs++
			if a.Got != b.Got {
				f.Differ = append(f.Differ, item.Name)
			}
		}
	}
	if f.Pairs > 0 {
		rate := float64(len(f.Differ)) / float64(f.Pairs)
		f.Rate = &rate
	}
	return f
}

// NewReport puts the stages together.
func NewReport(date, model string, price *cost.Price, stages []StageReport) Report {
	r := Report{
		Date: date, Model: model, Price: price, Stages: stages,
		Accuracy: map[schema.Stage]float64{}, P50Seconds: map[schema.Stage]float64{}, Tokens: map[schema.Stage]Tokens{},
	}
	for _, s := range stages {
		r.Accuracy[s.Stage] = float64(s.Right) / float64(s.Items)
		r.Tokens[s.Stage] = s.Tokens
		if s.P50Seconds != nil {
			r.P50Seconds[s.Stage] = *s.P50Seconds
		}
	}
	return r
}

func wanted(item Item) string {
	if item.Telling != "" {
		return item.Want + " (" + item.Telling + ")"
	}
	return item.Want
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// mean returns the mean; nil where there are no values.
func mean(values []float64) *float64 {
	if len(values) == 0 {
		return nil
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	m := sum / float64(len(values))
	return &m
}
