// Package bench measures the pipeline with judges that cost nothing against
// bare JetStream doing the same work: the same streams, message count and
// bytes, in the same run.
package bench

import (
	"context"
	"fmt"
	"io"
	"log/slog"
)

// Options size a run.
type Options struct {
	Steps   int // steps to push through; default 20,000
	Bytes   int // about the size of a step's body; default 2048
	Window  int // steps published and not yet accepted at once; default 256
	Workers int // workers a stage; default 32
	Log     *slog.Logger
	// Progress gets a line a phase.
	Progress io.Writer
}

// Report is what a run measured.
type Report struct {
	Steps int `json:"steps"`
	// StepsPerSecond from the first publish to the last label.
	StepsPerSecond float64 `json:"steps_per_s"`
	// BareStepsPerSecond is bare JetStream's rate for the same messages.
	BareStepsPerSecond float64 `json:"bare_steps_per_s"`
	// Ratio of the two; the rounds alternate and their medians are compared.
	Ratio           float64   `json:"ratio_bare_jetstream"`
	MessagesPerStep float64   `json:"messages_per_step"`
	BytesPerStep    float64   `json:"bytes_per_step"`
	CPUPerStep      float64   `json:"cpu_us_per_step"`
	BareCPUPerStep  float64   `json:"bare_cpu_us_per_step"`
	Rounds          []float64 `json:"rounds_steps_per_s"`
	BareRounds      []float64 `json:"bare_rounds_steps_per_s"`
	Workers         int       `json:"workers"`
	Window          int       `json:"window"`
	StepBytes       int       `json:"step_bytes"`
}

func (o Options) withDefaults() Options {
	if o.Steps == 0 {
		o.Steps = 20_000
	}
	if o.Bytes == 0 {
		o.Bytes = 2048
	}
	if o.Window == 0 {
		o.Window = 256
	}
	if o.Workers == 0 {
		o.Workers = 32
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	return o
}

// rounds is how often each side is measured.
const rounds = 3

// Run measures both sides, in turn.
func Run(ctx context.Context, o Options) (Report, error) {
	o = o.withDefaults()
	r := Report{Steps: o.Steps, Workers: o.Workers, Window: o.Window}
	var cpu, bareCPU []float64
	for round := range rounds {
		ours, err := pipelineRound(ctx, o)
		if err != nil {
			return r, fmt.Errorf("pipeline, round %d: %w", round+1, err)
		}
		bare, err := bareRound(ctx, o, ours)
		if err != nil {
			return r, fmt.Errorf("bare JetStream, round %d: %w", round+1, err)
		}
		n := float64(o.Steps)
		r.Rounds = append(r.Rounds, n/ours.took.Seconds())
		r.BareRounds = append(r.BareRounds, n/bare.took.Seconds())
		cpu = append(cpu, float64(ours.cpu.Microseconds())/n)
		bareCPU = append(bareCPU, float64(bare.cpu.Microseconds())/n)
		r.MessagesPerStep = float64(ours.messages()) / n
		r.BytesPerStep = float64(ours.bytes()) / n
		r.StepBytes = ours.stepBytes
		_, _ = fmt.Fprintf(o.Progress, "round %d of %d: pipeline %.0f steps/s, bare JetStream %.0f steps/s\n", round+1, rounds, r.Rounds[round], r.BareRounds[round])
	}
	r.StepsPerSecond, r.BareStepsPerSecond = median(r.Rounds), median(r.BareRounds)
	r.Ratio = r.StepsPerSecond / r.BareStepsPerSecond
	r.CPUPerStep, r.BareCPUPerStep = median(cpu), median(bareCPU)
	return r, nil
}
