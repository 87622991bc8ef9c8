package store

import (
	"cmp"
	"math"
	"slices"
)

// The oracle: what a scan of all clusters says, which the index is measured against. It goes over every cluster once, for
// many messages at a time, and adds up for each message the weights of all features that both have. That sum bounds the score
// from above (ceiling). Every cluster that it does not keep below what a copy needs is measured in full, and no list of
// candidates, no limit of work and no bound on the holders of a feature stands between.

// JudgeAll says of each message what Judge would say if it measured every cluster: it is for measurements of Judge, and keeps
// the store to itself for as long as it takes, some seconds for a million clusters. Transaction n is that of message n.
func (s *Store) JudgeAll(ts []*Trace, xs []*Transaction) []Evidence {
	s.mu.Lock()
	defer s.mu.Unlock()
	qs := make([]*query, len(ts))
	for i, t := range ts {
		qs[i] = s.memory.query(t)
		qs[i].sender = s.sender(xs[i].Sender)
		s.memory.settle(qs[i])
	}
	found := s.memory.scan(qs, s.floor())
	out := make([]Evidence, len(ts))
	for i, q := range qs {
		_, out[i] = s.judgeBy(q, xs[i], func(*query) []match { return found[i] })
	}
	return out
}

// floor is the sum, in nats, below which no cluster has a say in a verdict: a copy needs joinScore, and sigma 3 a score of 30
// and more, times the cube root of the scale that the site's mail has shown (sigma.go).
func (s *Store) floor() float64 {
	least := 1.0
	for i := range s.fits {
		least = min(least, s.fits[i].scale())
	}
	return joinScore * math.Cbrt(least)
}

// settle gives the features of a message the weights that they have among what is stored, as matches does.
func (m *memory) settle(q *query) {
	for i := range q.features {
		f := &q.features[i]
		f.w = float32(f.static) / weightUnit
		if ref, n := m.post.find(f.id); ref != noCluster {
			f.w = m.weight(n, f.w)
		}
	}
	q.weighed()
}

// A holding is a message that has a feature, and what it weighs there.
type holding struct {
	query int32
	w     float32
}

// scan returns for each message the clusters that resemble it by floor nats and more, and perhaps others, best first.
func (m *memory) scan(qs []*query, floor float64) [][]match {
	who := map[uint32][]holding{} // by what a solo keeps of an id, with octetBit
	for i, q := range qs {
		for _, f := range q.features {
			near := nearOf(f.id)
			who[near] = append(who[near], holding{int32(i), f.w})
		}
	}
	sums, out := make([]float32, len(qs)), make([][]match, len(qs))
	for h := range m.top {
		if m.at(h).state == vacant {
			continue
		}
		clear(sums)
		for _, near := range m.nearsOf(h) {
			for _, x := range who[near] {
				sums[x.query] += x.w
			}
		}
		c := m.cluster(h)
		whole := m.wholeOf(h)
		for i, sum := range sums {
			if float64(sum) < floor || c.ceiling(float64(sum), whole, qs[i]) < floor {
				continue
			}
			if x := m.measure(qs[i], h); x.score > 0 {
				out[i] = append(out[i], x)
			}
		}
	}
	for _, found := range out {
		slices.SortFunc(found, func(a, b match) int { return cmp.Compare(b.score, a.score) })
	}
	return out
}

// nearOf is what a solo keeps of an id, and whether it is of an attachment.
func nearOf(id uint32) uint32 { return id>>nearBits<<1 | id&octetBit }

// nearsOf returns those of a cluster's features.
func (m *memory) nearsOf(h uint32) (out []uint32) {
	if s := m.at(h); s.state == alone {
		text, octets := m.idsOf(s)
		for _, near := range text {
			out = append(out, near<<1)
		}
		for _, near := range octets {
			out = append(out, near<<1|octetBit)
		}
		return out
	}
	for _, e := range m.elements(m.cluster(h)) {
		out = append(out, nearOf(e.id))
	}
	return out
}

// wholeOf is what a cluster's text and, with octetBit, its attachments weigh.
func (m *memory) wholeOf(h uint32) [2]float64 {
	if s := m.at(h); s.state == alone {
		return [2]float64{float64(s.whole[0]) / weightUnit, float64(s.whole[octetBit]) / weightUnit}
	}
	return m.cluster(h).weights()
}

// ceiling is what the score of a cluster and a message that share features of this weight is below: neither part that they
// share of the other can be greater than all of it (penalty). Of clusters with attachments nothing is said.
func (c *cluster) ceiling(sum float64, whole [2]float64, q *query) float64 {
	if whole[octetBit] > 0 {
		return sum
	}
	sum = 1.001*sum + 0.01 // sums are of single precision
	own, _ := q.own(c.tau)
	inCore, inMessage := min(1, sum/(whole[0]+1)), min(1, sum/(own+1))
	if c.copies < 3 {
		return sum * math.Sqrt(max(inCore, inMessage))
	}
	return sum * min(1, max(2*inCore*inCore, inMessage*inMessage))
}
