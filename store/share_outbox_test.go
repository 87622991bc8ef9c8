package store

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// What was put in comes out once, in its order, but for what was taken out; what was takes no room for long.
func TestOutbox(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var o outbox
	var want []Key
	for step := range uint64(50_000) {
		switch n := r.IntN(10); {
		case n < 3 && len(want) > 0:
			at := r.IntN(len(want))
			o.remove(want[at])
			want = slices.Delete(want, at, at+1)
		case n < 5 && len(want) > 0:
			if got, ok := o.next(); !ok || got != want[0] {
				t.Fatalf("%+v, %v comes out, want %+v", got, ok, want[0])
			}
			want = want[1:]
		default:
			k := Key{Item: step, Kind: KindPart}
			o.put(k)
			o.put(k)
			want = append(want, k)
		}
		if len(o.order) > 2*len(want)+2*outboxSlack {
			t.Fatalf("%d places for %d keys", len(o.order), len(want))
		}
	}
	for len(want) > 0 {
		if got, ok := o.next(); !ok || got != want[0] {
			t.Fatalf("%+v, %v comes out, want %+v", got, ok, want[0])
		}
		want = want[1:]
	}
	if k, ok := o.next(); ok || o.order != nil {
		t.Errorf("%+v is left", k)
	}
}
