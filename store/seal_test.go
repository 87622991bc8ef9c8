package store

import (
	"path/filepath"
	"testing"
)

// TestSeal: golden seals, computed with the hmac module of Python 3.
func TestSeal(t *testing.T) {
	s, err := Open("", Options{Key: []byte("k")})
	if err != nil {
		t.Fatal(err)
	}
	for want, data := range map[string][]string{"1a524a85df376103": nil, "d0e1df9e021467e1": {"a", "bc"}, "d91808c8d61f5424": {"ab", "c"}} {
		if got := s.Seal(data...); got != want {
			t.Errorf("%q: %s, want %s", data, got, want)
		}
	}
}

// TestSealsAreOfTheKey: a store's seals stay its own when it is opened again; those of another key differ.
func TestSealsAreOfTheKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	seal := func(path string, o Options) string {
		s, err := Open(path, o)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		return s.Seal("x")
	}
	first := seal(path, Options{})
	if again := seal(path, Options{}); again != first {
		t.Errorf("opened again: %s, was %s", again, first)
	}
	if other := seal("", Options{}); other == first {
		t.Errorf("two stores with keys of their own: %s", other)
	}
	shared := Options{Key: []byte("of the site")}
	if a, b := seal(filepath.Join(t.TempDir(), "b.db"), shared), seal("", shared); a != b {
		t.Errorf("two stores of one key: %s and %s", a, b)
	}
}
