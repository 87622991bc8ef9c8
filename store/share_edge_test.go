package store

import (
	"slices"
	"testing"
	"time"
)

// edgeOf says for a node of its own that two clusters are one.
func (x *site) edgeOf(a, b Key) Entry {
	return Entry{Key: Key{a.Item, 77, KindEdge}, Stamp: 9, Until: hourOf(x.now.Unix()) + 1000, Value: marshalEdge(b.Item)}
}

// An edge that comes before one of the clusters that it connects leaves the other where it is, whichever that is.
func TestEdgeComesFirst(t *testing.T) {
	for _, turned := range []bool{false, true} {
		x, told := solosOf(t, 3)
		n := x.nodes[1]
		n.Apply(told[1:], false)
		known, unknown := told[1], told[0]
		e := x.edgeOf(known.Key, unknown.Key)
		if turned {
			e = x.edgeOf(unknown.Key, known.Key)
		}
		n.Apply([]Entry{e}, false)
		if c := n.s.Stats().Clusters; c != 2 {
			t.Errorf("turned %v: %d clusters", turned, c)
		}
		at := from(1000)
		at.Time = x.now
		if ev := n.s.Judge(traceOf(newWriter(1).text(60)), at); ev.Copies != 2 || !ev.Member {
			t.Errorf("turned %v: what is known is judged %+v", turned, ev)
		}
		n.Apply([]Entry{unknown}, false)
		if c := n.s.Campaigns(Biggest, 0); len(c) != 1 || c[0].Copies != 2 || n.s.Stats().Clusters != 2 {
			t.Errorf("turned %v: %+v", turned, c)
		}
	}
}

// Two clusters that both nodes have counted into become one, and each node has one part of it.
func TestPartsOfTwoBecomeOne(t *testing.T) {
	x := newSite(t, 2, 1)
	for text := range uint64(2) {
		for i, n := range x.nodes {
			x.countAt(n, text, 10*int(text)+i)
			x.quiet()
		}
	}
	var keys []Key
	for _, e := range x.nodes[0].Entries(x.nodes[0].heldKeys(KindPart)) {
		if e.Origin == uint32(e.Item>>seqBits) {
			keys = append(keys, e.Key)
		}
	}
	if len(keys) != 2 {
		t.Fatalf("%d clusters", len(keys))
	}
	for _, n := range x.nodes {
		n.Apply([]Entry{x.edgeOf(keys[0], keys[1])}, false)
	}
	x.quiet()
	x.same()
	parts := 0
	for _, e := range x.nodes[0].Entries(x.nodes[0].heldKeys(KindPart)) {
		if e.Value != nil {
			parts++
		}
	}
	if c := x.nodes[0].s.Campaigns(Biggest, 0); parts != 2 || len(c) != 1 || c[0].Copies != 4 {
		t.Errorf("%d parts, %+v", parts, c)
	}
}

// heldKeys are the keys of all entries of a kind.
func (n *siteNode) heldKeys(kind Kind) (out []Key) {
	for _, all := range n.x.held {
		for k := range all {
			if k.Kind == kind {
				out = append(out, k)
			}
		}
	}
	return out
}

// That two clusters are one is remembered when both are gone and forgotten once the edge is, by who heard of it and by who found it.
func TestEdgeOutlivesItsClusters(t *testing.T) {
	for _, found := range []bool{false, true} {
		x, told := solosOf(t, 2)
		n := x.nodes[1]
		n.Apply(told, false)
		if found {
			at := from(1000)
			at.Time = x.now
			n.s.Count(traceOf(slices.Concat(newWriter(0).text(60), newWriter(1).text(60))), at)
		} else {
			n.Apply([]Entry{x.edgeOf(told[0].Key, told[1].Key)}, false)
		}
		if c := n.s.Campaigns(Biggest, 0); len(c) != 1 {
			t.Fatalf("found %v: %+v", found, c)
		}
		n.s.mu.Lock()
		for range n.s.expired(x.now.Add(time.Hour).Unix()) {
		}
		n.s.mu.Unlock()
		if n.s.Stats().Clusters != 0 {
			t.Fatalf("found %v: the cluster is not gone", found)
		}
		later := told
		for i := range later {
			later[i].Stamp += 1 << 40
		}
		n.Apply(later, false)
		if c := n.s.Campaigns(Biggest, 0); len(c) != 1 || c[0].Copies < 2 {
			t.Errorf("found %v: %+v", found, c)
		}
	}
}

// A message joins a cluster of others as it would here: one of very many copies only where it has nearly all of them.
func TestWhatIsTheSame(t *testing.T) {
	s := &Store{}
	one, many := &cluster{copies: 1}, &cluster{copies: maxGrowth}
	for _, c := range []struct {
		of   *cluster
		with *cluster
		m    containment
		want bool
	}{
		{one, one, containment{score: joinScore - 1}, false},
		{one, one, containment{score: joinScore}, true},
		{one, many, containment{score: joinScore}, false},
		{one, many, containment{score: joinScore, inMessage: wellKnown}, true},
		{many, one, containment{score: joinScore}, false},
		{many, one, containment{score: joinScore, inCore: wellKnown}, true},
		{many, many, containment{score: mergeScore}, true},
		{many, many, containment{score: joinScore, inCore: nearlyAll}, false},
		{many, many, containment{score: joinScore, inCore: nearlyAll, inMessage: nearlyAll}, true},
	} {
		if got := s.same(c.of, &match{c: c.with, containment: c.m}); got != c.want {
			t.Errorf("%d and %d copies, %+v: %v", c.of.copies, c.with.copies, c.m, got)
		}
	}
}

// What is gone of a cluster does not come back when the store is opened again, in the cluster that it was made one with: whether
// it was let go here, or people on another node dropped it.
func TestGoneOfOneStaysGone(t *testing.T) {
	for _, byPeople := range []bool{false, true} {
		x := newSite(t, 2, 1)
		a, b := x.nodes[0], x.nodes[1]
		x.countAt(b, 1, 1)
		x.quiet()
		one := b.heldKeys(KindPart)[0]
		if !byPeople {
			x.countAt(a, 1, 2) // a cluster of two parts
		}
		x.countAt(a, 2, 3)
		other := a.x.number(a.s.lastSeq - 1)
		steps := []func(){
			func() { a.Apply([]Entry{x.edgeOf(one, Key{Item: other})}, false) },
			func() { a.Apply([]Entry{{Key{one.Item, 77, KindDrop}, 9, forever, []byte{valueVersion}}}, false) },
		}
		if !byPeople {
			steps[1], steps[0] = steps[0], func() {
				a.s.mu.Lock()
				defer a.s.mu.Unlock()
				h, _ := a.s.memory.handle(a.x.seqHere(one.Item))
				a.s.drop(h)
			}
		}
		for _, step := range steps {
			if err := a.s.Sync(); err != nil {
				t.Fatal(err)
			}
			step()
		}
		x.reopen(a)
		if p, ok := a.s.entry(Key{other, a.x.node, KindPart}); !ok || p.Value == nil {
			t.Errorf("by people %v: the part of the other one: %+v, %v", byPeople, p, ok)
		}
		x.countAt(a, 2, 4)
		a.Changes(100)
		if c := a.s.Campaigns(Biggest, 0); len(c) != 1 || c[0].Copies != 2 {
			t.Errorf("by people %v: %+v", byPeople, c)
		}
	}
}

// Two clusters that an edge made one are so again when both come again after they were gone, and the id that they are shown by
// is known, also after a start.
func TestOneAgain(t *testing.T) {
	x, told := solosOf(t, 2)
	n := x.nodes[1]
	n.Apply(told, false)
	n.Apply([]Entry{x.edgeOf(told[1].Key, told[0].Key)}, false)
	gone := slices.Clone(told)
	for i := range gone {
		gone[i].Stamp, gone[i].Value = told[i].Stamp+1000, nil
	}
	n.Apply(gone, false)
	x.now = x.now.Add(30 * 24 * time.Hour)
	n.Sweep()
	if held := n.heldKeys(KindPart); len(held) > 0 || n.s.Stats().Clusters > 0 {
		t.Fatalf("%d parts and %d clusters are left", len(held), n.s.Stats().Clusters)
	}
	for i := range told {
		told[i].Stamp, told[i].Until = told[i].Stamp+2000, forever
	}
	n.Apply(told, false)
	for range 2 {
		all := n.s.Campaigns(Biggest, 0)
		if len(all) != 1 || all[0].Copies != 2 {
			t.Fatalf("%+v", all)
		}
		if c, err := n.s.Campaign(all[0].ID); err != nil || c.Copies != 2 {
			t.Errorf("%+v: %v", c, err)
		}
		x.reopen(n)
	}
}
