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
	sums     []float64              // what the features before each weigh together; see weighed
	table    []uint16               // by the bits of a feature's id that a solo keeps: its place in features + 1; linear probing
	sieve    [sieveBits / 64]uint64 // a bit for what a solo would keep of each feature's id, modulo sieveBits
	sender   uint64
}

// sieveBits is how many bits tell quickly that a query has no such feature.
const sieveBits = 1 << 13

type queried struct {
	id     uint32
	static uint8   // weight by the shipped background, in sixteenths of a nat
	place  uint8   // where in the text it came first, in parts of places, and oneWord
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

// near returns the place of a feature of an id of which a solo keeps so much, and of text or attachments.
func (q *query) near(id, of uint32) (int, bool) {
	mask := len(q.table) - 1
	for i := int(id) & mask; q.table[i] != 0; i = (i + 1) & mask {
		at := int(q.table[i]) - 1
		if f := &q.features[at]; f.id>>nearBits == id && f.id&octetBit == of {
			return at, true
		}
	}
	return 0, false
}

// tabulate makes find work.
func (q *query) tabulate() {
	size := 16
	for size < 4*len(q.features) {
		size *= 2
	}
	q.table = slices.Grow(q.table[:0], size)[:size]
	clear(q.table)
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

// weighed makes sums, of the weights as they are now.
func (q *query) weighed() {
	q.sums = append(slices.Grow(q.sums[:0], len(q.features)+1), 0)[:len(q.features)+1]
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

// queries are those of messages that are judged: one takes 10 KB.
var queries = sync.Pool{New: func() any { return new(query) }}

// release lets another message use it.
func (q *query) release() {
	q.t = nil
	queries.Put(q)
}

// query prepares a message. It reads only what never changes.
func (m *memory) query(t *Trace) *query {
	w := weighings.Get().(*weighing)
	defer w.keep()
	w.likely(m, t)
	order := w.sorted()
	n := min(len(order), maxQuery)
	q := queries.Get().(*query)
	*q = query{t: t, features: slices.Grow(q.features[:0], n+len(w.octets)), text: n, sums: q.sums[:0], table: q.table}
	for _, at := range order[:n] {
		q.features = append(q.features, w.all[uint32(at)])
	}
	q.features = append(q.features, w.octets...)
	q.tabulate()
	return q
}

// octetBit marks the id of a feature of an attachment.
const octetBit = 1

// idMask are the bits of an id; what comes from elsewhere may have others.
const idMask = 1<<idBits - 1

// idOf is the id that the lower half of a feature's keyed hash gives.
func idOf(keyed uint32) uint32 { return keyed >> (32 - idBits) &^ octetBit }
