package scan

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"spamsim/nilsimsa"
	"spamsim/simhash"
)

// plainDistance counts the bits of a difference one by one.
func plainDistance(a, b [4]uint64) int {
	n := 0
	for k := range a {
		for diff := a[k] ^ b[k]; diff != 0; diff >>= 1 {
			n += int(diff & 1)
		}
	}
	return n
}

// plainWithin is what Within has to yield; the first of the least distance is what Nearest has to return.
func plainWithin(codes [][4]uint64, code [4]uint64, d int) []Hit {
	var hits []Hit
	for i, c := range codes {
		if got := plainDistance(c, code); got <= d {
			hits = append(hits, Hit{i, got})
		}
	}
	return hits
}

func plainNearest(all []Hit) Hit {
	best := None
	for _, hit := range all {
		if hit.Distance < best.Distance {
			best = hit
		}
	}
	return best
}

// coarseCodes returns codes with few distinct words, so that distances repeat and ties are common.
func coarseCodes(r *rand.Rand, n int) [][4]uint64 {
	codes := make([][4]uint64, n)
	for i := range codes {
		for k := range codes[i] {
			codes[i][k] = 0xff << (8 * r.IntN(8))
		}
	}
	return codes
}

func setOf(codes [][4]uint64) *Set {
	s := new(Set)
	for _, c := range codes {
		s.Add(c)
	}
	return s
}

// checkSearches compares every search with the plain one.
func checkSearches(t *testing.T, s *Set, codes, queries [][4]uint64) {
	t.Helper()
	if s.Len() != len(codes) {
		t.Fatalf("%d codes, want %d", s.Len(), len(codes))
	}
	eachKernel(func(kernel string) { checkKernel(t, kernel, s, codes, queries) })
}

func checkKernel(t *testing.T, kernel string, s *Set, codes, queries [][4]uint64) {
	t.Helper()
	hits := make([]Hit, len(queries))
	s.NearestEach(queries, hits)
	for i, q := range queries {
		all := plainWithin(codes, q, 256)
		want := plainNearest(all)
		if hits[i] != want {
			t.Fatalf("%s: %d codes, %d queries, query %d: %v, want %v", kernel, len(codes), len(queries), i, hits[i], want)
		}
		if got := s.Nearest(q); got != want {
			t.Fatalf("%s: %d codes: nearest %v, want %v", kernel, len(codes), got, want)
		}
		for _, d := range []int{-1, 0, want.Distance, 20, 60, 256, math.MaxInt} {
			got, want := slices.Collect(s.Within(q, d)), slices.DeleteFunc(slices.Clone(all), func(h Hit) bool { return h.Distance > d })
			if !slices.Equal(got, want) {
				t.Fatalf("%s: %d codes, within %d: %v, want %v", kernel, len(codes), d, got, want)
			}
		}
	}
}

// Every size around one and two blocks, with ties in plenty and the best code in every place.
func TestSearches(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 26 {
		codes := coarseCodes(r, n)
		queries := coarseCodes(r, 5)
		for i := range codes {
			queries = append(queries, codes[i], [4]uint64{^codes[i][0], codes[i][1], codes[i][2], codes[i][3]})
		}
		checkSearches(t, setOf(codes), codes, queries)
	}
}

func TestLargeSet(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	codes := coarseCodes(r, 3001)
	for i := range codes {
		for k := range codes[i] {
			codes[i][k] ^= r.Uint64() & r.Uint64()
		}
	}
	checkSearches(t, setOf(codes), codes, coarseCodes(r, 17))
}

// A set follows a slice through additions, replacements and removals.
func TestChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var s Set
	var codes [][4]uint64
	for step := range 2000 {
		code := coarseCodes(r, 1)[0]
		switch op := r.IntN(5); {
		case op < 2 || len(codes) == 0:
			if i := s.Add(code); i != len(codes) {
				t.Fatalf("step %d: added at %d, want %d", step, i, len(codes))
			}
			codes = append(codes, code)
		case op == 2:
			i := r.IntN(len(codes))
			s.Put(i, code)
			codes[i] = code
		default:
			i := r.IntN(len(codes))
			s.Remove(i)
			codes[i] = codes[len(codes)-1]
			codes = codes[:len(codes)-1]
		}
		for i := range codes {
			if s.At(i) != codes[i] {
				t.Fatalf("step %d: code %d is %x, want %x", step, i, s.At(i), codes[i])
			}
		}
		checkSearches(t, &s, codes, [][4]uint64{code})
		if got, want := len(s.blocks), (len(codes)+lanes-1)/lanes; got != want {
			t.Fatalf("step %d: %d blocks for %d codes, want %d", step, got, len(codes), want)
		}
	}
}

func TestEmpty(t *testing.T) {
	var s Set
	if got := s.Nearest([4]uint64{}); got != None {
		t.Errorf("%v, want None", got)
	}
	s.Add([4]uint64{1})
	s.Remove(0)
	if got := s.Nearest([4]uint64{1}); got != None {
		t.Errorf("%v after removal, want None", got)
	}
}

func TestWithinStops(t *testing.T) {
	s := setOf(make([][4]uint64, 30))
	seen := 0
	for range s.Within([4]uint64{}, 0) {
		if seen++; seen == 11 {
			break
		}
	}
	if seen != 11 {
		t.Errorf("the loop ran %d times, want 11", seen)
	}
}

// Distances are those of both kinds of codes.
func TestBothKinds(t *testing.T) {
	a, b := [4]uint64{1, 2, 3, 1 << 63}, [4]uint64{7, 0, 1 << 40, 5}
	got := setOf([][4]uint64{a}).Nearest(b).Distance
	if want := simhash.Code256(a).Distance(b); got != want {
		t.Errorf("%d, the distance of fingerprints is %d", got, want)
	}
	if want := 128 - nilsimsa.Code(a).Similarity(b); got != want {
		t.Errorf("%d, Nilsimsa codes differ in %d bits", got, want)
	}
}

func TestNoAllocation(t *testing.T) {
	codes := coarseCodes(rand.New(rand.NewPCG(7, 8)), 100)
	s := setOf(codes)
	hits := make([]Hit, 4)
	eachKernel(func(kernel string) {
		got := testing.AllocsPerRun(10, func() {
			s.NearestEach(codes[:4], hits)
			hits[0] = s.Nearest(codes[5])
		})
		if got != 0 {
			t.Errorf("%s: %v allocations", kernel, got)
		}
	})
}
