package store

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestLogarithm: it is math.Log to 13 digits behind the point, so that ranks, of single precision, are as good.
func TestLogarithm(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, x := range []float64{1, 1 - 0x1p-53, 1 + 0x1p-52, 2, 0.5, 0x1p-53, 0x1p-1022, math.MaxFloat64, math.Pi} {
		if got, want := logarithm(x), math.Log(x); math.Abs(got-want) > 1e-13+2e-16*math.Abs(want) {
			t.Errorf("log %g is %.17g, want %.17g", x, got, want)
		}
	}
	for range 1_000_000 {
		x := uniform(r.Uint64())
		if got, want := logarithm(x), math.Log(x); math.Abs(got-want) > 1e-13 {
			t.Fatalf("log %g is %.17g, want %.17g", x, got, want)
		}
	}
}

func BenchmarkLogarithm(b *testing.B) {
	for name, log := range map[string]func(float64) float64{"table": logarithm, "math": math.Log} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			sum := 0.0
			for i := range b.N {
				sum += log(uniform(mix(uint64(i))))
			}
			if sum > 0 {
				b.Fatal(sum)
			}
		})
	}
}
