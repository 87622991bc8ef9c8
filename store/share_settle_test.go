package store

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// Clusters that a node heard of, and had not held against its own when it stopped or was killed, are held against them once it
// has started again.
func TestSettledAfterStart(t *testing.T) {
	for _, killed := range []bool{false, true} {
		x := newSite(t, 2, 1)
		low, high := x.nodes[0], x.nodes[1]
		if high.Node() < low.Node() {
			low, high = high, low
		}
		x.countAt(low, 1, 1)
		x.countAt(high, 1, 2)
		x.send(low)
		x.send(high)
		x.deliver(low, 1)
		x.deliver(high, 1)
		if n := low.s.Stats().Clusters; n != 2 {
			t.Fatalf("%d clusters before they were held against each other", n)
		}
		if killed {
			x.kill(low)
		} else {
			x.reopen(low)
		}
		x.quiet()
		x.same()
		for _, n := range x.nodes {
			if c := n.s.Campaigns(Biggest, 0); len(c) != 1 || c[0].Copies != 2 || n.s.Stats().Clusters != 1 {
				t.Errorf("killed %v: %+v of %d clusters", killed, c, n.s.Stats().Clusters)
			}
		}
	}
}

// Of what a store that starts knows, those that were heard of last are held against the others, and no more than some.
func TestSettlesSomeAfterStart(t *testing.T) {
	x, told := solosOf(t, 4)
	s := x.nodes[1].s
	x.countAt(x.nodes[1], 99, 99)
	x.nodes[1].Apply(told, false)
	s.mu.Lock()
	defer s.mu.Unlock()
	x.nodes[1].x.node = 0
	var heard []uint64
	for _, e := range told {
		heard = append(heard, s.shared.local[e.Item])
	}
	s.shared.fresh = nil
	s.settleLatest()
	if !slices.Equal(s.shared.fresh, heard) {
		t.Errorf("%d are left to be settled, want %d", s.shared.fresh, heard)
	}
	s.shared.fresh = nil
	s.shared.born[heard[0]+settleAgain+1] = 1<<64 - 1 // the first two were heard of too long before it
	s.settleLatest()
	if !slices.Equal(s.shared.fresh, heard[2:]) {
		t.Errorf("%d are left to be settled, want %d", s.shared.fresh, heard[2:])
	}
}

// TestLettersOfAHouseOnNodes: what people of one house write above one notice becomes no cluster by being seen by several nodes;
// copies with a tenth changed do.
func TestLettersOfAHouseOnNodes(t *testing.T) {
	for _, c := range []struct {
		letter, notice int
		changed        float64 // of the notice
		copies         int     // of the cluster that has most, at most; 30 where it is a campaign
	}{{8, 15, 0, 2}, {8, 60, 0, 2}, {20, 60, 0, 1}, {200, 60, 0, 1}, {0, 60, 0.1, 30}} {
		x, w := newSite(t, 3, 1), newWriter(61)
		notice := w.text(c.notice)
		for i := range 30 {
			at := fromHouse(i, "house.example")
			at.Time = x.now
			x.nodes[i%3].s.Count(traceOf(slices.Concat([]string{"hello"}, w.text(c.letter), w.changed(notice, c.changed))), at)
			if i%3 == 2 {
				x.quiet()
			}
		}
		most := 1
		for _, campaign := range x.nodes[0].s.Campaigns(Biggest, 0) {
			most = max(most, campaign.Copies)
		}
		if most > c.copies || c.copies == 30 && most < 30 {
			t.Errorf("letters of %d words above %d: %d are one", c.letter, c.notice, most)
		}
	}
}

// kill lets a node go on from what its file has, as if it had been killed at this moment.
func (x *site) kill(n *siteNode) {
	if err := n.s.Sync(); err != nil {
		x.t.Fatal(err)
	}
	file, err := os.ReadFile(n.path)
	if err != nil {
		x.t.Fatal(err)
	}
	n.path = filepath.Join(x.t.TempDir(), "db")
	if err := os.WriteFile(n.path, file, 0o600); err != nil {
		x.t.Fatal(err)
	}
	if err := n.s.Close(); err != nil {
		x.t.Fatal(err)
	}
	n.s = open(x.t, n.path, Options{Background: quickBackground()})
	x.share(n, "another name does not matter")
}

// A cluster that is held against the others is none of them, and the best of them is what it is without that.
func TestHeldAgainstOthers(t *testing.T) {
	x, told := solosOf(t, 40)
	s := x.nodes[1].s
	for i := range 40 { // of half of them it has a copy of its own
		at := from(1000 + i)
		at.Time = x.now
		s.Count(traceOf(newWriter(uint64(2*i)).text(60)), at)
	}
	s.mu.Lock()
	x.nodes[1].x.node = 0 // of the two it is the one to look
	s.mu.Unlock()
	x.nodes[1].Apply(told, false)
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(x.nodes[1].x.fresh); n != len(told) {
		t.Errorf("%d are to be held against the others, want %d", n, len(told))
	}
	m, found := &s.memory, 0
	for h := range m.top {
		if m.at(h).state == vacant {
			continue
		}
		q := m.queryOf(s.full(h))
		best := 0.0
		for _, x := range m.matches(q) {
			if x.handle != h {
				best = max(best, x.score)
			}
		}
		all := m.matchesBut(m.queryOf(s.full(h)), h)
		for _, x := range all {
			if x.handle == h {
				t.Errorf("cluster %d is held against itself", h)
			}
		}
		if best >= joinScore {
			found++
			if len(all) == 0 || all[0].score != best {
				t.Errorf("cluster %d: %+v, want a score of %v", h, all, best)
			}
		}
	}
	if found != 40 {
		t.Errorf("%d resemble another, want 40", found)
	}
}
