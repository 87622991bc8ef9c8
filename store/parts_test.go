package store

import (
	"bytes"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"spamsim/parse"
)

func TestPostingsEqualMap(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var p postings
	want := map[[2]uint32]bool{}
	for range 60_000 {
		k := [2]uint32{uint32(r.IntN(300)), uint32(r.IntN(200))}
		if want[k] {
			p.remove(k[0], k[1])
			delete(want, k)
		} else {
			p.add(k[0], k[1])
			want[k] = true
		}
	}
	for id := range uint32(300) {
		one, got := p.find(id)
		if one != noCluster {
			got = []uint32{one}
		}
		got = slices.Sorted(slices.Values(got))
		var all []uint32
		for c := range uint32(200) {
			if want[[2]uint32{id, c}] {
				all = append(all, c)
			}
		}
		if !slices.Equal(got, all) {
			t.Fatalf("feature %d: %v, want %v", id, got, all)
		}
	}
}

func TestCensusEqualsMap(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var c census
	want := map[uint32]int{}
	for range 50_000 {
		id, by := uint32(r.IntN(3000)), 1
		if want[id] > 0 && r.IntN(2) == 0 {
			by = -1
		}
		if want[id] += by; c.add(id, by) != want[id] {
			t.Fatalf("feature %d: not %d", id, want[id])
		}
	}
	for id := range uint32(3000) {
		if c.count(id) != want[id] {
			t.Fatalf("feature %d: %d, want %d", id, c.count(id), want[id])
		}
	}
}

func TestTally(t *testing.T) {
	var a tally
	for key := range uint64(exactTally + 1) {
		a.add(key, 2) // key 0 is the unknown one
	}
	if a.count() != (Count{exactTally, false}) {
		t.Errorf("%+v", a.count())
	}
	a.add(1000, 1)
	if a.count() != (Count{exactTally + 1, true}) || a.has(1000) || !a.has(1) {
		t.Errorf("%+v", a.count())
	}
	a.remove(1000)
	a.remove(1)
	if a.count() != (Count{exactTally, false}) {
		t.Errorf("one of two taken back: %+v", a.count())
	}
	a.remove(1)
	if a.has(1) || a.count().N != exactTally-1 {
		t.Errorf("%+v", a.count())
	}
}

func TestSigma(t *testing.T) {
	for _, c := range []struct {
		score  float64
		stored int
		sigma  float64
	}{{0, 100, 0}, {6.1, 100, 1.0}, {10.8, 100, 1.86}, {27.4, 1500, 2.1}, {62, 1300, 3.0}, {700, 1300, 4.77}} {
		if got := sigmaOf(c.score, c.stored); math.Abs(got-c.sigma) > 0.12 {
			t.Errorf("score %g among %d: sigma %.2f, want %.2f", c.score, c.stored, got, c.sigma)
		}
	}
	last := 0.0
	for score := 1.0; score < 1000; score *= 1.1 {
		sigma := sigmaOf(score, 1000)
		if sigma < last || sigma < sigmaOf(score, 10_000) {
			t.Fatalf("score %g: %g after %g", score, sigma, last)
		}
		last = sigma
	}
}

func TestAttachmentIsEvidence(t *testing.T) {
	s := scratchStore(t)
	w := newWriter(20)
	pdf := bytes.Repeat([]byte("%PDF same in all "), 100)
	for i := range 5 {
		m := parse.Message{Attachments: []parse.Attachment{{Type: "application/pdf", Data: pdf}}}
		for _, x := range w.text(6) {
			m.Blocks = append(m.Blocks, parse.Block{Text: x})
		}
		ev := s.Count(NewTrace(&m), from(i))
		if ev.Abstain != "" || i > 0 && ev.Score < 5 {
			t.Fatalf("copy %d under a text of six words: %+v", i+1, ev)
		}
	}
}

func TestFeaturesKnowNoSpacing(t *testing.T) {
	a := traceOf([]string{"one", "two", "three", "seven", "eleven", "thirteen"})
	b := traceOf([]string{"one  two\r\nthree", "seven\t", "eleven", "thirteen"})
	if !reflect.DeepEqual(a.features, b.features) || len(a.features) < 10 {
		t.Errorf("%d and %d features", len(a.features), len(b.features))
	}
}

func TestRecordKeepsAll(t *testing.T) {
	s := scratchStore(t)
	campaign(t, s, 4)
	for _, c := range s.memory.clusters {
		if c == nil {
			continue
		}
		var got cluster
		if err := got.unmarshal(c.marshal()); err != nil {
			t.Fatal(err)
		}
		got.seq = c.seq
		if !bytes.Equal(got.marshal(), c.marshal()) || got.copies != c.copies || !reflect.DeepEqual(got.senders, c.senders) {
			t.Errorf("%+v became %+v", c, got)
		}
	}
}

func FuzzRecord(f *testing.F) {
	f.Add((&cluster{copies: 1, elements: []element{{1, 1, 1, 9}}, sample: "x"}).marshal())
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, data []byte) {
		var c, d cluster
		if c.unmarshal(data) != nil {
			return
		}
		if err := d.unmarshal(c.marshal()); err != nil || !bytes.Equal(c.marshal(), d.marshal()) {
			t.Fatalf("read again: %v", err)
		}
	})
}

func FuzzBackground(f *testing.F) {
	var b BackgroundBuilder
	for range minCommon {
		b.Add(traceOf([]string{"a", "common", "text", "here"}))
	}
	f.Add(b.Bytes())
	f.Add(backgroundMagic)
	f.Fuzz(func(t *testing.T, data []byte) {
		back, err := readBackground(data)
		if err != nil {
			return
		}
		if w := back.weight(feature{hash: 1 << 40, kind: pair}); w > caps[pair] {
			t.Fatalf("weight %g", w)
		}
	})
}

func TestBackgroundLowersTheCommon(t *testing.T) {
	var b BackgroundBuilder
	w := newWriter(30)
	common := []string{"this", "notice", "stands", "everywhere"}
	for range 50 {
		b.Add(traceOf(append(w.text(40), common...)))
	}
	back, err := readBackground(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	weigh := func(words ...string) (sum float64) {
		for _, f := range traceOf(words).features {
			sum += max(0, back.weight(f))
		}
		return sum
	}
	if often, rare := weigh(common...), weigh("zygote", "flummoxed", "quixotic", "jackdaws"); often > rare/1.2 {
		t.Errorf("common words weigh %g, rare ones %g", often, rare)
	}
}

func BenchmarkJudge100k(b *testing.B) {
	s := scratchStore(b)
	w := newWriter(40)
	for i := range 100_000 {
		s.Count(traceOf(w.text(100)), from(i))
	}
	var ts []*Trace
	for range 500 {
		ts = append(ts, traceOf(w.text(100)))
	}
	x := from(1_000_000)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ { // the store is filled once, not for each N that is tried
		s.Judge(ts[i%len(ts)], x)
	}
}

func BenchmarkNewTrace(b *testing.B) {
	m := &parse.Message{Blocks: []parse.Block{{Text: string(bytes.Repeat([]byte("some words of a text that is not long "), 50))}}}
	b.SetBytes(int64(len(m.Blocks[0].Text)))
	b.ReportAllocs()
	for range b.N {
		NewTrace(m)
	}
}
