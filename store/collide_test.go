package store

import (
	"fmt"
	"slices"
	"testing"
)

// TestCollidingTexts: whoever makes up thousands of texts that all share what each of them is looked up by makes no more work
// than a bound that does not depend on how many there are, and does not hide a campaign that comes after them.
func TestCollidingTexts(t *testing.T) {
	s := scratchStore(t)
	w := newWriter(77)
	shared := make([]string, 200)
	for i := range shared {
		shared[i] = fmt.Sprintf("qx%dz", i) // words that the background has never seen: they weigh most
	}
	most := 0
	for i := range 4000 {
		words := slices.Concat(w.text(60), shared[i%8*20:i%8*20+40])
		s.Count(traceOf(words), from(i))
		most = max(most, len(s.memory.scratch.used))
	}
	if bound := maxQuery*rareHolders + minWork; most == 0 || most > bound {
		t.Errorf("one message had %d clusters looked at, more than %d", most, bound)
	}
	text := w.text(120)
	var last Evidence
	for i := range 5 {
		last = s.Count(traceOf(w.changed(text, 0.05)), from(10_000+i))
	}
	if last.Copies != 5 || last.Sigma < 3 {
		t.Errorf("fifth copy after them: %+v", last)
	}
}

// TestBucketsAreKeyed: the places where features lie are of the store's key, so that nobody can choose texts for one place.
func TestBucketsAreKeyed(t *testing.T) {
	trace := traceOf(newWriter(78).text(100))
	ids := func(key string) []uint32 {
		var out []uint32
		for _, f := range open(t, "", Options{Key: []byte(key)}).memory.query(trace).features {
			out = append(out, f.id)
		}
		slices.Sort(out)
		return out
	}
	one, again, other := ids("one"), ids("one"), ids("other")
	if !slices.Equal(one, again) {
		t.Error("the same key gives other places")
	}
	shared := 0
	for _, id := range other {
		if _, ok := slices.BinarySearch(one, id); ok {
			shared++
		}
	}
	if len(one) == 0 || shared > 1 {
		t.Errorf("%d of %d places are shared by two keys", shared, len(one))
	}
}
