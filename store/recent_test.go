package store

import (
	"math"
	"slices"
	"testing"

	"spamsim/parse"
)

// TestRecentSigmas puts rates in and looks for their deviates: a rate of ln 2 is a chance of one half, sigma 0, and one of
// -ln(1 - 0.158655) the chance of sigma 1.
func TestRecentSigmas(t *testing.T) {
	s := scratchStore(t)
	if got := s.RecentSigmas(); len(got) != 0 {
		t.Errorf("an empty store has seen %v", got)
	}
	s.mu.Lock()
	s.fits[0].observe(math.Ln2)
	s.fits[0].observe(math.Inf(1)) // nothing matched at all
	s.fits[parse.CJK].observe(-math.Log1p(-0.158655))
	s.fits[parse.CJK].observe(1e-9) // no unrelated message
	s.mu.Unlock()
	got := s.RecentSigmas()
	slices.Sort(got)
	if len(got) != 3 || got[0] > 1e-6 || got[1] > 1e-6 || math.Abs(got[2]-1) > 1e-3 {
		t.Errorf("got %v, want 0, 0, 1", got)
	}
}
