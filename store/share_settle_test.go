package store

import "testing"

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
