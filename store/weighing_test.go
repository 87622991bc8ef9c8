package store

import (
	"cmp"
	"math"
	"slices"
	"testing"
)

// ofLowestRank are the features of lowest rank, by the definition: all are looked up, ranked and sorted.
func ofLowestRank(m *memory, t *Trace) (out []queried) {
	for i, f := range t.features {
		static := m.back.weight(f)
		if static <= 0 || f.kind == attachment {
			continue
		}
		keyed := mix(f.hash ^ m.key)
		rank := -logarithm(uniform(mix(keyed))) / float64(float32(static))
		place := uint8(i * places / len(t.features))
		if f.kind == single {
			place |= oneWord
		}
		out = append(out, queried{
			idOf(uint32(keyed)), uint8(static * weightUnit), place, float32(static), float32(rank), mix(keyed),
		})
	}
	slices.SortFunc(out, func(a, b queried) int { return cmp.Compare(a.rank, b.rank) })
	return out[:min(maxQuery, len(out))]
}

// common are n features that the background knows as too common to tell anything: its part of their hashes is the same.
func common(b *background, n uint64) (out []feature) {
	for _, slot := range b.counts.slots {
		if f := (feature{hash: slot &^ math.MaxUint32, kind: single}); b.weight(f) <= 0 {
			for i := range n {
				out = append(out, feature{hash: f.hash | i, kind: single})
			}
			break
		}
	}
	return out
}

// TestQueryHasLowestRanks: what is guessed of a message's weight changes nothing of which features it is looked up by, for
// short and long texts, and where its beginning misleads.
func TestQueryHasLowestRanks(t *testing.T) {
	m := &scratchStore(t).memory
	w := newWriter(5)
	var traces []*Trace
	for _, words := range []int{0, 1, 12, 40, 60, 70, 80, 90, 100, 120, 150, 200, 400, 1500, 6000} {
		traces = append(traces, traceOf(w.text(words)))
	}
	usual := len(traces)
	rare, plain := traceOf(w.text(85)).features, common(m.back, 1000)
	if len(rare) < probed+20 || len(plain) != 1000 {
		t.Fatalf("%d features tell something, %d do not", len(rare), len(plain))
	}
	for n := 100; n <= len(plain); n += 50 {
		traces = append(traces, &Trace{features: slices.Concat(rare, plain[:n])}, &Trace{features: slices.Concat(plain[:n], rare)})
	}
	again := 0
	for i, trace := range traces {
		q, want := m.query(trace), ofLowestRank(m, trace)
		if got := q.features[:q.text]; !slices.Equal(got, want) {
			t.Errorf("%d features: not the %d of lowest rank", len(trace.features), len(want))
		}
		var weighed weighing
		weighed.weigh(m, trace, weightPart)
		if len(weighed.order) < maxQuery && !math.IsInf(weighed.enough, 1) {
			if again++; i < usual {
				t.Errorf("%d features of a usual text were weighed again", len(trace.features))
			}
		}
	}
	if again == 0 {
		t.Error("no guess was wrong")
	}
}

// TestLeastDraw: no draw below the least gives a rank up to the bound, and all others may by -log u >= 1-u.
func TestLeastDraw(t *testing.T) {
	bounds := []float64{0, 1e-300, 1e-16, math.Nextafter(1, 0), 1, 7, math.Inf(1)}
	for i := range uint64(1000) {
		bounds = append(bounds, uniform(mix(i)))
	}
	for _, bound := range bounds {
		least := leastDraw(bound)
		for _, draw := range []uint64{0, 1 << 11, least - 1, least, least + 1<<11, math.MaxUint64} {
			if below := 1-uniform(draw) > bound; below != (draw < least) {
				t.Errorf("a draw of %x, bound %g: below is %v, the least is %x", draw, bound, below, least)
			}
		}
	}
}
