package store

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestRiceComesBack(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 1))
	for n := range 400 {
		for _, span := range []int{8, 23, 27} {
			want := make([]uint32, n)
			for i := range want {
				want[i] = r.Uint32N(1 << span)
				if n%3 == 0 { // all at one end
					want[i] = 1<<span - 1 - want[i]%5
				}
			}
			slices.Sort(want)
			data := appendRice([]byte("before"), want, span)
			got, octets := readRice(nil, append(data, make([]byte, ricePad)...)[len("before"):], n, span)
			if !slices.Equal(got, want) || octets != len(data)-len("before") {
				t.Fatalf("%v in %d octets became %v of %d", want, len(data), got, octets)
			}
		}
	}
}

// TestRiceIsSmall: 128 numbers of 23 bits at random, for which no code on average takes less than 17.4 bits each.
func TestRiceIsSmall(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	octets := 0
	for range 100 {
		xs := make([]uint32, 128)
		for i := range xs {
			xs[i] = r.Uint32N(1 << 23)
		}
		slices.Sort(xs)
		octets += len(appendRice(nil, xs, 23))
	}
	if octets > 100*128*18/8 {
		t.Errorf("%.2f bits a number", float64(octets)*8/100/128)
	}
}

func FuzzRice(f *testing.F) {
	f.Add([]byte{0xff, 0x7f, 3}, uint8(9))
	f.Fuzz(func(t *testing.T, data []byte, n uint8) {
		got, octets := readRice(nil, append(data, make([]byte, ricePad)...), int(n), 23)
		if octets > len(data) {
			t.Fatalf("%d octets of %d", octets, len(data))
		}
		for i, x := range got {
			if i > 0 && x < got[i-1] || x >= 1<<23 {
				return // steps that no numbers have
			}
		}
		again, _ := readRice(nil, append(appendRice(nil, got, 23), make([]byte, ricePad)...), int(n), 23)
		if !slices.Equal(got, again) {
			t.Fatalf("%v became %v", got, again)
		}
	})
}
