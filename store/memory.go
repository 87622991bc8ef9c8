package store

import (
	"cmp"
	"math"
	"slices"
)

// A memory is the index of all live clusters. It is not safe for concurrent use.
type memory struct {
	key     uint64
	back    *background
	slab    []*[slabSize]solo // by handle
	top     uint32            // the first handle that was never used
	free    []uint32          // handles
	grown   []*cluster        // nil is free
	vacated []uint32          // places of grown
	ids     arena             // of solos
	handles handles
	live    int
	many    int // clusters of manyCopies or more
	post    postings
	scratch scratch
}

type scratch struct {
	candidates
	front    [maxVerified]candidate
	handles  []uint32
	elements []element
	common   []holders
	leads    []uint16 // places of features in a query
	noted    []lead   // of one cluster
	found    []found  // for each of leads
	glances  [maxVerified]glance
	matches  [maxVerified]match
	near     []uint32
	octets   []byte
}

// weight lowers a feature's weight where the stored clusters show that it is more common than the background says. The
// first few clusters that hold it say nothing yet: they may be copies of this very message that did not find together.
func (m *memory) weight(holders int, static float32) float32 {
	n := holders - fewHolders
	if n < 1 {
		return static
	}
	live := -math.Log(float64(n)/float64(m.live+liveFloor)) - liveCut
	return max(0, min(static, float32(live)))
}

const (
	fewHolders = 8
	liveFloor  = 50  // clusters before which commonness is not believed in full
	liveCut    = 0.5 // nats
	chanceCut  = 1.5 // nats that a feature's rarity in the background is lowered by: topics bring words together
)

// A match is a cluster that resembles a message.
type match struct {
	handle uint32
	c      *cluster
	containment
}

// matches returns the clusters that resemble the message, best first.
func (m *memory) matches(q *query) []match { return m.matchesBut(q, noCluster) }

// matchesBut is matches without one cluster, by its handle: the one that the query was made of would be the best of all, and let
// as many others be measured as if one of them were.
func (m *memory) matchesBut(q *query, but uint32) []match {
	s := &m.scratch
	s.clear()
	s.common = s.common[:0]
	work := 0
	least := m.weight(indexLimit, math.MaxFloat32) // no number of holders makes a weight less than that
	leading, most := m.reach()
	s.leads = q.leads(s.leads[:0], leading, least)
	m.post.findAll(q, s.leads, &s.found)
	for i, at := range s.leads {
		f := &q.features[at]
		ref, n := s.found[i].ref, s.found[i].n
		if n > 1 && f.w > least {
			f.w = m.weight(n, f.w)
		}
		switch {
		case ref == noCluster: // nobody
		case n == 1:
			s.add(ref, f.w)
		case n <= rareHolders:
			work += n
			s.addAll(&m.post.lists, ref, f.w)
		default:
			s.common = append(s.common, holders{ref, n, f.w})
		}
	}
	for _, c := range afford(s.common, most-work) {
		s.addAll(&m.post.lists, c.list, c.w)
	}
	q.weighed()
	return m.verify(q, but)
}

// afford returns the lists that are counted: those of the fewest clusters, of equals the weightier, up to so many clusters in all.
func afford(lists []holders, most int) []holders {
	slices.SortFunc(lists, func(a, b holders) int {
		if a.n != b.n {
			return a.n - b.n
		}
		return cmp.Compare(b.w, a.w)
	})
	for i, l := range lists {
		if most -= l.n; most < 0 {
			return lists[:i]
		}
	}
	return lists
}

// leads gives all features the weight that they have in the background, and appends the places of those that are looked up among
// what is stored: all of attachments, the first leading ones of the text, and of the others those that weigh more than least. It
// takes the memory to say how much less these weigh; the rest weighs no less, however many hold it. In a large memory, where no
// more than indexLimit holders are noted, none weighs more than least.
func (q *query) leads(to []uint16, leading int, least float32) []uint16 {
	for i := range q.features {
		f := &q.features[i]
		f.w = float32(f.static) / weightUnit
		if i < leading || i >= q.text || f.w > least {
			to = append(to, uint16(i))
		}
	}
	return to
}

// reach is of how many features of a message's text the holders are visited however large the memory is, and how many holders: as
// many features as lead to an earlier message, since to one of half the weight half as many lead, and one that has less than minPart
// of it has no say. In a memory of millions most features are held by so many that they lead to the latest alone, and more have to.
func (m *memory) reach() (leading, work int) {
	by := max(1, float64(m.live)/manyLive)
	return int(min(posted*by, sketchSize)), int(min(minWork*by, maxWork))
}

// manyLive is how many clusters are many.
const manyLive = 1_000_000

// Holders of features are visited rarest first, until there were as many as reach allows, minWork to maxWork: a feature that very
// many hold tells little about which of them to look at, and whoever makes up mail of such features makes no work. What is looked at
// is then measured by all features.
const (
	rareHolders = 16
	minWork     = 512
	maxWork     = 4096
)

// holders are the clusters that hold a common feature, n of them, and its weight.
type holders struct {
	list uint32
	n    int
	w    float32
}

func (s *scratch) addAll(l *lists, at uint32, w float32) {
	if w > 0 {
		s.handles = l.appendTo(s.handles[:0], at)
		for _, h := range s.handles {
			s.add(h, w)
		}
	}
}

// Of the candidates, those of most evidence are measured in full: a few, and up to maxVerified while they have the evidence of
// a copy, or where one of the few resembles the message.
const (
	fewVerified = 4
	maxVerified = 12
	faint       = joinScore / 2.0 // nats
)

// verify measures the candidates. What it returns is good until the next call.
func (m *memory) verify(q *query, but uint32) []match {
	s := &m.scratch
	out, best := s.matches[:0], 0.0
	front := s.foremost(s.front[:0], maxVerified, but)
	m.touch(front[:min(fewVerified, len(front))])
	for i, c := range front {
		if i >= fewVerified && best < faint && c.evidence < joinScore {
			break
		}
		if x := m.measureIn(q, c.handle(), &s.glances[i]); x.score > 0 {
			out, best = append(out, x), max(best, x.score)
		}
	}
	slices.SortFunc(out, func(a, b match) int { return cmp.Compare(b.score, a.score) })
	return out
}

// touch asks for what measuring the candidates reads, so that the processor waits for all of it at a time.
func (m *memory) touch(front []candidate) {
	touched := byte(0)
	for _, c := range front {
		touched |= byte(m.at(c.handle()).state)
	}
	for _, c := range front {
		if s := m.at(c.handle()); s.state == alone {
			touched |= m.ids.at(s.place)[0]
		}
	}
	m.post.touched = touched
}

// begin makes c the cluster of one message.
func (m *memory) begin(c *cluster, q *query) {
	es := m.scratch.elements[:0]
	for f := range q.sketch() {
		es = append(es, element{f.id, 1, 1, f.static})
	}
	m.scratch.elements = es
	c.put(es)
	c.tau, c.copies = q.tau(), 1
}

// place gives a cluster a handle and indexes its features.
func (m *memory) place(c *cluster) uint32 {
	h := m.vacancy()
	s := m.at(h)
	m.live++
	es := m.elements(c)
	m.note(h, es, true)
	if c.alone() {
		*s = solo{
			seq: c.seq, nilsimsa: c.nilsimsa, simhash: c.simhash, last: seconds(c.last), tau: c.tau,
			sender: c.senders.first(), nets: c.nets.few(), rcpts: c.rcpts.few(), state: alone,
		}
		m.keep(s, es)
	} else {
		m.note(h, es, false)
		m.raise(s, c)
		if c.copies >= manyCopies {
			m.many++
		}
	}
	m.register(h)
	return h
}

// seconds is a Unix time as solos have it.
func seconds(unix int64) uint32 { return uint32(max(0, min(unix, math.MaxUint32))) }

// vacancy returns a handle that stands for nothing.
func (m *memory) vacancy() uint32 {
	if n := len(m.free); n > 0 {
		h := m.free[n-1]
		m.free = m.free[:n-1]
		return h
	}
	if int(m.top) == len(m.slab)*slabSize {
		m.slab = append(m.slab, new([slabSize]solo))
	}
	m.top++
	return m.top - 1
}

// elements are those of a cluster, good until the next call.
func (m *memory) elements(c *cluster) []element {
	m.scratch.elements = c.elements.appendTo(m.scratch.elements[:0])
	return m.scratch.elements
}

// join counts the message into a cluster, which has grown.
func (m *memory) join(h uint32, q *query) {
	c := m.cluster(h)
	m.setCopies(c, c.copies+1)
	m.renew(h, c, q)
	in, out := c.absorb(q)
	for _, id := range in {
		m.post.add(id, h)
	}
	for _, id := range out {
		m.post.remove(id, h)
	}
}

// renew keeps a cluster among the holders of what it has in common with the message.
func (m *memory) renew(h uint32, c *cluster, q *query) {
	s := &m.scratch
	s.leads = s.leads[:0]
	for _, e := range m.elements(c) {
		if at, ok := q.find(e.id); ok {
			s.leads = append(s.leads, uint16(at))
		}
	}
	m.post.findAll(q, s.leads, &s.found)
	for i, at := range s.leads {
		if s.found[i].n > indexLimit/2 {
			m.post.renew(q.features[at].id, h)
		}
	}
}

// setCopies keeps the number of large clusters.
func (m *memory) setCopies(c *cluster, n uint32) {
	if c.copies >= manyCopies {
		m.many--
	}
	if n >= manyCopies {
		m.many++
	}
	c.copies = n
}

// drop forgets a cluster.
func (m *memory) drop(h uint32) {
	s := m.at(h)
	if s.state == alone {
		text, octets := m.idsOf(s)
		m.post.removeAllNear(text, h, nearBits)
		m.post.removeAllNear(octets, h, nearBits)
		m.release(s)
	} else {
		c := m.grown[s.place]
		m.setCopies(c, 0)
		for _, e := range m.elements(c) {
			m.post.remove(e.id, h)
		}
		m.grown[s.place] = nil
		m.vacated = append(m.vacated, s.place)
	}
	m.unregister(s.seq)
	*s = solo{}
	m.free = append(m.free, h)
	m.live--
}

// merge moves what b holds into a; b is dropped. Both have grown.
func (m *memory) merge(a, b uint32) {
	ca, cb := m.cluster(a), m.cluster(b)
	es := ca.elements.unpack()
	at := make(map[uint32]int, len(es))
	for i, e := range es {
		at[e.id] = i
		es[i].since = uint8(min(255, int(e.since)+int(min(cb.copies, 200))))
	}
	var in []uint32
	for _, e := range m.elements(cb) {
		if i, ok := at[e.id]; ok {
			x := &es[i]
			x.count = uint8(min(int(x.since), int(x.count)+int(e.count)))
		} else if ca.copies < maxGrowth || e.count > 1 {
			es = append(es, e)
			in = append(in, e.id)
		}
	}
	ca.tau = min(ca.tau, cb.tau)
	for _, id := range in {
		m.post.add(id, a)
	}
	es, out := shrink(es)
	for _, id := range out {
		m.post.remove(id, a)
	}
	ca.put(es)
	m.setCopies(ca, ca.copies+cb.copies)
	ca.senders.merge(&cb.senders)
	ca.nets.merge(&cb.nets)
	ca.rcpts.merge(&cb.rcpts)
	last := max(ca.last, cb.last)
	ca.heat, ca.first, ca.last = ca.heatAt(last)+cb.heatAt(last), min(ca.first, cb.first), last
	if ca.label == None {
		ca.label = cb.label
	}
	if ca.name == nil {
		ca.name = cb.name
	}
	m.drop(b)
}
