package store

import "testing"

// TestForemost: a message that resembles one of few copies best is said to be of a cluster of many where it resembles that as
// improbably by itself, and not where it may be by chance.
func TestForemost(t *testing.T) {
	s := scratchStore(t)
	q := s.memory.query(traceOf(newWriter(17).text(80)))
	of := func(copies uint32, score float64) match {
		return match{c: &cluster{copies: copies}, containment: containment{score: score}}
	}
	for _, c := range []struct {
		name    string
		matches []match
		members int
		want    int
	}{
		{"nothing", nil, 0, 0},
		{"by chance", []match{of(1, 400), of(manyCopies, joinScore)}, 2, 0},
		{"a sibling", []match{of(1, 400), of(manyCopies, 100)}, 2, 1},
		{"one of few between", []match{of(1, 400), of(manyCopies-1, 200), of(manyCopies, 100)}, 3, 2},
		{"the best has many", []match{of(manyCopies, 400), of(50, 300)}, 2, 0},
		{"no member", []match{of(1, 400), of(manyCopies, 100)}, 1, 0},
	} {
		if got := s.foremost(&judgement{q: q, matches: c.matches, members: c.members}); got != c.want {
			t.Errorf("%s: match %d, want %d", c.name, got, c.want)
		}
	}
	if chance, sibling := of(manyCopies, joinScore), of(manyCopies, 100); s.sigma(&chance, q.t) >= siblingSigma || s.sigma(&sibling, q.t) < siblingSigma {
		t.Error("the scores are not on both sides of siblingSigma")
	}
}
