package store

import (
	"iter"
	"math"
	"slices"
	"sync"
)

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
	enough := enoughOf(t)
	octets, weights := m.weigh(t, w, enough)
	order := w.ranks(enough)
	if len(order) < maxQuery && !math.IsInf(enough, 1) {
		enough = math.Inf(1)
		octets, weights = m.weigh(t, w, enough)
		w.ranks(enough)
	}
	order, all := w.sorted(min(enough, spare*maxQuery/weights)), w.all
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
// below r. What they weigh is not known before they are looked up in the background; of what they can weigh it is at least
// usualPart in most mail.
const (
	spare     = 1.5
	usualPart = 0.6
)

// enoughOf is the rank up to which there are likely to be as many features as a query has.
func enoughOf(t *Trace) float64 {
	if len(t.features) <= 2*maxQuery {
		return math.Inf(1)
	}
	most := 0.0
	for _, f := range t.features {
		most += caps[f.kind]
	}
	return spare * maxQuery / (usualPart * most)
}

// A weighing is the features of a message that tell something and may have a low rank, and the order of their ranks.
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

// weigh puts down the features that tell something and may have a rank of at most enough, without their ranks, and returns
// the sum of their weights; those of attachments apart, which all are kept. The lowest bit of an id says which they are.
func (m *memory) weigh(t *Trace, into *weighing, enough float64) (octets []queried, weights float64) {
	all := slices.Grow(into.all[:0], len(t.features))
	for _, f := range t.features {
		keyed := mix(f.hash ^ m.key)
		x := queried{id: idOf(uint32(keyed)), draw: mix(keyed)}
		if f.kind != attachment && beyond(uniform(x.draw), enough*caps[f.kind]) {
			continue
		}
		static := m.back.weight(f)
		if static <= 0 {
			continue
		}
		x.static, x.w = uint8(static*weightUnit), float32(static)
		if f.kind == attachment {
			x.id |= octetBit
			x.rank = math.MaxFloat32
			octets = append(octets, x)
			continue
		}
		all = append(all, x)
		weights += static
	}
	into.all = all
	return octets, weights
}

// octetBit marks the id of a feature of an attachment.
const octetBit = 1

// idMask are the bits of an id; what comes from elsewhere may have others.
const idMask = 1<<idBits - 1

// idOf is the id that the lower half of a feature's keyed hash gives.
func idOf(keyed uint32) uint32 { return keyed >> (32 - idBits) &^ octetBit }

// beyond says, for some u where it is so, that -log u is above a bound, without the logarithm.
func beyond(u, bound float64) bool { return 1-u > bound } // since -log u >= 1-u

// ranks returns the ranks of at most enough, each with its place in all: ranks are positive, so their bits are in their
// order.
func (w *weighing) ranks(enough float64) []uint64 {
	order := slices.Grow(w.order[:0], len(w.all))
	for i := range w.all {
		f := &w.all[i]
		u, weight := uniform(f.draw), float64(f.w)
		if beyond(u, enough*weight) {
			continue
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

// sorted returns the ranks in their order. They lie evenly up to a bound, beyond which there are few.
func (w *weighing) sorted(bound float64) []uint64 {
	scale := float32(rankBuckets / bound)
	w.order, w.spare = sortSpread(w.order, w.spare, rankBuckets, func(x uint64) int {
		return int(min(rankBuckets-1, math.Float32frombits(uint32(x>>32))*scale))
	})
	return w.order
}
