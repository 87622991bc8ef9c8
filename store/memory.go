package store

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"sync"
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
	evidence []float32 // by handle
	touched  []uint32
	handles  []uint32
	elements []element
	common   []holders
	found    []found
	glances  [maxVerified]glance
	matches  [maxVerified]match
	near     []uint32
	octets   []byte
}

// A query is a message as the memory sees it.
type query struct {
	t        *Trace
	features []queried              // by rank, at most maxQuery; behind them those of attachments
	text     int                    // how many features are not of attachments
	sums     []float64              // what the features before each weigh together; weighed has filled it in
	table    []uint16               // by the bits of a feature's id that a solo keeps: its place in features + 1; linear probing
	sieve    [sieveBits / 64]uint64 // a bit for what a solo would keep of each feature's id, modulo sieveBits
	sender   uint64
}

// sieveBits is how many bits tell quickly that a query has no such feature.
const sieveBits = 1 << 13

type queried struct {
	id     uint32
	static uint8   // weight by the shipped background, in sixteenths of a nat
	w      float32 // weight by that and by what is stored
	rank   float32 // its place in the order of sampling: features of weight w are drawn in proportion to w, and all messages
	draw   uint64  // draw the same ones (exponential ranks, Cohen 1997); draw is the number that the rank is made of
}

// maxQuery is how many features of a message are looked up.
const maxQuery = 256

// find returns the place of a feature.
func (q *query) find(id uint32) (int, bool) {
	mask := len(q.table) - 1
	for i := int(id>>nearBits) & mask; q.table[i] != 0; i = (i + 1) & mask {
		if at := int(q.table[i]) - 1; q.features[at].id == id {
			return at, true
		}
	}
	return 0, false
}

// near returns the feature of an id of which a solo keeps so much, and of text or attachments; nil where there is none.
func (q *query) near(id, of uint32) *queried {
	mask := len(q.table) - 1
	for i := int(id) & mask; q.table[i] != 0; i = (i + 1) & mask {
		if f := &q.features[q.table[i]-1]; f.id>>nearBits == id && f.id&octetBit == of {
			return f
		}
	}
	return nil
}

// tabulate makes find work.
func (q *query) tabulate() {
	size := 16
	for size < 2*len(q.features) {
		size *= 2
	}
	q.table = make([]uint16, size)
	for at, f := range q.features {
		near := f.id >> nearBits
		q.sieve[near%sieveBits/64] |= 1 << (near % 64)
		i := int(f.id>>nearBits) & (size - 1)
		for q.table[i] != 0 {
			i = (i + 1) & (size - 1)
		}
		q.table[i] = uint16(at + 1)
	}
}

// weighed makes sums, once the weights are known.
func (q *query) weighed() {
	if q.sums == nil {
		q.sums = make([]float64, len(q.features)+1)
	}
	for i, f := range q.features {
		q.sums[i+1] = q.sums[i] + float64(f.w)
	}
}

// sketch is what is kept of the message.
func (q *query) sketch() iter.Seq[queried] {
	return func(yield func(queried) bool) {
		for i, f := range q.features {
			if (i < sketchSize || i >= q.text) && !yield(f) {
				return
			}
		}
	}
}

// tau is the rank up to which the sketch has all features of the message.
func (q *query) tau() float32 {
	if q.text <= sketchSize {
		return math.MaxFloat32
	}
	return q.features[sketchSize-1].rank
}

// weightUnit is a nat in the unit that weights are stored in.
const weightUnit = 16

// query prepares a message. It reads only what never changes.
func (m *memory) query(t *Trace) *query {
	w := weighings.Get().(*weighing)
	defer w.keep()
	octets, weights := m.weigh(t, w)
	all, enough := w.all, math.Inf(1)
	if len(all) > 2*maxQuery {
		enough = spare * maxQuery / weights
	}
	order := w.ranks(enough)
	if len(order) < min(len(all), maxQuery) {
		order = w.ranks(math.Inf(1))
	}
	order = w.sorted(weights)
	n := min(len(order), maxQuery)
	q := &query{t: t, features: make([]queried, n, n+len(octets)), text: n}
	for i := range q.features {
		q.features[i] = all[uint32(order[i])]
		q.features[i].rank = math.Float32frombits(uint32(order[i] >> 32))
	}
	q.features = append(q.features, octets...)
	q.tabulate()
	q.weighed()
	return q
}

// spare is how many more features than are wanted are ranked: of features that weigh w together about w r have a rank
// below r.
const spare = 1.5

// A weighing is all features of a message that tell something, and the order of their ranks; a query keeps few of them.
type weighing struct {
	all   []queried
	order []uint64
	spare []uint64
}

// weighings are used again: one of a common message takes 100 KB.
var weighings = sync.Pool{New: func() any { return new(weighing) }}

// keep lets another message use it, but for what a huge one took.
func (w *weighing) keep() {
	if cap(w.all) <= 1<<14 {
		weighings.Put(w)
	}
}

// weigh puts down the features that tell something, without their ranks, and returns the sum of their weights; those of
// attachments apart, which all are kept. The lowest bit of an id says which they are.
func (m *memory) weigh(t *Trace, into *weighing) (octets []queried, weights float64) {
	all := slices.Grow(into.all[:0], len(t.features))
	for _, f := range t.features {
		if static := m.back.weight(f); static > 0 {
			keyed := mix(f.hash ^ m.key)
			x := queried{id: idOf(uint32(keyed)), draw: mix(keyed), static: uint8(static * weightUnit), w: float32(static)}
			if f.kind == attachment {
				x.id |= octetBit
				x.rank = math.MaxFloat32
				octets = append(octets, x)
				continue
			}
			all = append(all, x)
			weights += static
		}
	}
	into.all = all
	return octets, weights
}

// octetBit marks the id of a feature of an attachment.
const octetBit = 1

// idOf is the id that the lower half of a feature's keyed hash gives.
func idOf(keyed uint32) uint32 { return keyed >> (32 - idBits) &^ octetBit }

// ranks returns the ranks of at most enough, each with its place in all: ranks are positive, so their bits are in their
// order.
func (w *weighing) ranks(enough float64) []uint64 {
	order := slices.Grow(w.order[:0], len(w.all))
	for i := range w.all {
		f := &w.all[i]
		u, weight := uniform(f.draw), float64(f.w)
		if 1-u > enough*weight {
			continue // since -log u >= 1-u
		}
		if r := -math.Log(u) / weight; r <= enough {
			order = append(order, uint64(math.Float32bits(float32(r)))<<32|uint64(i))
		}
	}
	w.order = order
	return order
}

// rankBuckets is how many parts ranks are sorted into.
const rankBuckets = 512

// sorted returns the ranks in their order. Of features that weigh so much together the first ranks lie evenly, one in
// 1/weights.
func (w *weighing) sorted(weights float64) []uint64 {
	scale := float32(weights * rankBuckets / (spare * maxQuery))
	w.order, w.spare = sortSpread(w.order, w.spare, rankBuckets, func(x uint64) int {
		return int(min(rankBuckets-1, math.Float32frombits(uint32(x>>32))*scale))
	})
	return w.order
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
func (m *memory) matches(q *query) []match {
	s := &m.scratch
	if n := len(m.slab) * slabSize; len(s.evidence) < n {
		s.evidence = append(s.evidence, make([]float32, n-len(s.evidence))...)
	}
	s.touched, s.common = s.touched[:0], s.common[:0]
	work := 0
	m.post.findAll(q, &s.found)
	for i := range q.features {
		f := &q.features[i]
		ref, n := s.found[i].ref, s.found[i].n
		static := float32(f.static) / weightUnit
		switch {
		case ref == noCluster: // nobody
			f.w = static
		case n == 1:
			f.w = static
			s.add(ref, f.w)
		case n <= rareHolders:
			f.w = m.weight(n, static)
			work += n
			s.addAll(&m.post.lists, ref, f.w)
		default:
			f.w = m.weight(n, static)
			s.common = append(s.common, holders{ref, n, f.w})
		}
	}
	slices.SortFunc(s.common, func(a, b holders) int { return a.n - b.n })
	for _, c := range s.common {
		if work += c.n; work > maxWork {
			break
		}
		s.addAll(&m.post.lists, c.list, c.w)
	}
	q.weighed()
	out := m.verify(q)
	for _, h := range s.touched {
		s.evidence[h] = 0
	}
	return out
}

// Holders of features are visited rarest first, until there were maxWork: a feature that very many hold tells little about
// which of them to look at, and whoever makes up mail of such features makes no work. What is looked at is then measured
// by all features.
const (
	rareHolders = 16
	maxWork     = 2048
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

func (s *scratch) add(h uint32, w float32) {
	if s.evidence[h] == 0 {
		s.touched = append(s.touched, h)
	}
	s.evidence[h] += w
}

// foremost moves the n touched clusters of most evidence to the front and returns them, in no order.
func (s *scratch) foremost(n int) []uint32 {
	if len(s.touched) <= n {
		return s.touched
	}
	front, worst := s.touched[:n], s.worst(n)
	for i, h := range s.touched[n:] {
		if s.evidence[h] > s.evidence[front[worst]] {
			front[worst], s.touched[n+i] = h, front[worst]
			worst = s.worst(n)
		}
	}
	return front
}

// worst is the place of the least evidence among the first n touched clusters.
func (s *scratch) worst(n int) int {
	worst := 0
	for i, h := range s.touched[:n] {
		if s.evidence[h] < s.evidence[s.touched[worst]] {
			worst = i
		}
	}
	return worst
}

// maxVerified is how many candidates are measured in full.
const maxVerified = 12

// verify measures the candidates. What it returns is good until the next call.
func (m *memory) verify(q *query) []match {
	s := &m.scratch
	out := s.matches[:0]
	for i, h := range s.foremost(maxVerified) {
		if x := m.measureIn(q, h, &s.glances[i]); x.score > 0 {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, func(a, b match) int { return cmp.Compare(b.score, a.score) })
	return out
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
	in, out := c.absorb(q)
	for _, id := range in {
		m.post.add(id, h)
	}
	for _, id := range out {
		m.post.remove(id, h)
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
		for _, id := range text {
			m.post.removeNear(id<<nearBits, h, nearBits)
		}
		for _, id := range octets {
			m.post.removeNear(id<<nearBits, h, nearBits)
		}
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
