package store

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestRunningCampaignIsNoted: what very many messages hold leads to a campaign that runs, however long ago it began, also after
// the records were read anew; a campaign that is over gives its place away.
func TestRunningCampaignIsNoted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.db")
	key := []byte("a key for tests, and a long one.")
	s := open(t, path, Options{Key: key})
	w := newWriter(61)
	phrase := w.text(2)
	texts := [2][]string{append(w.text(60), phrase...), append(w.text(60), phrase...)} // one is over, one runs
	for i, text := range texts {
		s.Count(traceOf(text), from(2*i))
		s.Count(traceOf(text), from(2*i+1))
	}
	for i := range 3 * indexLimit {
		s.Count(traceOf(append(w.text(20), phrase...)), from(1000+i))
		if i%200 == 199 {
			s.Count(traceOf(texts[1]), from(10_000+i))
		}
	}
	find := func(text []string) match { return s.memory.matches(s.memory.query(traceOf(text)))[0] }
	var full []uint32 // features of the running campaign that very many hold
	for _, e := range find(texts[1]).c.elements.unpack() {
		if _, n := s.memory.post.find(e.id); n == indexLimit {
			full = append(full, e.id)
		}
	}
	if len(full) == 0 {
		t.Fatal("very many hold nothing of it")
	}
	check := func(when string) {
		t.Helper()
		for i, text := range texts {
			x := find(text)
			for _, id := range full {
				if noted := slices.Contains(s.memory.post.holders(id), x.handle); noted != (i == 1) {
					t.Errorf("%s: of feature %x campaign %d is noted: %v", when, id, i, noted)
				}
			}
		}
	}
	check("while it runs")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path + ".snapshot"); err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	s = open(t, path, Options{Key: key})
	check("read anew")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
