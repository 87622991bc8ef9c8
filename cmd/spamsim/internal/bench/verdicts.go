package bench

import (
	"spamsim/milter/filter"
	"spamsim/store"
)

// comparedWork bounds the messages that are compared with a scan, by their number times that of the remembered ones: so many take
// about ten seconds on one core of 2021; of a million remembered messages the least that are compared take half a minute.
const comparedWork = 200_000_000

// How many messages are compared, however many are remembered.
const (
	leastCompared = 1000
	mostCompared  = 2000
)

// sameVerdicts is the part of messages of which store.Judge says what a scan of all clusters says: of the stream's next ones,
// and of as many copies of running campaigns with up to half of their words changed, which are the hard ones.
func (m *memory) sameVerdicts(next []read) float64 {
	n := min(len(next), min(mostCompared, max(leastCompared, comparedWork/m.n))/2)
	var ts []*store.Trace
	var xs []*store.Transaction
	for i, r := range next[:n] {
		ts, xs = append(ts, r.trace), append(xs, r.from)
		if len(m.writer.campaigns) > 0 {
			c := m.parsed(m.writer.of(m.writer.copied(m.writer.Float64()/2)), m.n+i)
			ts, xs = append(ts, c.trace), append(xs, c.from)
		}
	}
	same := 0
	for i, want := range m.store.JudgeAll(ts, xs) {
		if got := m.store.Judge(ts[i], xs[i]); verdictOf(&got) == verdictOf(&want) {
			same++
		}
	}
	return float64(same) / float64(len(ts))
}

// A verdict is what the evidence comes to by the default configuration: whether the message resembles something improbably well,
// and whether that is bulk.
type verdict struct {
	abstain    string
	near, bulk bool
}

func verdictOf(ev *store.Evidence) verdict {
	near := ev.Member && ev.Sigma >= filter.DefaultThreshold
	return verdict{ev.Abstain, near, near && ev.Copies >= filter.DefaultBulkCount}
}
