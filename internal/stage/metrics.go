package stage

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/stepgap/stepgap/pkg/schema"
)

// Metrics of the loop. A nil *Metrics records nothing.
type Metrics struct {
	messages *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	labels   *prometheus.CounterVec
	calls    *prometheus.CounterVec
	tokens   *prometheus.CounterVec
}

// NewMetrics registers the loop's metrics with r; a nil r gives none.
func NewMetrics(r prometheus.Registerer) (*Metrics, error) {
	if r == nil {
		return nil, nil
	}
	m := &Metrics{
		messages: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "stepgap_stage_messages_total", Help: "Messages handled, by stage and outcome.",
		}, []string{"stage", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "stepgap_stage_handle_seconds", Help: "Time from delivery to settlement of a message.",
			Buckets: prometheus.ExponentialBuckets(0.001, 2.5, 13),
		}, []string{"stage"}),
		labels: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "stepgap_labels_total", Help: "Labels given, by label and reason.",
		}, []string{"label", "reason"}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "stepgap_stage_judge_calls_total", Help: "Calls of the stage's judge (pairs, for an NLI model), retries and repairs among them.",
		}, []string{"stage"}),
		tokens: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "stepgap_stage_judge_tokens_total", Help: "Tokens of the stage's judge, by kind: in, out, and cached, which is a part of in.",
		}, []string{"stage", "kind"}),
	}
	for _, c := range []prometheus.Collector{m.messages, m.seconds, m.labels, m.calls, m.tokens} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *Metrics) observe(stage schema.Stage, outcome string, took time.Duration) {
	m.messages.WithLabelValues(string(stage), outcome).Inc()
	m.seconds.WithLabelValues(string(stage)).Observe(took.Seconds())
}

func (m *Metrics) label(l *schema.Label) {
	if m != nil {
		m.labels.WithLabelValues(string(l.Label), string(l.Reason)).Inc()
	}
}

// judged counts what a try cost, whatever came of it.
func (m *Metrics) judged(e schema.TrailEntry) {
	if m == nil || e.Calls == 0 {
		return
	}
	stage := string(e.Stage)
	m.calls.WithLabelValues(stage).Add(float64(e.Calls))
	m.tokens.WithLabelValues(stage, "in").Add(float64(e.TokensIn))
	m.tokens.WithLabelValues(stage, "out").Add(float64(e.TokensOut))
	m.tokens.WithLabelValues(stage, "cached").Add(float64(e.TokensCached))
}
