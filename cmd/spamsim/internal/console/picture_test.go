package console

import (
	"flag"
	"math"
	"os"
	"testing"
	"time"

	"spamsim/milter/filter"
	"spamsim/store"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := "testdata/" + name
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
	}
}

// TestGolden compares a small page and small pictures with what they were when they were last looked at.
func TestGolden(t *testing.T) {
	w := newWorld(t, token)
	_, page := w.get("/nothing")
	golden(t, "error.html", page)
	golden(t, "spark.svg", string(spark([]int{0, 1, 4, 0})))
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	a, b := column{From: at}, column{From: at.Add(time.Hour)}
	a.N[filter.Bulk], a.N[filter.Clean], b.N[filter.Clean] = 3, 7, 12
	golden(t, "traffic.svg", string(trafficPicture([]column{a, b}, time.Hour)))
	golden(t, "hours.svg", string(hoursPicture([]store.Hour{{Start: at, Copies: 5}, {Start: at.Add(time.Hour)}, {Start: at.Add(2 * time.Hour), Copies: 1}})))
	golden(t, "sigma.svg", string(sigmaPicture([]float64{0, 0, 0.3, 1.1}, []float64{4.5, 8}, []float64{0, 5}, 3, 4.5)))
}

// TestNull: the normal distribution's own figures, and every message is expected in one bin.
func TestNull(t *testing.T) {
	for sigma, want := range map[float64]float64{0: 0.5, 1: 0.158655, 2: 0.022750, 3: 0.001350} {
		if got := tail(sigma); math.Abs(got-want) > 1e-6 {
			t.Errorf("tail(%v) is %v, want %v", sigma, got, want)
		}
	}
	sum := 0.0
	for i := range bins {
		sum += expected(1000, i)
	}
	if math.Abs(sum-1000) > 1e-6 || expected(1000, 0) < 500 {
		t.Errorf("%v of 1,000 are expected, %v in the first bin", sum, expected(1000, 0))
	}
	if h := histogram([]float64{0, 0.24, 0.25, 7.99, 8, 100, -1}); h[0] != 3 || h[1] != 1 || h[bins-1] != 3 {
		t.Errorf("histogram %v", h)
	}
}

func TestWords(t *testing.T) {
	for got, want := range map[string]string{
		number(0): "0", number(999): "999", number(1000): "1\u202f000", number(-12345678): "-12\u202f345\u202f678", number(-100): "-100",
		octets(5): "5 octets", octets(2048): "2 KB", octets(1536): "1.5 KB", octets(10 << 20): "10 MB", octets(3 << 30): "3.0 GB",
		percent(1, 3): "33.3 %", percent(1, 0): "–", countWord(store.Count{N: 70, Approx: true}): "~70",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for n, want := range map[int]int{0: 4, 4: 4, 5: 10, 11: 20, 21: 40, 41: 100, 2000: 2000, 2001: 4000} {
		if got := ceiling(n); got != want {
			t.Errorf("ceiling(%d) is %d, want %d", n, got, want)
		}
	}
}
