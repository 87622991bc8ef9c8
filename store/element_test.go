package store

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestElementsComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	var p elements
	for n := range 600 {
		es := make([]element, n%300)
		for i := range es {
			es[i] = element{r.Uint32(), 1, 1, uint8(r.IntN(256))}
			if i%5 > 0 {
				es[i].w = usualWeights[i%3]
			}
			if n >= 300 {
				es[i].count, es[i].since = uint8(r.IntN(256)), uint8(1+r.IntN(255))
			}
		}
		p = pack(p, es)
		if got := p.unpack(); !slices.Equal(got, es) || p.len() != len(es) {
			t.Fatalf("%v became %v", es, got)
		}
	}
}

func TestElementsAreSmall(t *testing.T) {
	es := make([]element, sketchSize)
	for i := range es {
		es[i] = element{uint32(i), 1, 1, usualWeights[i%3]}
	}
	if n := cap(pack(nil, es)); n > sketchSize*17/4+elementsHead {
		t.Errorf("%d elements of one message take %d octets", len(es), n)
	}
}
