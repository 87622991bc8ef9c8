package store

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// A site is some stores that share, and what is on its way between them.
type site struct {
	t     testing.TB
	r     *rand.Rand
	nodes []*siteNode
	now   time.Time
}

type siteNode struct {
	*Share
	s      *Store
	path   string
	coming []Entry
}

func newSite(t testing.TB, nodes int, seed uint64) *site {
	x := &site{t: t, r: rand.New(rand.NewPCG(seed, 3)), now: start}
	for i := range nodes {
		n := &siteNode{path: filepath.Join(t.TempDir(), "db")}
		x.nodes = append(x.nodes, n)
		n.s = open(t, n.path, Options{Key: []byte("a key for tests"), Background: quickBackground()})
		t.Cleanup(func() { n.s.Close() })
		x.share(n, fmt.Sprint("node ", i))
	}
	return x
}

// quickBackground is one that is read at once: of 3,000 messages of which none has a word of another.
func quickBackground() []byte {
	b := BackgroundBuilder{messages: 3000}
	return b.Bytes()
}

// share makes a node share, by the clock of the site.
func (x *site) share(n *siteNode, name string) {
	var err error
	if n.Share, err = n.s.Share(name, []byte("a key for tests")); err != nil {
		x.t.Fatal(err)
	}
	n.x.now = func() time.Time { return x.now }
}

// reopen closes the store of a node, with a snapshot or without, and opens it again.
func (x *site) reopen(n *siteNode) {
	x.send(n)
	if err := n.s.close([]int{0, fewToSnapshot}[x.r.IntN(2)]); err != nil {
		x.t.Fatal(err)
	}
	n.s = open(x.t, n.path, Options{Background: quickBackground()})
	x.share(n, "another name does not matter")
}

// send takes what a node has to say and lets it be on its way to all others, some of it twice.
func (x *site) send(n *siteNode) {
	for _, e := range n.Changes(1 << 20) {
		for _, other := range x.nodes {
			if other != n {
				other.coming = append(other.coming, e)
				if x.r.IntN(4) == 0 {
					other.coming = append(other.coming, e)
				}
			}
		}
	}
}

// deliver lets a part of what is on its way to a node arrive, in any order.
func (x *site) deliver(n *siteNode, part float64) {
	x.r.Shuffle(len(n.coming), func(i, j int) { n.coming[i], n.coming[j] = n.coming[j], n.coming[i] })
	k := int(part * float64(len(n.coming)))
	n.Apply(n.coming[:k], false)
	n.coming = slices.Clone(n.coming[k:])
}

// quiet lets everything arrive until nobody has anything to say.
func (x *site) quiet() {
	for range 100 {
		idle := true
		for _, n := range x.nodes {
			for n.Settle(100) > 0 {
			}
			x.send(n)
		}
		for _, n := range x.nodes {
			idle = idle && len(n.coming) == 0
			x.deliver(n, 1)
		}
		if idle {
			return
		}
	}
	x.t.Fatal("the nodes do not come to rest")
}

// same fails unless all nodes hold the same.
func (x *site) same() {
	x.t.Helper()
	for _, n := range x.nodes[1:] {
		if n.Digest(0) != x.nodes[0].Digest(0) {
			x.t.Errorf("digests differ: %s", cmp.Diff(describe(x.nodes[0].x), describe(n.x)))
		}
		if d := cmp.Diff(shown(x.nodes[0].s), shown(n.s)); d != "" {
			x.t.Errorf("what is held differs:\n%s", d)
		}
	}
}

// describe is all that is held.
func describe(x *pooled) map[string]string {
	out := map[string]string{}
	for _, all := range x.held {
		for k, h := range all {
			out[fmt.Sprint(k)] = fmt.Sprintf("%+v", h)
		}
	}
	return out
}

// shown is all that people see of a store's clusters, but for the heat, which is rounded, and the messages.
func shown(s *Store) map[string]Detail {
	out := map[string]Detail{}
	for h := range uint32(len(s.memory.slab) * slabSize) {
		if s.memory.at(h).state == vacant {
			continue
		}
		seq := s.memory.at(h).seq
		d, err := s.Campaign(s.id(seq))
		if is, ok := s.memory.handle(seq); err != nil || !ok || is != h {
			panic(fmt.Sprint(err, " cluster ", seq))
		}
		d.Heat, d.Hours = 0, nil
		slices.Sort(d.BySender)
		slices.Sort(d.ByNet)
		out[d.ID] = d
	}
	return out
}

// Three nodes that count, train, label, forget, drop, stop and start come to hold the same, in whatever order, how often and how
// late what they say arrives. SPAMSIM_SEEDS is how many times that is tried.
func TestNodesConverge(t *testing.T) {
	seeds := 2
	if n, err := strconv.Atoi(os.Getenv("SPAMSIM_SEEDS")); err == nil {
		seeds = n
	}
	for seed := range uint64(seeds) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			x := newSite(t, 3, seed)
			for range 150 {
				n := x.nodes[x.r.IntN(3)]
				x.act(n)
				if x.r.IntN(3) == 0 {
					x.send(n)
				}
				if x.r.IntN(3) == 0 {
					x.deliver(n, x.r.Float64())
				}
				if x.r.IntN(8) == 0 {
					n.Settle(3)
				}
			}
			x.quiet()
			x.same()
			for _, n := range x.nodes {
				x.reopen(n)
			}
			x.same()
			x.act(x.nodes[0])
			x.quiet()
			x.same()
		})
	}
}

// act does something to a node.
func (x *site) act(n *siteNode) {
	x.now = x.now.Add(time.Duration(x.r.IntN(60)) * time.Second)
	campaign, copy := x.r.IntN(6), x.r.IntN(40)
	w := newWriter(uint64(campaign))
	m := traceOf(w.changed(w.text(60), 0.02*x.r.Float64()))
	at := from(1000*campaign + copy)
	at.Time = x.now
	switch x.r.IntN(20) {
	case 0:
		n.s.Train(m, at, Label(1+x.r.IntN(2)))
	case 1:
		n.s.Forget(m, at)
	case 2, 3:
		all := n.s.Campaigns(Live, 0)
		if len(all) == 0 {
			return
		}
		id, name := all[x.r.IntN(len(all))].ID, fmt.Sprint("name ", x.now.Unix())
		_, err := n.s.Label(id, Label(x.r.IntN(3)), &name)
		if x.r.IntN(8) == 0 {
			_, err = n.s.Drop(id)
		}
		if err != nil && !errors.Is(err, ErrNoCluster) {
			x.t.Fatal(err)
		}
	case 4:
		if x.r.IntN(4) == 0 {
			x.reopen(n)
		}
	default:
		n.s.Count(m, at)
	}
}

// A node whose clock is a year ahead has the last word only until somebody else speaks.
func TestWrongClockDoesNotWin(t *testing.T) {
	x := newSite(t, 2, 1)
	a, b := x.nodes[0], x.nodes[1]
	a.x.now = func() time.Time { return x.now.Add(365 * 24 * time.Hour) }
	at := from(1)
	at.Time = x.now
	a.s.Train(traceOf(newWriter(1).text(60)), at, Spam)
	x.quiet()
	id := b.s.Campaigns(Labelled, 1)[0].ID
	if _, err := b.s.Label(id, Ham, nil); err != nil {
		t.Fatal(err)
	}
	x.quiet()
	for i, n := range x.nodes {
		if c, err := n.s.Campaign(id); err != nil || c.Label != Ham {
			t.Errorf("node %d: %+v, %v", i, c, err)
		}
	}
}

// An address that one node forgets is forgotten by all, whoever counted it.
func TestPersonIsForgottenEverywhere(t *testing.T) {
	x := newSite(t, 2, 1)
	w := newWriter(1)
	words := w.text(60)
	for i := range 6 {
		at := from(i)
		at.Sender, at.Time = fmt.Sprint("s", i/2%2, "@example.com"), x.now
		x.nodes[i%2].s.Count(traceOf(words), at)
		x.quiet()
	}
	if _, err := x.nodes[0].s.ForgetPerson(Sender, "s1@example.com"); err != nil {
		t.Fatal(err)
	}
	x.quiet()
	for i, n := range x.nodes {
		if c := n.s.Campaigns(Biggest, 1)[0]; c.Copies != 4 || c.Senders.N != 1 {
			t.Errorf("node %d: %+v", i, c)
		}
	}
	x.same()
}

// Senders that two nodes saw are counted once, exactly to 64 and within four standard errors beyond, in whatever order and
// however often the halves are united.
func TestCrowdsUnite(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for _, n := range []int{1, 40, 64, 1000, 20_000} {
		var a, b, all crowd
		for i := range n {
			key := r.Uint64() | 1
			if i%3 != 0 {
				a.add(key, 1)
			}
			if i%3 != 1 {
				b.add(key, 1)
			}
			all.add(key, 1)
		}
		ab, ba := a.clone(), b.clone()
		ab.unite(&b)
		ba.unite(&a)
		if ab.count() != all.count() || ba.count() != all.count() || ab.cut != all.cut {
			t.Errorf("of %d: %d, %d, all at once %d", n, ab.count(), ba.count(), all.count())
		}
		if off := float64(all.count()-n) / float64(n); n <= exactTally && off != 0 || off > 0.5 || off < -0.5 {
			t.Errorf("%d are counted as %d", n, all.count())
		}
		if got := all.tally(); got.count().N != all.count() || got.count().Approx != (n > exactTally) {
			t.Errorf("of %d a cluster shows %+v", n, got.count())
		}
	}
}

// Values of a later version are passed over, counted, and held by their keys, so that digests stay equal.
func TestLaterVersion(t *testing.T) {
	x := newSite(t, 2, 1)
	later := []Entry{
		{Key: Key{Item: 5, Origin: 77, Kind: KindPart}, Stamp: 9, Until: forever, Value: []byte{valueVersion + 1, 1, 2}},
		{Key: Key{Item: 5, Origin: 77, Kind: 99}, Stamp: 9, Until: forever, Value: []byte{valueVersion, 1, 2}},
	}
	for _, n := range x.nodes {
		n.Apply(later, false)
		if n.Newer() != 2 || n.s.Stats().Clusters != 0 {
			t.Errorf("%d entries are newer, %d clusters", n.Newer(), n.s.Stats().Clusters)
		}
	}
	x.same()
}

// FuzzEntry: whatever a peer says, a store stays sound, and what it reads of a part it writes alike.
func FuzzEntry(f *testing.F) {
	w := newWriter(1)
	c := &cluster{seq: 1}
	var m memory
	back, err := openBackground("", nil)
	if err != nil {
		f.Fatal(err)
	}
	m.back = back
	m.begin(c, m.query(traceOf(w.text(60))))
	f.Add(byte(KindPart), uint64(1<<seqBits|1), portionOf(c).marshal())
	twice, many, ahead := portionOf(c), portionOf(c), portionOf(c)
	twice.senders.seen = []tallied{{5, 1}, {5, 1}}
	many.senders = crowd{seen: []tallied{{5, 1}, {1 << 60, 1}}, cut: true}
	ahead.last = 1 << 40
	for _, p := range []*portion{twice, many, ahead} {
		f.Add(byte(KindPart), uint64(1<<seqBits|1), p.marshal())
	}
	f.Add(byte(KindWord), uint64(1<<seqBits|1), (&remark{label: Spam, name: "a"}).marshal())
	f.Add(byte(KindEdge), uint64(1<<seqBits|1), marshalEdge(1<<seqBits|2))
	f.Add(byte(KindDrop), uint64(1<<seqBits|1), []byte{valueVersion})
	f.Add(byte(KindTake), uint64(7), []byte{valueVersion, 1, 2, 3, 4})
	f.Add(byte(KindFit), uint64(0), []byte{valueVersion, 0, 0})
	f.Add(byte(KindTaught), uint64(7), []byte{valueVersion})
	s, err := Open("", Options{Key: []byte("k"), Background: shipped})
	if err != nil {
		f.Fatal(err)
	}
	p, err := s.Share("a", nil)
	if err != nil {
		f.Fatal(err)
	}
	stamp := uint64(0)
	f.Fuzz(func(t *testing.T, kind byte, item uint64, value []byte) {
		stamp++
		e := Entry{Key{item, 1, Kind(kind)}, stamp, forever, value}
		p.Apply([]Entry{e, {Key{item, 2, KindEdge}, stamp, forever, marshalEdge(item / 2)}}, false)
		p.Settle(10)
		for _, c := range s.Campaigns(Biggest, 0) {
			if _, err := s.Campaign(c.ID); err != nil {
				t.Fatalf("%+v: %v", c, err)
			}
		}
		mustBeReadAlike(t, &e)
		if read, err := readPart(value); err == nil {
			again, err := readPart(read.marshal())
			if d := cmp.Diff(read, again, cmp.AllowUnexported(portion{}, crowd{}, tallied{}, element{})); err != nil || d != "" {
				t.Fatalf("%v\n%s", err, d)
			}
		}
	})
}

// mustBeReadAlike fails unless the record that is made of a part's value at once is that of the cluster that the value would
// make, and says the same again.
func mustBeReadAlike(t *testing.T, e *Entry) {
	if !mayBegin(e) {
		return
	}
	latest := time.Now().Unix()
	record, ok := appendRecord(make([]byte, 0, len(e.Value)), e.Value, latest)
	if !ok {
		return
	}
	d := decode(e.Value, latest)
	if d.err != nil {
		t.Fatalf("a record was made of %x: %v", e.Value, d.err)
	}
	c := &cluster{copies: 1}
	c.fill(d.portion)
	if got := c.marshal(); string(got) != string(record) || cap(record) != len(e.Value) {
		t.Fatalf("record %x, of the cluster %x", record, got)
	}
	back, ok := appendValue(nil, record)
	again := &cluster{}
	if err := again.unmarshal(record); err != nil {
		t.Fatal(err)
	}
	again.heat = 1
	if want := portionOf(again).marshal(); !ok || string(back) != string(want) {
		t.Fatalf("value %x, %v, of the cluster %x", back, ok, want)
	}
}

// TestSweepGoesByNow: what is shared expires by the clock that the store was given, not by the machine's, which may leap.
func TestSweepGoesByNow(t *testing.T) {
	s := open(t, "", Options{Background: quickBackground(), Now: func() time.Time { return start.Add(time.Hour) }})
	defer s.Close()
	p, err := s.Share("a", nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Count(traceOf(newWriter(1).text(60)), &Transaction{Message: "m", Time: start})
	p.Sweep()
	if n := s.Stats().Clusters; n != 1 {
		t.Errorf("%d clusters are left", n)
	}
}

// TestCopiesOfAllAreBounded: what nodes say together is no more than a counter holds, and never nothing.
func TestCopiesOfAllAreBounded(t *testing.T) {
	p := portion{copies: math.MaxUint32 - 1}
	for range 3 {
		p.unite(&portion{copies: 2})
	}
	if p.copies != math.MaxUint32 {
		t.Errorf("%d copies", p.copies)
	}
}
