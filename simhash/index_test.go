package simhash

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
)

type neighbour struct {
	id       uint64
	distance int
}

func collectNear(x *Index, code uint64) []neighbour { return collect(x.Near(code)) }

func collect(near iter.Seq2[uint64, int]) []neighbour {
	var all []neighbour
	for id, d := range near {
		all = append(all, neighbour{id, d})
	}
	slices.SortFunc(all, func(a, b neighbour) int {
		if a.id != b.id {
			return int(a.id) - int(b.id)
		}
		return a.distance - b.distance
	})
	return all
}

// scanNear is what Near has to find: id i belongs to codes[i].
func scanNear(codes []uint64, code uint64, k int) []neighbour {
	var all []neighbour
	for i, c := range codes {
		if d := Distance(c, code); d <= k {
			all = append(all, neighbour{uint64(i), d})
		}
	}
	return all
}

// familyCodes returns codes of which many lie within some bits of others, and many are equal in whole blocks.
func familyCodes(r *rand.Rand, n int) []uint64 {
	codes := make([]uint64, n)
	for i := range codes {
		codes[i] = r.Uint64()
		if i > 0 && r.IntN(4) > 0 {
			codes[i] = flipBits(r, codes[r.IntN(i)], r.IntN(12))
		}
	}
	return codes
}

// flipBits flips up to n bits.
func flipBits(r *rand.Rand, code uint64, n int) uint64 {
	for range n {
		code ^= 1 << r.IntN(64)
	}
	return code
}

// The index finds what a scan finds, for every k that has tables and some that have none.
func TestIndexEqualsScan(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	codes := familyCodes(r, 25000)
	for _, k := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 15, 16, 40, 64} {
		x := NewIndex(k)
		for i, c := range codes {
			x.Add(c, uint64(i))
		}
		if tables := len(codes) > scanCost*x.probes && x.probes > 0; tables != (k <= 15) {
			t.Fatalf("k = %d: uses its tables: %t", k, tables)
		}
		found := 0
		for range 40 {
			q := flipBits(r, codes[r.IntN(len(codes))], k+2)
			got, want := collectNear(x, q), scanNear(codes, q, k)
			if !slices.Equal(got, want) {
				t.Fatalf("k = %d, %016x: %v, want %v", k, q, got, want)
			}
			found += len(want)
		}
		if found == 0 {
			t.Errorf("k = %d: no query had a neighbour", k)
		}
	}
}

// Every way in which k bits can fall into the four blocks is found, and k+1 bits never.
func TestIndexSpreads(t *testing.T) {
	const code = 0x0123456789abcdef
	r := rand.New(rand.NewPCG(9, 10))
	for k := 0; k <= 8; k++ {
		x := NewIndex(k)
		for range scanCost*x.probes + 1 { // fill, so that the tables are used
			x.Add(r.Uint64(), 0)
		}
		x.Add(code, 1)
		for a := 0; a <= k+1; a++ {
			for b := 0; a+b <= k+1; b++ {
				for c := 0; a+b+c <= k+1; c++ {
					d := k + 1 - a - b - c
					far := code ^ spread(a, b, c, d)
					if got := collectNear(x, far); slices.ContainsFunc(got, isOne) {
						t.Fatalf("k = %d: found at %d+%d+%d+%d bits", k, a, b, c, d)
					}
					near := far ^ (far^code)&-(far^code) // one bit less
					if got := collectNear(x, near); !slices.Contains(got, neighbour{1, k}) {
						t.Fatalf("k = %d: not found at one bit less than %d+%d+%d+%d", k, a, b, c, d)
					}
				}
			}
		}
	}
}

func isOne(n neighbour) bool { return n.id == 1 }

// spread returns a word with so many bits in each block.
func spread(a, b, c, d int) uint64 {
	return (1<<a - 1) | (1<<b-1)<<16 | (1<<c-1)<<32 | (1<<d-1)<<48
}

func TestIndexExactCopies(t *testing.T) {
	x := NewIndex(0)
	for i := range uint64(100) {
		x.Add(i/3<<20, i)
	}
	if got, want := collectNear(x, 7<<20), []neighbour{{21, 0}, {22, 0}, {23, 0}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if got := collectNear(x, 7<<20|1); len(got) != 0 {
		t.Errorf("%v, want none", got)
	}
}

func TestIndexEmpty(t *testing.T) {
	for _, k := range []int{0, 3, 20} {
		if got := collectNear(NewIndex(k), 0); len(got) != 0 {
			t.Errorf("k = %d: %v", k, got)
		}
	}
}

// Leaving the loop early ends the search, by table and by scan.
func TestIndexStops(t *testing.T) {
	for _, n := range []int{10, 1000} {
		x := NewIndex(3)
		for range n {
			x.Add(5, 5)
		}
		seen := 0
		for range x.Near(5) {
			if seen++; seen == 4 {
				break
			}
		}
		if seen != 4 {
			t.Errorf("%d codes: the loop ran %d times, want 4", n, seen)
		}
	}
}

// The codes are the input's bytes from each place on, so that many share blocks; by table and by whatever Near chooses.
func FuzzIndex(f *testing.F) {
	f.Add([]byte("0123456701234567012345660123abcd"), uint8(3))
	f.Add([]byte{}, uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, k uint8) {
		codes := make([]uint64, len(data))
		x := NewIndex(int(k % 16))
		for i := range data {
			for _, b := range data[i:min(len(data), i+8)] {
				codes[i] = codes[i]<<8 | uint64(b)
			}
			x.Add(codes[i], uint64(i))
		}
		for _, q := range codes[:min(len(codes), 20)] {
			want := scanNear(codes, q, int(k%16))
			if got := collectNear(x, q); !slices.Equal(got, want) {
				t.Fatalf("k = %d, %016x among %016x: %v, want %v", k%16, q, codes, got, want)
			}
			byTable := func(yield func(uint64, int) bool) { x.lookUp(q, yield) }
			if got := collect(byTable); !slices.Equal(got, want) {
				t.Fatalf("k = %d, %016x among %016x by table: %v, want %v", k%16, q, codes, got, want)
			}
		}
	})
}

func BenchmarkIndex(b *testing.B) {
	for _, n := range []int{10_000, 100_000, 1_000_000} {
		r := rand.New(rand.NewPCG(11, 12))
		codes := make([]uint64, n)
		for i := range codes {
			codes[i] = r.Uint64()
		}
		for _, k := range []int{0, 3, 6} {
			x := NewIndex(k)
			for i, c := range codes {
				x.Add(c, uint64(i))
			}
			b.Run(fmt.Sprintf("Near/k=%d/%d", k, n), func(b *testing.B) {
				b.ReportAllocs()
				found, i := 0, 0
				for b.Loop() {
					for range x.Near(codes[i%n] ^ 1<<(i&63)) {
						found++
					}
					i += 7919
				}
				if k > 0 && found < b.N {
					b.Errorf("%d found in %d searches", found, b.N)
				}
			})
		}
		b.Run(fmt.Sprintf("Scan/%d", n), func(b *testing.B) {
			b.SetBytes(int64(8 * n))
			x := NewIndex(64) // no tables
			x.k = 3
			for i, c := range codes {
				x.Add(c, uint64(i))
			}
			found := 0
			for b.Loop() {
				for range x.Near(codes[n/2]) {
					found++
				}
			}
			if found < b.N {
				b.Errorf("%d found in %d searches", found, b.N)
			}
		})
	}
}

func BenchmarkIndexAdd(b *testing.B) {
	r := rand.New(rand.NewPCG(13, 14))
	x := NewIndex(3)
	b.ReportAllocs()
	for b.Loop() {
		x.Add(r.Uint64(), 0)
	}
}
