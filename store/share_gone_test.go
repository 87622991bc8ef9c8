package store

import (
	"slices"
	"testing"
)

// The messages of a cluster that people drop elsewhere are forgotten, though an edge that leads from it comes along.
func TestMessagesOfWhatWasDroppedElsewhere(t *testing.T) {
	for _, turned := range []bool{false, true} {
		x, told := solosOf(t, 1)
		b := x.nodes[1]
		b.Apply(told, false)
		x.countAt(b, 7, 1000)
		own := b.x.number(b.s.lastSeq - 1)
		if own&(1<<seqBits-1) == 0 || len(b.s.messages) != 1 {
			t.Fatalf("number %x, %d messages", own, len(b.s.messages))
		}
		all := []Entry{
			{Key{own, 77, KindDrop}, 9, forever, []byte{valueVersion}}, x.edgeOf(Key{Item: own}, told[0].Key),
		}
		if turned {
			slices.Reverse(all)
		}
		b.Apply(all, false)
		if n := len(b.s.messages); n != 0 || b.s.Stats().Clusters != 1 {
			t.Errorf("turned %v: %d messages are left, and %d clusters", turned, n, b.s.Stats().Clusters)
		}
	}
}
