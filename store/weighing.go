package store

import (
	"math"
	"slices"
	"sync"
)

// A weighing is the features of a message that tell something and have a low rank. Most features of a long text have not,
// which is seen before they are looked up in the background.
type weighing struct {
	all     []queried // of the text
	octets  []queried // of attachments, which have no rank: all are taken
	order   []uint64  // ranks and places in all
	weights float64   // of the features that were looked up
	can     float64   // what those can weigh
	enough  float64   // the rank up to which none is missing
	spare   []uint64

	drawing
	touched uint64
}

// weighings are used again: one of a common message takes 50 KB.
var weighings = sync.Pool{New: func() any { return new(weighing) }}

// keep lets another message use it, but for what a huge one took.
func (w *weighing) keep() {
	if cap(w.all) <= 1<<14 {
		weighings.Put(w)
	}
}

// likely takes up the features of lowest rank, as many as a query has. How much all features weigh, and so up to which rank
// there are so many, is guessed; where the guess was wrong, all are taken up.
func (w *weighing) likely(m *memory, t *Trace) {
	if w.weigh(m, t, weightPart); len(w.order) < maxQuery && !math.IsInf(w.enough, 1) {
		w.weigh(m, t, 0)
	}
}

// Guesses before the features of a text are looked up.
const (
	weightPart  = 0.6          // of what they can weigh together they do at least
	tellingPart = 0.75         // of them tell something at least
	probed      = maxQuery     // so many that were looked up say better what all weigh
	spare       = maxQuery / 4 // so many more than are wanted are taken up
)

// enoughOf is a rank up to which n features that weigh so much together are likely to have as many as a query takes: of
// ranks that are drawn by weights of w, n (1 - exp(-w r)) are below r.
func enoughOf(n, weight float64) float64 {
	if n *= tellingPart; n > maxQuery+spare {
		return -n / weight * math.Log1p(-(maxQuery+spare)/n)
	}
	return math.Inf(1)
}

// most is how many features of the text there are, and what they can weigh.
func (t *Trace) most() (n, weight float64) {
	var of [kinds]int // by kind; a sum of weights would wait for each addition
	for _, f := range t.features {
		of[f.kind%kinds]++
	}
	for kind, count := range of[:attachment] {
		n += float64(count)
		weight += float64(count) * caps[kind]
	}
	return n, weight
}

// weigh takes up the features that tell something and may have one of the lowest ranks, where the text weighs part of what it
// can, 0 for all.
func (w *weighing) weigh(m *memory, t *Trace, part float64) {
	w.all, w.octets, w.order = slices.Grow(w.all[:0], len(t.features)), w.octets[:0], slices.Grow(w.order[:0], len(t.features))
	w.weights, w.can = 0, 0
	n, most := t.most()
	w.enough = enoughOf(n, part*most)
	scale := (places<<32 + uint64(len(t.features)) - 1) / max(1, uint64(len(t.features))) // upwards, so that the shift gives what division would
	for from := 0; from < len(t.features); from += probed {
		if from == probed && part > 0 && w.can > 0 {
			w.enough = min(w.enough, enoughOf(n, w.weights/w.can*most))
			w.order = slices.DeleteFunc(w.order, func(x uint64) bool { return x>>32 > w.highest() })
		}
		features := t.features[from:min(from+probed, len(t.features))]
		w.draw(m.key, features)
		w.look(m.back, features)
		w.rank(m.back, features, from, scale)
	}
}

// A drawing is features that may have a low rank by their draw, whatever they weigh: n of some that are looked at together.
type drawing struct {
	n     uint
	at    [probed]uint8  // places of the features
	keyed [probed]uint64 // hashes
	steps [probed]uint16 // by place: how common they are
	known [probed]uint8  // places of those that the background may know
}

// draw draws the ranks of features. There is no branch in the loop: which of them stay, no processor can foresee.
func (w *weighing) draw(key uint64, features []feature) {
	var least [len(caps)]uint64
	for kind := range least[:attachment] {
		least[kind] = leastDraw(w.enough * caps[kind])
	}
	n := uint(0)
	for i, f := range features {
		keyed := mix(f.hash ^ key)
		w.keyed[n%probed], w.at[n%probed] = keyed, uint8(i)
		if mix(keyed) >= least[f.kind%kinds] {
			n++
		}
	}
	w.n = n
}

// leastDraw is the least draw that may give a rank up to bound for a feature of weight 1: since -log u >= 1-u, those below have
// higher ones.
func leastDraw(bound float64) uint64 {
	if bound >= 1 {
		return 0
	}
	return (1<<53 - 1 - uint64(bound*(1<<53))) << 11 // see uniform
}

// look looks up those that were drawn in the background. It first asks for all that it will read, so that the processor waits for
// that at one time.
func (w *weighing) look(b *background, features []feature) {
	n := uint(0)
	for _, at := range w.at[:w.n] {
		w.known[n%probed] = at
		if b.mayKnow(features[at].id()) {
			n++
		}
	}
	touched := uint64(0)
	for _, at := range w.known[:n] {
		touched |= b.counts.slots[b.counts.home(features[at].id())]
	}
	w.touched = touched
	w.steps = [probed]uint16{}
	for _, at := range w.known[:n] {
		w.steps[at] = uint16(b.counts.count(features[at].id()))
	}
}

// rank takes up those that were drawn and that tell something, but for those that then have too high a rank.
// The first of the features is number from of all, which scale brings to places.
func (w *weighing) rank(b *background, features []feature, from int, scale uint64) {
	highest, n := w.highest(), len(w.order)
	all, order := w.all, w.order[:n+int(w.n)]
	weights, can := w.weights, w.can // sums in memory would take as long as the logarithms
	for i, at := range w.at[:w.n] {
		kind, keyed := features[at].kind, w.keyed[i]
		if kind == attachment {
			w.octet(keyed)
			continue
		}
		can += caps[kind]
		static := b.rated(kind, int(w.steps[at]))
		if static <= 0 {
			continue
		}
		weights += static
		weight, draw := float32(static), mix(keyed)
		rank := float32(-logarithm(uniform(draw)) / float64(weight))
		bits := uint64(math.Float32bits(rank))
		order[n] = bits<<32 | uint64(len(all))
		if bits <= highest {
			n++
		}
		place := uint8(uint64(from+int(at))*scale>>32) | features[at].mark
		if kind == single {
			place |= oneWord
		}
		all = append(all, queried{idOf(uint32(keyed)), uint8(static * weightUnit), place, weight, rank, draw})
	}
	w.all, w.order, w.weights, w.can = all, order[:n], weights, can
}

// highest is the rank up to which none is missing, as ranks are ordered.
func (w *weighing) highest() uint64 { return uint64(math.Float32bits(float32(w.enough))) }

// octet takes up a feature of an attachment. The lowest bit of an id says that it is one.
func (w *weighing) octet(keyed uint64) {
	weight := caps[attachment]
	w.octets = append(w.octets, queried{
		idOf(uint32(keyed)) | octetBit, uint8(weight * weightUnit), 0, float32(weight), math.MaxFloat32, mix(keyed),
	})
}

// sorted returns the ranks, each with its place in all, in their order: ranks are positive, so their bits are in their order.
// They lie evenly up to a bound, beyond which there are few.
func (w *weighing) sorted() []uint64 {
	scale := float32(max(rankBuckets/w.enough, rankBuckets/(maxQuery+spare)*w.weights))
	w.order, w.spare = sortRanks(w.order, w.spare, scale)
	return w.order
}
