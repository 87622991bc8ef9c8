package store

import (
	"slices"
	"testing"
)

// TestSlogans: letters of strangers above one slogan are no copies of one another, and copies of a text as short are.
func TestSlogans(t *testing.T) {
	for _, own := range []int{8, 12, 15} {
		for _, shared := range []int{4, 6, 9} {
			s, w := scratchStore(t), newWriter(90)
			slogan := w.text(shared)
			bulk := 0
			for i := range 30 {
				if ev := s.Count(traceOf(slices.Concat(w.text(own), slogan)), from(i)); ev.Abstain != "" {
					t.Fatalf("%+v", ev)
				} else if ev.Member && ev.Copies >= 5 && ev.Sigma >= 3 {
					bulk++
				}
			}
			if bulk > 1 {
				t.Errorf("letters of %d words above one of %d: %d bulk", own, shared, bulk)
			}
		}
	}
	for _, words := range []int{12, 14, 20} {
		s, w := scratchStore(t), newWriter(91)
		text, found := w.text(words), 0
		for i := range 30 {
			if ev := s.Count(traceOf(w.changed(text, 0.1)), from(i)); ev.Member && ev.Copies >= 5 && ev.Sigma >= 3 {
				found++
			}
		}
		if found < 20 {
			t.Errorf("texts of %d words, a tenth of them changed: %d of 26 found", words, found)
		}
	}
}
