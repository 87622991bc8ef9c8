package store

import (
	"math"
	"slices"
)

// Settle holds at most limit of the clusters that other nodes told of, and that were not looked at yet, against all others:
// nodes that see a campaign's first copies at the same instant each make a cluster of it. Two that are the same are
// connected, on all nodes. It returns how many are left.
func (p *Share) Settle(limit int) (left int) {
	for range limit {
		p.s.mu.Lock()
		if len(p.x.fresh) == 0 {
			p.s.mu.Unlock()
			return 0
		}
		seq := p.s.now(p.x.fresh[0])
		p.x.fresh = p.x.fresh[1:]
		left = len(p.x.fresh)
		if h, ok := p.s.memory.handle(seq); ok {
			p.s.settle(h)
		}
		p.s.mu.Unlock()
	}
	return left
}

// settleAgain is how many of the numbers that clusters have here are looked through for those that Settle has to hold against
// the others once more, after a start: half a second's work at low priority.
const settleAgain = 1 << 13

// settleLatest leaves to Settle the foreign clusters that were heard of last: a store that was closed, or killed, may not have
// come to them, and to hold one against the others twice does nothing.
func (s *Store) settleLatest() {
	x, last := s.shared, uint64(0)
	for seq := range x.born {
		last = max(last, seq)
	}
	for seq := range x.born {
		if seq+settleAgain <= last {
			continue
		}
		if _, lives := s.memory.handle(seq); lives {
			s.unsettled(seq)
		}
	}
	slices.Sort(x.fresh)
}

// settle connects a cluster with the one that it is the same as, if there is one.
func (s *Store) settle(h uint32) {
	c := s.full(h)
	if all := s.memory.matchesBut(s.memory.queryOf(c), h); len(all) > 0 && s.same(c, &all[0]) {
		s.connect(c.seq, all[0].c.seq, true)
	}
}

// same says whether a cluster and the best match of what its members have in common are one. A single message joins as
// it would have joined here. Of two campaigns it takes what merges campaigns here, or that each has nearly all of the other.
func (s *Store) same(c *cluster, m *match) bool {
	switch {
	case m.score < joinScore:
		return false
	case c.housed(m.c) && min(m.inCore, m.inMessage) < sameHouse:
		return false
	case c.copies == 1:
		return m.c.copies < maxGrowth || m.inMessage >= wellKnown
	case m.c.copies == 1:
		return c.copies < maxGrowth || m.inCore >= wellKnown
	}
	return m.score >= mergeScore || m.inCore >= nearlyAll && m.inMessage >= nearlyAll
}

// housed says whether one house has at least half of the copies of each of two clusters.
func (c *cluster) housed(other *cluster) bool {
	return slices.ContainsFunc(c.senders.seen, func(t tallied) bool { return c.ofHouse(t.key) && other.ofHouse(t.key) })
}

// sameHouse is the share of either that two clusters of one house must have in common: where in a text the words of its own stand,
// of which letterhead would tell letters above one notice, is not kept.
const sameHouse = 0.9

// nearlyAll is the share of two campaigns' texts that both have, from which they are one however short they are.
const nearlyAll = 0.8

// queryOf is a cluster as if it were a message of what its members have in common. Ranks are not kept of a cluster: of
// features that weigh w together about w r have a rank below r, and they are in the order of their ranks as far as its
// first member had them.
func (m *memory) queryOf(c *cluster) *query {
	es := m.elements(c)
	q := &query{features: make([]queried, 0, len(es))}
	var files []queried
	weight := float32(0)
	for _, e := range es {
		if c.inCore(e) == 0 {
			continue
		}
		f := queried{id: e.id, static: e.w, w: float32(e.w) / weightUnit}
		if e.id&octetBit != 0 {
			f.rank = math.MaxFloat32
			files = append(files, f)
			continue
		}
		weight += f.w
		q.features = append(q.features, f)
	}
	q.text = len(q.features)
	for i := range q.features {
		q.features[i].rank = float32(i+1) / weight
		if c.tau < math.MaxFloat32 {
			q.features[i].rank = c.tau * float32(i+1) / float32(q.text)
		}
	}
	q.features = append(q.features, files...)
	q.tabulate()
	if len(c.senders.seen) == 1 {
		q.sender = c.senders.seen[0].key
	}
	return q
}
