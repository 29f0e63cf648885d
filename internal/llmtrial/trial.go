package llmtrial

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/stepgap/stepgap/internal/cost"
	"github.com/stepgap/stepgap/pkg/client"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Options say what a trial does.
type Options struct {
	// Program is the path of stepgap, which is run as `stepgap serve` with
	// Flags; they name the endpoint and its model.
	Program string
	Flags   []string
	Stages  []schema.Stage
	// Twice sends every item a second time under another run, for the flips.
	Twice bool
	// Pad, in bytes, sends every item of B and C once more with so much
	// unrelated text around the evidence, for the padding flips; 0 doesn't.
	Pad int
	// Price of the model's tokens; nil: unknown, and then nothing has a cost.
	Price *cost.Price
	// Limit is how long one item may take, over all stages.
	Limit time.Duration
	// Date goes into the report.
	Date string
	// Log takes what the pipelines log, Progress a line an item.
	Log, Progress io.Writer
}

// Run serves the pipeline once a stage, with that stage alone judged by the
// language model, and tries the stage's items on it; and once with rules alone,
// for the floor.
func Run(ctx context.Context, o Options) (Report, error) {
	model := ""
	var reports []StageReport
	for _, stage := range o.Stages {
		r, asked, err := o.stage(ctx, stage)
		if err != nil {
			return Report{}, fmt.Errorf("trying %s: %w", stage, err)
		}
		if asked != "" {
			model = asked
		}
		reports = append(reports, r)
	}
	if err := o.floor(ctx, reports); err != nil {
		return Report{}, fmt.Errorf("trying the local judge: %w", err)
	}
	return NewReport(o.Date, model, o.Price, reports), nil
}

// stage tries one stage and returns the name of the model that it asked.
func (o Options) stage(ctx context.Context, stage schema.Stage) (r StageReport, model string, err error) {
	items := ItemsOf(stage)
	var loads []float64
	err = o.served(ctx, stage, func(c *client.Client) error {
		tell := func(item Item, a Answer) {
			if load, ok := loadAverage(); ok {
				loads = append(loads, load)
			}
			o.tell(item, a)
		}
		first, err := Try(ctx, c, "first", items, o.Limit, false, tell)
		if err != nil {
			return err
		}
		r = Summarise(stage, items, first, o.Price)
		r.Load = mean(loads)
		for _, a := range first {
			if a.Entry.Model != "" {
				model = a.Entry.Model
			}
		}
		// A never sees evidence, so nothing can be put beside it.
		if o.Pad > 0 && stage != schema.StageEntity {
			padded := Padded(items, o.Pad)
			beside, err := Try(ctx, c, "padded", padded, o.Limit, false, o.tell)
			if err != nil {
				return err
			}
			r.PaddingFlips = Compare(items, first, beside)
			r.addQuotes(beside)
		}
		if !o.Twice {
			return nil
		}
		second, err := Try(ctx, c, "second", items, o.Limit, true, o.tell)
		if err != nil {
			return err
		}
		r.Flips = Compare(items, first, second)
		r.addQuotes(second)
		return nil
	})
	return r, model, err
}

// floor adds what the local judge gets right.
func (o Options) floor(ctx context.Context, reports []StageReport) error {
	return o.served(ctx, "", func(c *client.Client) error {
		for i := range reports {
			answers, err := Try(ctx, c, "floor", ItemsOf(reports[i].Stage), o.Limit, false, func(Item, Answer) {})
			if err != nil {
				return err
			}
			for _, a := range answers {
				reports[i].Local += count(a.Right)
			}
		}
		return nil
	})
}

// served runs do beside a pipeline of its own.
func (o Options) served(ctx context.Context, stage schema.Stage, do func(*client.Client) error) (err error) {
	flags := append(append([]string{}, o.Flags...), JudgeFlags(stage)...)
	s, err := Serve(ctx, o.Program, o.Log, flags...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Stop()) }()
	return do(s.Client)
}

func (o Options) tell(item Item, a Answer) {
	said := a.Got
	if said == "" {
		said = a.Missed + a.Err
	}
	fmt.Fprintf(o.Progress, "%-5v %6.1f s  confidence %-4s  %s, %s: want %s, got %s\n",
		a.Right, float64(a.Entry.LatencyUS)/1e6, number(a.Entry.Confidence, 2), item.Stage.Letter(), item.Name, wanted(item), said)
}

// loadAverage returns the machine's 1-minute load average, where it tells it.
func loadAverage() (float64, bool) {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, false
	}
	first, _, _ := strings.Cut(string(data), " ")
	load, err := strconv.ParseFloat(first, 64)
	return load, err == nil
}
