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
	enough  float64   // the rank up to which none is missing
	spare   []uint64
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
	for _, f := range t.features {
		if f.kind != attachment {
			n++
			weight += caps[f.kind]
		}
	}
	return n, weight
}

// weigh takes up the features that tell something and may have one of the lowest ranks, where the text weighs part of what it
// can, 0 for all.
func (w *weighing) weigh(m *memory, t *Trace, part float64) {
	*w = weighing{all: slices.Grow(w.all[:0], len(t.features)), octets: w.octets[:0], order: w.order[:0], spare: w.spare}
	n, most := t.most()
	enough := enoughOf(n, part*most)
	can := 0.0 // what those that were looked up can weigh
	for i, f := range t.features {
		if i == probed && part > 0 && can > 0 {
			enough = min(enough, enoughOf(n, w.weights/can*most))
		}
		keyed := mix(f.hash ^ m.key)
		draw := mix(keyed)
		if f.kind == attachment {
			w.octet(keyed, draw)
			continue
		}
		u := uniform(draw)
		if beyond(u, enough*caps[f.kind]) {
			continue
		}
		can += caps[f.kind]
		static := m.back.weight(f)
		if static <= 0 {
			continue
		}
		weight := float32(static)
		w.weights += static
		if beyond(u, enough*float64(weight)) {
			continue
		}
		rank := float32(-logarithm(u) / float64(weight))
		w.order = append(w.order, uint64(math.Float32bits(rank))<<32|uint64(len(w.all)))
		w.all = append(w.all, queried{idOf(uint32(keyed)), uint8(static * weightUnit), weight, rank, draw})
	}
	w.enough = enough
	highest := uint64(math.Float32bits(float32(enough)))
	w.order = slices.DeleteFunc(w.order, func(x uint64) bool { return x>>32 > highest }) // from before the better guess
}

// octet takes up a feature of an attachment. The lowest bit of an id says that it is one.
func (w *weighing) octet(keyed, draw uint64) {
	weight := caps[attachment]
	w.octets = append(w.octets, queried{
		idOf(uint32(keyed)) | octetBit, uint8(weight * weightUnit), float32(weight), math.MaxFloat32, draw,
	})
}

// beyond says, for some u where it is so, that -log u is above a bound, without the logarithm.
func beyond(u, bound float64) bool { return 1-u > bound } // since -log u >= 1-u

// rankBuckets is how many parts ranks are sorted into.
const rankBuckets = 512

// sorted returns the ranks, each with its place in all, in their order: ranks are positive, so their bits are in their order.
// They lie evenly up to a bound, beyond which there are few.
func (w *weighing) sorted() []uint64 {
	scale := float32(max(rankBuckets/w.enough, rankBuckets/(maxQuery+spare)*w.weights))
	w.order, w.spare = sortSpread(w.order, w.spare, rankBuckets, func(x uint64) int {
		return int(min(rankBuckets-1, math.Float32frombits(uint32(x>>32))*scale))
	})
	return w.order
}
