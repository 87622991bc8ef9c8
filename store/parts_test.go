package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"spamsim/parse"
)

// The clusters of a feature stay in the order in which they were noted, or noted again; of very many the latest.
func TestPostingsEqualMap(t *testing.T) {
	for _, far := range []uint32{1, 3_000, 1 << 18} { // between one cluster's number and the next
		r := rand.New(rand.NewPCG(1, 2))
		var p postings
		want := map[uint32][]uint32{}
		for range 60_000 {
			id, c := uint32(r.IntN(100)), uint32(r.IntN(500))*far
			all := want[id]
			switch i := slices.Index(all, c); {
			case r.IntN(8) == 0:
				p.renew(id, c)
				if len(all) > indexLimit/2 && i < len(all)/2 {
					want[id] = latest(slices.DeleteFunc(all, func(x uint32) bool { return x == c }), c)
				}
			case i >= 0 && r.IntN(4) == 0:
				p.remove(id, c)
				want[id] = slices.Delete(all, i, i+1)
			case i < 0:
				p.add(id, c)
				want[id] = latest(all, c)
			}
		}
		full := 0
		for id := range uint32(100) {
			if got := p.holders(id); !slices.Equal(got, want[id]) {
				t.Fatalf("feature %d: %v, want %v", id, got, want[id])
			} else if len(got) == indexLimit {
				full++
			}
		}
		if full == 0 {
			t.Fatal("no feature has as many clusters as are noted")
		}
	}
}

// A shard keeps its features in the order of their homes as it grows, wherever those are, and finds them.
func TestShardKeepsItsOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for _, low := range []uint64{0, tagMask / 2, tagMask - 300} { // all over, in the latter half, and near the end
		var p postings
		s := &p.shards[0]
		want := map[uint32]uint32{}
		for cluster := range uint32(1000) {
			id := uint32(low + r.Uint64N(tagMask+1-low))
			if want[id] != 0 {
				continue
			}
			want[id] = cluster + 1
			p.add(id, cluster)
			if int(s.used) != len(want) {
				t.Fatalf("%d of %d are used", s.used, len(want))
			}
			for i := range s.size() {
				x, before := s.get(i), s.get((i+s.size()-1)%s.size())
				most := 0
				if before != 0 {
					most = away(tagOf(before), (i+s.size()-1)%s.size(), s.size()) + 1
				}
				if x != 0 && away(tagOf(x), i, s.size()) > most {
					t.Fatalf("%d features from %d on: %x at %d of %d is behind %x", len(want), low, tagOf(x), i, s.size(), tagOf(before))
				}
			}
		}
		for id, cluster := range want {
			if got, n := p.find(id); got != cluster-1 || n != 1 {
				t.Fatalf("feature %d: %d clusters, %d", id, n, got)
			}
		}
	}
}

// latest is all with one more, and without the first where they are more than are noted.
func latest(all []uint32, c uint32) []uint32 {
	all = append(all, c)
	return slices.Clone(all[max(0, len(all)-indexLimit):])
}

// holders are the clusters that hold a feature.
func (p *postings) holders(id uint32) []uint32 {
	ref, n := p.find(id)
	switch {
	case ref == noCluster:
		return nil
	case n == 1:
		return []uint32{ref}
	}
	return p.lists.appendTo(nil, ref)
}

// A list of as many clusters as there may be, as far apart as there may be, has room.
func TestListHasRoom(t *testing.T) {
	var l lists
	at, want := l.pair(0, 1<<31-2), []uint32{0, 1<<31 - 2}
	for i := range uint32(indexLimit) {
		c := i%2*(1<<31-300) + i + 1
		at, want = l.add(at, c), latest(want, c)
	}
	if got := l.appendTo(nil, at); !slices.Equal(got, want) || l.len(at) != indexLimit {
		t.Fatalf("%v, want %v", got, want)
	}
	for len(want) > 2 {
		i := len(want) / 2
		at, _, _ = l.remove(at, want[i])
		want = slices.Delete(want, i, i+1)
		if got := l.appendTo(nil, at); !slices.Equal(got, want) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
	if class := binary.LittleEndian.Uint32(l.at(at)) >> listClassShift & listClassMask; listSizes[class] > 32 {
		t.Errorf("two clusters take %d octets", listSizes[class])
	}
	if last, left, had := l.remove(at, want[0]); last != want[1] || left != 1 || !had {
		t.Fatalf("%d of %d are left", last, left)
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
	short, long, han := &Trace{Tokens: 100}, &Trace{Tokens: 300}, &Trace{Tokens: 100, Script: parse.CJK}
	for _, c := range []struct {
		t      *Trace
		score  float64
		stored int
		sigma  float64
	}{
		{short, 0, 100, 0}, {short, 6.4, 100, 1}, {short, 12.5, 100, 2}, {short, 18.7, 1000, 1.71}, {short, 20.2, 100_000, 1},
		{short, 39.5, 100_000, 2}, {short, 62.7, 1300, 3}, {long, 7.1, 100, 1}, {han, 8.4, 100, 1}, {short, 700, 1300, 4.77},
	} {
		if got := deviate(nullRate(c.score, c.stored, c.t)); math.Abs(got-c.sigma) > 0.05 {
			t.Errorf("score %g among %d: sigma %.2f, want %.2f", c.score, c.stored, got, c.sigma)
		}
	}
	last := 0.0
	for score := 1.0; score < 1000; score *= 1.1 {
		sigma := deviate(nullRate(score, 1000, short))
		if sigma < last || sigma < deviate(nullRate(score, 10_000, short)) || sigma < deviate(nullRate(score, 1000, han)) {
			t.Fatalf("score %g: %g after %g", score, sigma, last)
		}
		last = sigma
	}
}

// TestFit: rates of a null distribution k times as heavy are met by a scale of k, within its bounds; related mail among
// them moves it little, and few messages move it little.
func TestFit(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, c := range []struct {
		k, related float64
		n          int
		low, high  float64
	}{
		{1, 0, 4000, 0.9, 1.1}, {1.3, 0, 4000, 1.15, 1.35}, {1, 0.5, 4000, 0.9, 1.15}, {100, 0, 4000, 1.35, 1.5},
		{0.01, 0, 4000, 0.4, 0.45}, {3, 0, 60, 1, 1}, {3, 0, 130, 1.12, 1.22},
	} {
		var f fit
		for range c.n {
			if r.Float64() < c.related {
				f.observe(1e-6)
			}
			f.observe(r.ExpFloat64() / c.k)
		}
		if got := f.scale(); got < c.low || got > c.high {
			t.Errorf("%+v: scale %.2f", c, got)
		}
	}
}

// TestCalibration: of mail as the null says, the shares at each level are the chances of the normal distribution.
func TestCalibration(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var f fit
	for range 5 * maxRecent {
		f.observe(r.ExpFloat64())
	}
	c := f.calibration(parse.Latin)
	for i, p := range CalibrationChance {
		if share := float64(c.Over[i]) / float64(c.Messages); c.Messages != maxRecent || math.Abs(share-p) > 4*math.Sqrt(p/maxRecent) {
			t.Errorf("sigma %g: %.4f of %d, want %.4f", CalibrationSigma[i], share, c.Messages, p)
		}
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
	for _, c := range s.memory.grown {
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
	f.Add((&cluster{copies: 1, elements: pack(nil, []element{{1, 1, 1, 9}}), sample: "x"}).marshal())
	f.Add((&cluster{copies: 2, elements: pack(nil, []element{{1, 2, 0, 9}, {2, 0, 0, 9}})}).marshal())
	f.Add([]byte{1})
	f.Fuzz(func(t *testing.T, data []byte) {
		var c, d cluster
		if c.unmarshal(data) != nil {
			return
		}
		for _, e := range c.elements.unpack() {
			if e.since < max(1, e.count) { // what shares are of
				t.Fatalf("%d of %d members have element %x", e.count, e.since, e.id)
			}
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

// TestFitsSurvive: what the mail showed of sigma is there again after a restart, in the order that it came.
func TestFitsSurvive(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, path, Options{})
	w := newWriter(21)
	for i := range maxRecent + 100 {
		s.Count(traceOf(w.text(20)), from(i))
	}
	s.mu.Lock() // a commit may be under way
	s.fits[parse.CJK].observe(2)
	s.unsaved = 1
	order := s.marshalFits()
	s.mu.Unlock()
	want := s.Calibrations()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, Options{})
	defer s.Close()
	if got := s.marshalFits(); !bytes.Equal(got, order) || len(s.Calibrations()) != len(want) {
		t.Errorf("%d octets, %+v; want %d, %+v", len(got), s.Calibrations(), len(order), want)
	}
}

func TestLoadFitsDamaged(t *testing.T) {
	var s Store
	s.fits[0].observe(1)
	whole := s.marshalFits()
	for _, data := range [][]byte{{}, whole[:5], append(bytes.Clone(whole), 0), {1, 0, 0, 0, 0xc0, 0xff, 0, 0, 0, 0}, {1, 0, 0, 0, 0x80, 0xbf, 0, 0, 0, 0}} {
		var s Store
		if err := s.loadFits(data); !errors.Is(err, ErrRecord) {
			t.Errorf("% x: %v", data, err)
		}
	}
}
