package store

import (
	"testing"
	"time"
)

// TestNumbersNeverGiven: what a node that is out of its mind says of the numbers of another one lets that go on from where it was, and
// so it does when it is opened again. What it may have given and lost it does not give again.
func TestNumbersNeverGiven(t *testing.T) {
	x := newSite(t, 2, 1)
	a, b := x.nodes[0], x.nodes[1]
	x.countAt(b, 1, 1)
	x.quiet()
	part := b.Entries(b.heldKeys(KindPart))[0]
	own := func(seq uint64) uint64 { return uint64(a.x.node)<<seqBits | seq }
	of := func(kind Kind, item uint64, value []byte) Entry {
		return Entry{Key: Key{item, 77, kind}, Stamp: part.Stamp + 1, Until: part.Until, Value: value}
	}
	const most = 1<<seqBits - 1
	word := remark{label: Spam}
	a.Apply([]Entry{of(KindPart, own(most), part.Value), of(KindWord, own(most-1), word.marshal()), of(KindEdge, own(most-2), marshalEdge(part.Item)),
		of(KindEdge, part.Item, marshalEdge(own(most-3))), of(KindDrop, own(most-4), []byte{valueVersion}), of(KindPart, own(most-5), nil)}, false)
	if a.s.lastSeq > 1000 || a.x.bad.Load() != 6 {
		t.Errorf("goes on from %d, %d were not believed", a.s.lastSeq, a.x.bad.Load())
	}
	x.reopen(a)
	if a.s.lastSeq > 10*seqLeap {
		t.Errorf("opened again it goes on from %d", a.s.lastSeq)
	}
	lost := a.s.lastSeq + 1_000_000
	a.Apply([]Entry{of(KindPart, own(lost), part.Value)}, false)
	if a.s.lastSeq != lost {
		t.Errorf("goes on from %d, it gave %d", a.s.lastSeq, lost)
	}
}

// TestStampsThatCannotBe: nobody's clock is brought to its end; one that is years ahead is believed.
func TestStampsThatCannotBe(t *testing.T) {
	x := newSite(t, 3, 1)
	a, b := x.nodes[0], x.nodes[1]
	x.countAt(b, 1, 1)
	x.quiet()
	part := b.Entries(b.heldKeys(KindPart))[0]
	for _, item := range []uint64{part.Item, uint64(77)<<seqBits | 5} { // a part of a cluster that is known, and one that would be a solo
		bad := Entry{Key: Key{item, 77, KindPart}, Stamp: 1<<64 - 2, Until: part.Until, Value: part.Value}
		a.Apply([]Entry{bad}, false)
	}
	if end := uint64(x.now.Add(time.Hour).UnixMilli()) << 16; a.x.clock > end || a.x.bad.Load() != 2 {
		t.Errorf("the clock is %x, %d were not believed", a.x.clock, a.x.bad.Load())
	}
	ahead := Entry{Key: Key{part.Item, 77, KindPart}, Stamp: uint64(x.now.Add(20*365*24*time.Hour).UnixMilli()) << 16, Until: part.Until, Value: part.Value}
	for _, n := range x.nodes {
		n.Apply([]Entry{ahead}, false)
	}
	x.countAt(a, 1, 2)
	x.quiet()
	x.same()
}
