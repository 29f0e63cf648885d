package app

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/stepgap/stepgap/internal/judge/llm"
)

// callMetrics count attempts, and show on collection how endpoints and limits
// stand. The label "endpoint" holds a configured base URL; none holds an id.
type callMetrics struct {
	calls    *calls
	attempts *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	hedges   *prometheus.CounterVec

	state, inFlight, limit, slots, waiting *prometheus.Desc
}

func newCallMetrics(r prometheus.Registerer, c *calls) (*callMetrics, error) {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("stepgap_judge_"+name, help, []string{"endpoint"}, nil)
	}
	m := &callMetrics{
		calls: c,
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "stepgap_judge_attempts_total", Help: "HTTP attempts, by endpoint and outcome (ok, limited, refused, failed, timeout, cancelled).",
		}, []string{"endpoint", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "stepgap_judge_attempt_seconds", Help: "Time from sending an attempt to its end.",
			Buckets: prometheus.ExponentialBuckets(0.01, 2, 13),
		}, []string{"endpoint"}),
		hedges: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "stepgap_judge_hedges_total", Help: "Attempts sent beside a slow one, by outcome; ok ones were the faster.",
		}, []string{"outcome"}),
		state:    desc("breaker_state", "0: up; 1: down, nothing is sent; 2: down, being probed."),
		inFlight: desc("in_flight", "Attempts of this process under way."),
		limit:    desc("limit_concurrent", "Attempts that all processes together may have under way."),
		slots:    desc("limit_slots", "This process's part of limit_concurrent."),
		waiting:  desc("limit_waiting", "Attempts of this process that wait for their turn."),
	}
	for _, c := range []prometheus.Collector{m.attempts, m.seconds, m.hedges, m} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (m *callMetrics) observe(a llm.Attempt) {
	m.attempts.WithLabelValues(a.Endpoint, a.Outcome).Inc()
	m.seconds.WithLabelValues(a.Endpoint).Observe(a.Took.Seconds())
	if a.Hedge {
		m.hedges.WithLabelValues(a.Outcome).Inc()
	}
}

// Describe implements prometheus.Collector.
func (m *callMetrics) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.state, m.inFlight, m.limit, m.slots, m.waiting} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (m *callMetrics) Collect(ch chan<- prometheus.Metric) {
	if m.calls.client == nil {
		return
	}
	for i, s := range m.calls.client.Standings() {
		show := func(d *prometheus.Desc, v int) {
			ch <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(v), s.Endpoint)
		}
		show(m.state, s.State)
		show(m.inFlight, s.InFlight)
		l := m.calls.limiters[i].Snapshot()
		show(m.limit, l.Limit)
		show(m.slots, l.Slots)
		show(m.waiting, l.Waiting)
	}
}
