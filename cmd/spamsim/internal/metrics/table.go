package metrics

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/store/replica"
)

// A row is a metric that is read from the counters.
type row struct {
	name, help string
	kind       prometheus.ValueType
	labels     []string
	read       func(s *control.Stats, emit func(v float64, labels ...string))
	desc       *prometheus.Desc
}

const (
	gauge   = prometheus.GaugeValue
	counter = prometheus.CounterValue
)

// A scalar is a value without labels.
func scalar[T int | int64](of func(s *control.Stats) T) func(*control.Stats, func(float64, ...string)) {
	return func(s *control.Stats, emit func(float64, ...string)) { emit(float64(of(s))) }
}

// table is every metric that is read from the counters, in the order of the page.
var table = described([]row{
	{"spamsim_info", "1, by the version of the program.", gauge, []string{"version"},
		func(s *control.Stats, emit func(float64, ...string)) { emit(1, s.Version) }, nil},
	{"spamsim_messages_total", "Messages by the door they came by, verdict and reason.", counter, []string{"door", "verdict", "reason"},
		func(s *control.Stats, emit func(float64, ...string)) {
			for _, m := range s.Messages {
				emit(float64(m.N), m.Door, m.Verdict, m.Reason)
			}
		}, nil},
	{"spamsim_exempt_hits_total", "Messages that met an exempt rule.", counter, []string{"rule"},
		func(s *control.Stats, emit func(float64, ...string)) {
			for _, r := range s.Exempt {
				emit(float64(r.N), r.Rule)
			}
		}, nil},
	{"spamsim_door_connections", "Connections of clients that are open now.", gauge, []string{"door"}, perDoor("open", "sessions"), nil},
	{"spamsim_door_held_bytes", "Octets of messages that are held in memory now.", gauge, []string{"door"}, perDoor("held"), nil},
	{"spamsim_door_events_total", "What else happened at a door, by the names of spamsim stats.", counter, []string{"door", "event"}, events, nil},
	{"spamsim_next_hop_failures_total", "Transactions that broke at the next hop: refused, silent, cut, nonsense.", counter, []string{"door"}, perDoor("hop_failed"), nil},
	{"spamsim_store_clusters", "Clusters that are remembered.", gauge, nil, scalar(func(s *control.Stats) int { return s.Held.Clusters }), nil},
	{"spamsim_store_campaigns", "Clusters of two copies or more.", gauge, nil, scalar(func(s *control.Stats) int { return s.Held.Campaigns }), nil},
	{"spamsim_store_messages", "Messages that are counted and not yet expired.", gauge, nil, scalar(func(s *control.Stats) int { return s.Held.Messages }), nil},
	{"spamsim_store_bytes", "Size of the store's file in octets.", gauge, nil, scalar(func(s *control.Stats) int64 { return s.Held.Bytes }), nil},
	{"spamsim_store_free_bytes", "Octets of it that hold nothing.", gauge, nil, scalar(func(s *control.Stats) int64 { return s.Held.Free }), nil},
	{"spamsim_store_commits_total", "Commits of the store.", counter, nil, scalar(func(s *control.Stats) int64 { return s.Held.Commits }), nil},
	{"spamsim_store_failures_total", "Commits of the store that went wrong, each tried again.", counter, nil, scalar(func(s *control.Stats) int64 { return s.Held.Failures }), nil},
	{"spamsim_sigma_scale", "Scale of the null distribution as fitted to recent unrelated mail; 1 is the shipped figure.", gauge, []string{"script"},
		func(s *control.Stats, emit func(float64, ...string)) {
			for _, c := range s.Sigma {
				emit(c.Scale, c.Script)
			}
		}, nil},
	{"spamsim_sigma_messages", "Recent unrelated messages that the scale was fitted to.", gauge, []string{"script"},
		func(s *control.Stats, emit func(float64, ...string)) {
			for _, c := range s.Sigma {
				emit(float64(c.Messages), c.Script)
			}
		}, nil},
	{"spamsim_sigma_over", "Those of them whose best match reached a sigma: 15.87, 2.28 and 0.62 % where it is true.", gauge, []string{"script", "sigma"},
		func(s *control.Stats, emit func(float64, ...string)) {
			for _, c := range s.Sigma {
				for i, sigma := range []string{"1", "2", "2.5"} {
					emit(float64(c.Over[i]), c.Script, sigma)
				}
			}
		}, nil},
	{"spamsim_peers_connected", "1 while the broker of the peers answers, else 0; absent without peers.", gauge, nil, ofPeers(connected), nil},
	{"spamsim_peers_alive", "Nodes that were heard of in the last 30 s, this one among them.", gauge, nil, ofPeers(alive), nil},
	{"spamsim_peers_differing", "Those of them whose digest is not that of this node; under load they always differ for a moment.", gauge, nil, ofPeers(differing), nil},
	{"spamsim_peers_entries", "Entries that this node holds of all nodes.", gauge, nil, ofPeers(func(p *replica.Status) float64 { return float64(p.Entries) }), nil},
	{"spamsim_peers_lag_seconds", "How far this node is behind what the others tell.", gauge, nil, ofPeers(func(p *replica.Status) float64 { return p.Lag.Seconds() }), nil},
	{"spamsim_peers_events_total", "Entries and what else happened between peers, by the names of spamsim stats --peers.", counter, []string{"event"},
		func(s *control.Stats, emit func(float64, ...string)) {
			if p := s.Peers; p != nil {
				for _, e := range p.Events() {
					emit(float64(e.N), e.Name)
				}
			}
		}, nil},
})

// ofPeers reads a value where there are peers.
func ofPeers(of func(*replica.Status) float64) func(*control.Stats, func(float64, ...string)) {
	return func(s *control.Stats, emit func(float64, ...string)) {
		if s.Peers != nil {
			emit(of(s.Peers))
		}
	}
}

func connected(p *replica.Status) float64 {
	if p.Connected {
		return 1
	}
	return 0
}

func alive(p *replica.Status) (n float64) {
	for _, x := range p.Peers {
		if x.Lives {
			n++
		}
	}
	return n
}

func differing(p *replica.Status) (n float64) {
	for _, x := range p.Peers {
		if x.Lives && !x.Same && x.Node != p.Node {
			n++
		}
	}
	return n
}

// described makes the description of each row.
func described(rows []row) []row {
	for i := range rows {
		rows[i].desc = prometheus.NewDesc(rows[i].name, rows[i].help, rows[i].labels, nil)
	}
	return rows
}

// apart are the counters of doors that have a metric of their own; the rest are events.
var apart = map[string]bool{"open": true, "sessions": true, "held": true, "hop_failed": true}

// perDoor reads the first of some counters that a door has; one that has none of them is left out.
func perDoor(names ...string) func(*control.Stats, func(float64, ...string)) {
	return func(s *control.Stats, emit func(float64, ...string)) {
		for door, counters := range s.Doors {
			for _, name := range names {
				if n, ok := counters[name]; ok {
					emit(float64(n), door)
					break
				}
			}
		}
	}
}

func events(s *control.Stats, emit func(float64, ...string)) {
	for door, counters := range s.Doors {
		for _, name := range slices.Sorted(maps.Keys(counters)) {
			if !apart[name] {
				emit(float64(counters[name]), door, name)
			}
		}
	}
}

// A reader is the table as Prometheus collects it.
type reader struct{ source Source }

// Describe lists the rows.
func (reader) Describe(out chan<- *prometheus.Desc) {
	for i := range table {
		out <- table[i].desc
	}
}

// patience bounds a scrape.
const patience = 10 * time.Second

// Collect reads the counters once for all rows.
func (r reader) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	stats, err := r.source(ctx)
	for i := range table {
		row := &table[i]
		if err != nil {
			out <- prometheus.NewInvalidMetric(row.desc, err)
			continue
		}
		row.read(&stats, func(v float64, labels ...string) {
			out <- prometheus.MustNewConstMetric(row.desc, row.kind, v, labels...)
		})
	}
}
