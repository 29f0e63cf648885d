package gateway

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics count requests; nil counts nothing. No label holds an id or a token.
type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

// newMetrics registers the gateway's metrics with r; nil for none.
func newMetrics(r prometheus.Registerer, waits slots) (*metrics, error) {
	if r == nil {
		return nil, nil
	}
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "stepgap_gateway_requests_total", Help: "HTTP requests, by route and status.",
		}, []string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "stepgap_gateway_request_seconds", Help: "Time from a request's headers to the end of its answer, waits included.",
			Buckets: prometheus.ExponentialBuckets(0.005, 3, 11),
		}, []string{"route"}),
	}
	waiting := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "stepgap_gateway_waiting", Help: "Requests that wait for rewards.",
	}, func() float64 { return float64(len(waits)) })
	for _, c := range []prometheus.Collector{m.requests, m.seconds, waiting} {
		if err := r.Register(c); err != nil {
			return nil, fmt.Errorf("registering the gateway's metrics: %w", err)
		}
	}
	return m, nil
}

func (m *metrics) observe(route string, status int, took time.Duration) {
	if m == nil {
		return
	}
	if route == "" {
		route = "none"
	}
	m.requests.WithLabelValues(route, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}

// watched remembers the status that was written.
type watched struct {
	http.ResponseWriter
	status int
}

// WriteHeader implements http.ResponseWriter.
func (w *watched) WriteHeader(status int) {
	w.status = status
	w.ResponseWriter.WriteHeader(status)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }
