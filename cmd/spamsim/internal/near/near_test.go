package near

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"spamsim/simhash"
)

// text makes n words up; change replaces one word in every of them with another.
func text(r *rand.Rand, n int) []string {
	words := make([]string, n)
	for i := range words {
		words[i] = fmt.Sprint("w", r.IntN(5000))
	}
	return words
}

func change(r *rand.Rand, words []string, share float64) []string {
	out := append([]string(nil), words...)
	for i := range out {
		if r.Float64() < share {
			out[i] = fmt.Sprint("x", r.IntN(5000))
		}
	}
	return out
}

// read computes the code of words and word pairs.
func read(words []string) Text {
	var h simhash.Hash
	for i, w := range words {
		h.AddString(w, 1)
		if i > 0 {
			h.AddString(words[i-1]+" "+w, 1)
		}
	}
	return Read(strings.Join(words, " "), h.Code64(simhash.TieClear))
}

// exact is Jaccard's coefficient of the triples.
func exact(a, b []string) float64 {
	set := func(words []string) map[string]bool {
		out := map[string]bool{}
		for i := range len(words) - 2 {
			out[strings.Join(words[i:i+3], " ")] = true
		}
		return out
	}
	x, y := set(a), set(b)
	both := 0
	for t := range x {
		if y[t] {
			both++
		}
	}
	return float64(both) / float64(len(x)+len(y)-both)
}

// TestResemblance holds the estimate against the exact coefficient: equal for short texts, within four standard
// deviations for long ones.
func TestResemblance(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{3, 10, 100, 128, 1000, 20_000} {
		for _, share := range []float64{0, 0.01, 0.05, 0.2, 1} {
			a := text(r, n)
			b := change(r, a, share)
			x, y := read(a), read(b)
			got, want := x.resemblance(&y), exact(a, b)
			slack := 0.0
			if n > 128 { // the union may have more than 256
				slack = 4 * 0.031
			}
			if got < want-slack-1e-9 || got > want+slack+1e-9 {
				t.Errorf("%d words, %.0f %% changed: %.3f, exactly %.3f", n, 100*share, got, want)
			}
			if got != y.resemblance(&x) {
				t.Errorf("%d words: not the same both ways", n)
			}
		}
	}
	if x, y := Read("", 0), Read("a b", 0); x.resemblance(&x) != 0 || x.resemblance(&y) != 0 {
		t.Error("texts without triples resemble each other")
	}
}

// TestGroups hides five families of copies, each copy with 5 % of its words changed, among unrelated texts.
func TestGroups(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	g := NewGroups()
	var family []int // of each text; -1 is none
	templates := [][]string{text(r, 60), text(r, 100), text(r, 200), text(r, 400), text(r, 800)}
	for range 400 {
		f := r.IntN(10)
		if f >= len(templates) {
			family = append(family, -1)
			g.Add(read(text(r, 50+r.IntN(500))))
			continue
		}
		family = append(family, f)
		g.Add(read(change(r, templates[f], 0.05)))
	}
	groups := map[int]int{} // group -> family
	missed := 0
	roots := map[int]map[int]int{}
	for i, m := range g.Members() {
		if f, ok := groups[m.Group]; ok && f != family[i] || ok && f == -1 {
			t.Errorf("text %d of family %d is in a group of family %d", i, family[i], f)
		}
		groups[m.Group] = family[i]
		if family[i] >= 0 {
			if m.Share == 0 {
				missed++
			}
			if roots[family[i]] == nil {
				roots[family[i]] = map[int]int{}
			}
			roots[family[i]][m.Group]++
		} else if m.Share != 0 {
			t.Errorf("an unrelated text has a share of %.2f", m.Share)
		}
	}
	if missed > 8 { // of about 200
		t.Errorf("%d copies stand alone", missed)
	}
	for f, in := range roots {
		most, all := 0, 0
		for _, n := range in {
			most = max(most, n)
			all += n
		}
		if float64(most) < 0.9*float64(all) {
			t.Errorf("family %d of %d is in pieces: %v", f, all, in)
		}
	}
}

// TestShort joins short texts only when they are the same, and empty ones never.
func TestShort(t *testing.T) {
	g := NewGroups()
	for _, s := range []string{"thanks a lot", "thanks a lot", "thanks a bit", "", "", " "} {
		g.Add(read(strings.Fields(s)))
	}
	want := []Member{{0, 1}, {0, 1}, {2, 0}, {3, 0}, {4, 0}, {5, 0}}
	for i, m := range g.Members() {
		if m != want[i] {
			t.Errorf("text %d: %+v, want %+v", i, m, want[i])
		}
	}
}

// TestManyCopies adds the same text over and over: the work for each must not grow with their number.
func TestManyCopies(t *testing.T) {
	g := NewGroups()
	same := read(strings.Fields(strings.Repeat("one two three four five ", 10)))
	for range 100_000 {
		g.Add(same)
	}
	if m := g.Members(); m[len(m)-1] != (Member{0, 1}) {
		t.Errorf("%+v", m[len(m)-1])
	}
	n := 0
	for range g.index.Near(same.code) {
		n++
	}
	if n != 0 && n != 1 {
		t.Errorf("the index holds %d of them", n)
	}
}

func BenchmarkGroups(b *testing.B) {
	r := rand.New(rand.NewPCG(5, 6))
	texts := make([]Text, 10_000)
	for i := range texts {
		texts[i] = read(text(r, 200))
	}
	b.ReportAllocs()
	for b.Loop() {
		g := NewGroups()
		for _, t := range texts {
			g.Add(t)
		}
	}
}
