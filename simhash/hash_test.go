package simhash

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/cespare/xxhash/v2"
)

// plainSum is the definition: every bit of every feature votes.
func plainSum(features [][4]uint64, weights []int, t Tie) Code256 {
	var code Code256
	for bit := range 256 {
		sum := 0
		for i, f := range features {
			if f[bit>>6]>>(bit&63)&1 == 1 {
				sum += weights[i]
			} else {
				sum -= weights[i]
			}
		}
		if sum > 0 || sum == 0 && t == TieSet {
			code[bit>>6] |= 1 << (bit & 63)
		}
	}
	return code
}

// checkSum adds the features and compares all widths and both rules with the definition.
func checkSum(t *testing.T, features [][4]uint64, weights []int) {
	t.Helper()
	var h Hash
	var h64 Hash64
	for i, f := range features {
		h.AddWords(f, weights[i])
		h64.Add(f[0], weights[i])
	}
	for _, tie := range []Tie{TieClear, TieSet} {
		want := plainSum(features, weights, tie)
		if got := h.Code256(tie); got != want {
			t.Fatalf("%d features, tie %d: %v, want %v", len(features), tie, got, want)
		}
		if got := h.Code128(tie); got != (Code128{want[0], want[1]}) {
			t.Fatalf("%d features, tie %d: 128 bits %v, want the first of %v", len(features), tie, got, want)
		}
		if got, alone := h.Code64(tie), h64.Code64(tie); got != want[0] || alone != want[0] {
			t.Fatalf("%d features, tie %d: 64 bits %x, alone %x, want the first of %v", len(features), tie, got, alone, want)
		}
	}
}

func randomFeatures(r *rand.Rand, n int) [][4]uint64 {
	features := make([][4]uint64, n)
	for i := range features {
		features[i] = [4]uint64{r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()}
	}
	return features
}

// Every tier of the counters fills and spills: weights to 255 move 255 at a time, 16 bits fill after 257 of them.
func TestSumEqualsDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	weightings := map[string]func() int{
		"one":      func() int { return 1 },
		"small":    func() int { return r.IntN(12) },
		"largest":  func() int { return maxByte },
		"too wide": func() int { return maxByte + 1 + r.IntN(1000) },
		"negative": func() int { return -r.IntN(300) },
		"mixed":    func() int { return r.IntN(2000) - 1000 },
		"huge":     func() int { return 1 << 40 >> r.IntN(40) },
	}
	for name, weight := range weightings {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{0, 1, 2, 3, 16, 255, 256, 1000} {
				weights := make([]int, n)
				for i := range weights {
					weights[i] = weight()
				}
				checkSum(t, randomFeatures(r, n), weights)
			}
		})
	}
}

// Equal features fill one counter alone, to the brim of each tier: 255, and 257 times that.
func TestCountersAtTheBrim(t *testing.T) {
	for _, weight := range []int{1, 128, 254, 255} { // 512 times 128 is one too many
		for _, n := range []int{2, 254, 255, 256, 257, 258, 259, 511, 512, 513, 514, 516} {
			features, weights := make([][4]uint64, n), make([]int, n)
			for i := range features {
				features[i], weights[i] = [4]uint64{1, 1 << 63, 1 << 8, ^uint64(0)}, weight
			}
			features[n-1] = [4]uint64{2, 3, 5, 7}
			checkSum(t, features, weights)
		}
	}
}

func TestEmpty(t *testing.T) {
	var h Hash
	ones := ^uint64(0)
	if h.Code64(TieClear) != 0 || h.Code256(TieClear) != (Code256{}) {
		t.Error("TieClear: an empty document is not zero")
	}
	if h.Code64(TieSet) != ones || h.Code128(TieSet) != (Code128{ones, ones}) {
		t.Error("TieSet: an empty document is not all ones")
	}
	h.AddString("word", 5)
	h.AddString("word", -5)
	if h.Code64(TieClear) != 0 || h.Code64(TieSet) != ones {
		t.Error("a feature added and taken back leaves something")
	}
	h.AddString("word", 5)
	h.Reset()
	if h != (Hash{}) {
		t.Error("Reset leaves something")
	}
}

// One feature's fingerprint is its own hash.
func TestOneFeature(t *testing.T) {
	var h Hash
	h.AddString("lottery", 3)
	want := xxhash.Sum64String("lottery")
	if got := h.Code64(TieClear); got != want {
		t.Errorf("%x, want %x", got, want)
	}
	var g Hash
	g.Add(want, 1)
	if g.Code256(TieSet) != h.Code256(TieSet) {
		t.Error("Add and AddString differ")
	}
}

// Reading a code changes nothing, and the order of the features does not count.
func TestOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	features := randomFeatures(r, 700)
	var a, b Hash
	for i, f := range features {
		a.AddWords(f, i%9)
		b.AddWords(features[len(features)-1-i], (len(features)-1-i)%9)
		a.Code256(TieSet)
	}
	if a.Code256(TieClear) != b.Code256(TieClear) {
		t.Error("the order of the features counts")
	}
}

func TestMajority(t *testing.T) {
	codes := []Code256{{1, 2, 4, 8}, {3, 2, 0, 8}, {1, 6, 4, 0}}
	var h Hash
	for _, c := range codes {
		h.AddWords(c, 1)
	}
	if got, want := h.Code256(TieClear), (Code256{1, 2, 4, 8}); got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestNoAllocation(t *testing.T) {
	got := testing.AllocsPerRun(10, func() {
		var h Hash
		for i := range 300 {
			h.AddString("some feature", i)
		}
		h.Code256(TieClear)
	})
	if got != 0 {
		t.Errorf("%v allocations", got)
	}
}

// The 256 bits of a feature are independent, as far as pairs go: over 20,000 features no pair of bits agrees more or
// less often than chance allows (5.5 standard deviations; of 32,640 pairs the furthest is expected near 4.2).
func TestDerivedBitsAreIndependent(t *testing.T) {
	const features = 20032 // whole words
	var columns [256][features / 64]uint64
	var buf [8]byte
	for n := range features {
		buf[0], buf[1], buf[2] = byte(n), byte(n>>8), byte(n>>16)
		f := xxhash.Sum64(buf[:])
		for k, word := range [4]uint64{f, derive(f, 0), derive(f, 1), derive(f, 2)} {
			for i := range 64 {
				columns[64*k+i][n/64] |= word >> i & 1 << (n % 64)
			}
		}
	}
	const sigma2 = features / 4.0
	for i := range columns {
		ones := 0
		for _, word := range columns[i] {
			ones += bits.OnesCount64(word)
		}
		if d := float64(ones - features/2); d*d > 5.5*5.5*sigma2 {
			t.Errorf("bit %d is set in %d of %d features", i, ones, features)
		}
		for j := range i {
			differ := 0
			for w, word := range columns[i] {
				differ += bits.OnesCount64(word ^ columns[j][w])
			}
			if d := float64(differ - features/2); d*d > 5.5*5.5*sigma2 {
				t.Errorf("bits %d and %d differ in %d of %d features", j, i, differ, features)
			}
		}
	}
}

func TestStrings(t *testing.T) {
	if got, want := (Code128{0x1, 0xab}).String(), "00000000000000ab0000000000000001"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := (Code256{1, 2, 3, 4}).String(),
		"0000000000000004000000000000000300000000000000020000000000000001"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestDistance(t *testing.T) {
	ones := ^uint64(0)
	if got := Distance(0, ones); got != 64 {
		t.Errorf("64 bits: %d", got)
	}
	if got := (Code128{ones, 1}).Distance(Code128{0, 2}); got != 66 {
		t.Errorf("128 bits: %d, want 66", got)
	}
	if got := (Code256{ones, 1, 0, 3}).Distance(Code256{0, 2, ones, 3}); got != 130 {
		t.Errorf("256 bits: %d, want 130", got)
	}
}

// Features of weights of every size and sign. Sums past 64 bits wrap alike.
func FuzzSum(f *testing.F) {
	f.Add([]byte("a feature and its weight"), int64(3))
	f.Add([]byte{255, 255, 255, 255, 255, 255, 255, 255, 1}, int64(255))
	f.Add([]byte{}, int64(-1))
	f.Fuzz(func(t *testing.T, data []byte, scale int64) {
		var features [][4]uint64
		var weights []int
		for i := range data {
			x := xxhash.Sum64(data[:i])
			features = append(features, [4]uint64{x, derive(x, 0), derive(x, 1), derive(x, 2)})
			weights = append(weights, int(int64(data[i])*scale>>(i&7)))
		}
		checkSum(t, features, weights)
	})
}

// TestAddAll: features of one weight together vote as each alone does, beside others too.
func TestAddAll(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, weight := range []int{0, 1, 2, 31, 32, 255, 256, -1, -300} {
		for _, n := range []int{0, 1, 7, 8, 9, 255, 256, 3000, 70_000} {
			features := make([]uint64, n)
			for i := range features {
				features[i] = r.Uint64() & r.Uint64() // few bits, so that sums differ in sign
			}
			var all, each Hash64
			all.Add(1, 7)
			each.Add(1, 7)
			all.AddAll(features, weight)
			for _, f := range features {
				each.Add(f, weight)
			}
			if all.votes[0].totals() != each.votes[0].totals() || all.sum != each.sum {
				t.Errorf("%d features of weight %d vote otherwise together", n, weight)
			}
		}
	}
}
