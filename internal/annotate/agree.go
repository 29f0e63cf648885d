package annotate

import (
	"context"
	"fmt"

	"github.com/stepgap/stepgap/internal/eval/interval"
	"github.com/stepgap/stepgap/internal/eval/metrics"
	"github.com/stepgap/stepgap/pkg/schema"
)

// Agreement is how far two sides agree on the steps that both labelled.
type Agreement struct {
	// First gives the rows of the matrix, Second its columns.
	First  string `json:"first"`
	Second string `json:"second"`
	// Steps is how many both gave a label; Questions theirs.
	Steps     int `json:"steps"`
	Questions int `json:"questions"`
	// Unsure is how many of the steps that both decided are left out, since one
	// of the two was unsure.
	Unsure int `json:"unsure"`
	// Kappa is Cohen's, over the four labels, with a 95 % bootstrap interval
	// over questions; Accuracy is the share of equal labels.
	Kappa    interval.Estimate `json:"kappa"`
	Accuracy interval.Estimate `json:"accuracy"`
	Summary  metrics.Summary   `json:"summary"`
}

// Labels are a side's labels by step, such as a pipeline's.
type Labels map[string]schema.Gap

// Between compares every two people.
func Between(ctx context.Context, m *Material, people []Person) ([]Agreement, error) {
	var out []Agreement
	for i := range people {
		for j := i + 1; j < len(people); j++ {
			labels := Labels{}
			for _, t := range m.tasks {
				if e, ok := people[j].on(&t); ok {
					labels[t.Step] = schema.Gap(e.Choice)
				}
			}
			a, err := compare(ctx, m, people[i], people[j].Name, labels)
			if err != nil {
				return nil, err
			}
			out = append(out, a)
		}
	}
	return out, nil
}

// Against compares every person with a pipeline's labels.
func Against(ctx context.Context, m *Material, people []Person, name string, labels Labels) ([]Agreement, error) {
	var out []Agreement
	for _, p := range people {
		a, err := compare(ctx, m, p, name, labels)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// compare takes a person's labels for the gold ones; kappa does not mind.
func compare(ctx context.Context, m *Material, p Person, name string, labels Labels) (Agreement, error) {
	a := Agreement{First: p.Name, Second: name}
	var items []metrics.Item
	for i := range m.tasks {
		t := &m.tasks[i]
		e, decided := p.on(t)
		other, ok := labels[t.Step]
		if !decided || !ok {
			continue
		}
		gap, sure := e.Choice.Gap()
		if !sure || !other.Valid() {
			a.Unsure++
			continue
		}
		items = append(items, metrics.Item{Question: m.question[t.Step], Step: t.Step, Gold: gap, Pred: other})
	}
	sample, err := metrics.NewSample(items)
	if err != nil {
		return a, fmt.Errorf("comparing %s with %s: %w", a.First, a.Second, err)
	}
	total := sample.Total()
	a.Steps, a.Questions = total.All(), len(sample.Questions)
	a.Summary = metrics.Summarise(&total)
	found, err := interval.Of(ctx, sample, []metrics.Metric{metrics.Kappa, metrics.Accuracy}, interval.Options{})
	if err != nil {
		return a, fmt.Errorf("comparing %s with %s: %w", a.First, a.Second, err)
	}
	a.Kappa, a.Accuracy = found[metrics.Kappa], found[metrics.Accuracy]
	return a, nil
}

// on is a person's decision on a task's content as it is.
func (p Person) on(t *Task) (Entry, bool) {
	e, ok := p.Decisions[t.Step]
	return e, ok && e.Digest == t.Digest
}
