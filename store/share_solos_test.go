package store

import (
	"fmt"
	"sync"
	"testing"
)

// solosOf makes a site of two nodes of which one has counted n messages that nothing resembles, and returns what it tells.
func solosOf(t *testing.T, n int) (x *site, told []Entry) {
	x = newSite(t, 2, 1)
	for i := range n {
		at := from(i)
		at.Time = x.now
		x.nodes[0].s.Count(traceOf(newWriter(uint64(i)).text(60)), at)
	}
	return x, x.nodes[0].Changes(2 * n)
}

// Solos that are told of twice at once, or by two at the same time, begin once, and nothing of a second beginning is left.
func TestSolosBeginOnce(t *testing.T) {
	const n = 60
	for name, apply := range map[string]func(p *Share, told []Entry){
		"in one call": func(p *Share, told []Entry) { p.Apply(append(told[:n:n], told...), false) },
		"by two": func(p *Share, told []Entry) {
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() { p.Apply(told, false) })
			}
			both.Wait()
		},
	} {
		x, told := solosOf(t, n)
		apply(x.nodes[1].Share, told)
		x.same()
		x.nodes[1].s.mu.Lock()
		a, b := &x.nodes[0].s.memory, &x.nodes[1].s.memory
		if entries(&a.post) != entries(&b.post) || a.live != b.live {
			t.Errorf("told %s: %d features and %d clusters, want %d and %d", name, entries(&b.post), b.live, entries(&a.post), a.live)
		}
		once := map[uint32]bool{}
		for _, h := range b.free {
			if once[h] || b.at(h).state != vacant {
				t.Errorf("told %s: handle %d is free twice, or stands for a cluster", name, h)
			}
			once[h] = true
		}
		for h := range b.top {
			if b.at(h).state == vacant && !once[h] {
				t.Errorf("told %s: handle %d is lost", name, h)
			}
		}
		for h := range b.top {
			if b.at(h).state != vacant {
				x.nodes[1].s.drop(h)
			}
		}
		if n := entries(&b.post); n != 0 {
			t.Errorf("told %s: %d features lead to what is gone", name, n)
		}
		x.nodes[1].s.mu.Unlock()
	}
}

// leadTo makes the solos that are told of ready and puts what leads to them into the index, where they have not begun yet.
func (n *siteNode) leadTo(told []Entry) (b *ready, handles []uint32) {
	var r readier
	b = r.ready(told, n.x.now().Unix())
	handles = n.s.reserve(b)
	n.s.memory.post.addSome(r.leads.of(b.solos, handles))
	return b, handles
}

// beginAll lets solos begin, and says which do.
func beginAll(s *Store, b *ready, handles []uint32) (began []bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := b.solos.all()
	for at, h := range handles {
		began = append(began, s.beginSolo(b, at, h, rest.next()))
	}
	return began
}

// A message that comes while features lead to a solo that has not begun yet resembles nothing; once it has, it is a copy.
func TestSoloThatHasNotBegun(t *testing.T) {
	x, told := solosOf(t, 20)
	s := x.nodes[1].s
	b, handles := x.nodes[1].leadTo(told)
	judge := func(i int) string {
		at := from(1000 + i)
		at.Time = x.now
		return s.Judge(traceOf(newWriter(uint64(i)).text(60)), at).Cluster
	}
	for i := range told {
		if got := judge(i); got != "" {
			t.Errorf("message %d resembles %s, which has not begun", i, got)
		}
	}
	for at, began := range beginAll(s, b, handles) {
		if !began {
			t.Errorf("solo %d does not begin", at)
		}
	}
	for i := range told {
		if judge(i) == "" {
			t.Errorf("message %d resembles nothing", i)
		}
	}
	x.same()
}

// What was dropped while its solo was made ready does not begin.
func TestSoloThatWasDroppedMeanwhile(t *testing.T) {
	x, told := solosOf(t, 3)
	s := x.nodes[1].s
	b, handles := x.nodes[1].leadTo(told)
	drop := Entry{Key: Key{told[1].Item, 7, KindDrop}, Stamp: told[1].Stamp + 1, Until: told[1].Until, Value: []byte{valueVersion}}
	x.nodes[1].Apply([]Entry{drop}, false)
	if got := fmt.Sprint(beginAll(s, b, handles)); got != "[true false true]" || s.memory.live != 2 {
		t.Errorf("begun: %s, %d clusters", got, s.memory.live)
	}
}

// Who tells faster than the file can be written waits until it is not far behind.
func TestApplyWaitsForTheFile(t *testing.T) {
	x, told := solosOf(t, 1)
	s := x.nodes[1].s
	s.mu.Lock()
	for range 4 * begunAtOnce { // what became something else meanwhile is not written by itself
		s.changes.begin(begun{})
	}
	s.mu.Unlock()
	x.nodes[1].Apply(told, false)
	if s.behind() {
		t.Error("it did not wait")
	}
}

// What has ended does not begin, nor what another says in this node's name, unless it may have lost that; and a node's clock is
// never behind what it heard.
func TestSolosThatDoNotBegin(t *testing.T) {
	x, told := solosOf(t, 3)
	n := x.nodes[1]
	ended, own := told[0], told[1]
	ended.Until = hourOf(x.now.Unix()) - 1
	own.Origin, own.Item = n.Node(), uint64(n.Node())<<seqBits|7
	n.Apply([]Entry{ended, own}, false)
	if n.s.memory.live != 0 {
		t.Errorf("%d clusters", n.s.memory.live)
	}
	ahead := told[2]
	ahead.Stamp += 1 << 40
	n.Apply([]Entry{own, ahead}, true)
	if n.s.memory.live != 2 || n.x.born[7] != 0 || n.x.clock < ahead.Stamp {
		t.Errorf("%d clusters, the own one is known as %x, clock %x", n.s.memory.live, n.x.born[7], n.x.clock)
	}
}

// A node that has counted nothing leaves it to others to hold clusters against one another; what it lost and hears again it
// does not tell once more; and what its mail shows of sigma it tells now and then.
func TestWhoTellsWhat(t *testing.T) {
	x, told := solosOf(t, 3)
	a, b := x.nodes[0], x.nodes[1]
	b.s.mu.Lock()
	b.x.node = 0
	b.s.mu.Unlock()
	b.Apply(told, false)
	if n := len(b.x.fresh); n != 0 {
		t.Errorf("%d are to be held against nothing", n)
	}
	a.Unsent([]Key{told[0].Key, told[1].Key})
	again := told[0]
	again.Stamp++
	a.Apply([]Entry{again}, true)
	if left := a.Changes(10); len(left) != 1 || left[0].Key != told[1].Key {
		t.Errorf("told again: %+v", left)
	}
	a.s.mu.Lock()
	a.x.counts = saveRecentEvery - 1
	a.s.mu.Unlock()
	at := from(99)
	at.Time = x.now
	a.s.Count(traceOf(newWriter(99).text(60)), at)
	kinds := map[Kind]int{}
	for _, e := range a.Changes(10) {
		kinds[e.Kind]++
	}
	if kinds[KindFit] != 1 || kinds[KindPart] != 1 {
		t.Errorf("told: %v", kinds)
	}
}
