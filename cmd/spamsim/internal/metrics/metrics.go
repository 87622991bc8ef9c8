// Package metrics shows a daemon to those who watch over it, by HTTP:
//
//	GET /metrics   its counters, as Prometheus reads them; "spamsim help metrics" names each
//	GET /healthz   200 as long as the process answers
//	GET /readyz    200 while mail is taken, else 503 with the reason
//
// What is counted elsewhere is not counted again here: a scrape reads the same control.Stats that "spamsim stats" prints.
// Only how long judging takes is gathered here, since no value can stand for a distribution.
package metrics

import (
	"context"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"spamsim/cmd/spamsim/internal/control"
)

// A Source returns the counters of now.
type Source func(ctx context.Context) (control.Stats, error)

// Metrics are those of one daemon. Its methods may be called from many goroutines.
type Metrics struct {
	registry *prometheus.Registry
	judging  *prometheus.HistogramVec
	reloads  *prometheus.CounterVec
}

// buckets are where judging is told apart, in seconds: a message takes about one millisecond, and a scanner waits for four
// seconds.
var buckets = []float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 4, 10}

// The names of the metrics that are gathered here.
const (
	judgingName = "spamsim_judging_seconds"
	reloadsName = "spamsim_reloads_total"
)

// New returns metrics over a source.
func New(source Source) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		judging: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: judgingName, Help: "How long judging a message took.", Buckets: buckets,
		}, []string{"door"}),
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: reloadsName, Help: "Reloads of the configuration by SIGHUP.",
		}, []string{"result"}),
	}
	for _, result := range []string{"done", "failed"} { // so that a rate sees the first
		m.reloads.WithLabelValues(result)
	}
	m.registry.MustRegister(m.judging, m.reloads, reader{source}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Judged notes how long the judging of a message took.
func (m *Metrics) Judged(door string, took time.Duration) {
	m.judging.WithLabelValues(door).Observe(took.Seconds())
}

// Reloaded notes a reload of the configuration.
func (m *Metrics) Reloaded(err error) {
	result := "done"
	if err != nil {
		result = "failed"
	}
	m.reloads.WithLabelValues(result).Inc()
}

// scrapesAtOnce bounds what those who scrape can cost.
const scrapesAtOnce = 2

// Handler serves the addresses of the package comment. Ready says why no mail is taken, nil where it is. With a token
// /metrics is for those who bring it (RFC 6750 section 2.1), without one for those who ask this machine by a loopback name.
func (m *Metrics) Handler(ready func() error, token string) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", guard(token, promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: scrapesAtOnce})))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "alive") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := ready(); err != nil {
			say(w, http.StatusServiceUnavailable, err.Error())
			return
		}
		say(w, http.StatusOK, "ready")
	})
	return mux
}

// say answers in one line.
func say(w http.ResponseWriter, code int, line string) {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, _ = w.Write([]byte(line + "\n")) // fails only where the client is gone
}
