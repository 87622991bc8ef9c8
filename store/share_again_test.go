package store

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// countAt counts a text at a node, by the clock of the site.
func (x *site) countAt(n *siteNode, text uint64, message int) {
	at := from(message)
	at.Time = x.now
	n.s.Count(traceOf(newWriter(text).text(60)), at)
}

// lower gives a node the lowest number, so that of two it is the one to hold what it hears against what it has.
func (n *siteNode) lower() {
	n.s.mu.Lock()
	defer n.s.mu.Unlock()
	n.x.node = 0
}

// A node that was killed before its file had what it told does not give the same numbers again.
func TestNumbersAreNotGivenTwice(t *testing.T) {
	x := newSite(t, 1, 1)
	a := x.nodes[0]
	if err := a.s.Sync(); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(a.path)
	if err != nil {
		t.Fatal(err)
	}
	x.countAt(a, 1, 1)
	told := a.Changes(10)

	again := &siteNode{path: filepath.Join(t.TempDir(), "db")}
	if err := os.WriteFile(again.path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	again.s = open(t, again.path, Options{Background: quickBackground()})
	t.Cleanup(func() { again.s.Close() })
	x.share(again, "a")
	x.countAt(again, 2, 2)
	if now := again.Changes(10); now[0].Origin != told[0].Origin || now[0].Item == told[0].Item {
		t.Errorf("told %+v, and after the start %+v", told[0].Key, now[0].Key)
	}
}

// A node that starts knows that it has counted, and what it says is later than all that it held.
func TestNodeStartsWhereItStopped(t *testing.T) {
	x, told := solosOf(t, 3)
	b := x.nodes[1]
	m := traceOf(newWriter(99).text(60))
	at := from(99)
	at.Time = x.now
	b.s.Train(m, at, Spam)
	x.reopen(b)
	if !b.x.spoke {
		t.Error("it has forgotten that it counted")
	}
	x.now = x.now.Add(-time.Hour)
	id := b.s.Campaigns(Labelled, 1)[0].ID
	if _, err := b.s.Label(id, Ham, nil); err != nil {
		t.Fatal(err)
	}
	x.quiet()
	if c, err := x.nodes[0].s.Campaign(id); err != nil || c.Label != Ham {
		t.Errorf("%+v, %v", c, err)
	}
	b.lower()
	b.Apply(told, false)
	if n := len(b.x.fresh); n != len(told) {
		t.Errorf("%d are to be held against the others, want %d", n, len(told))
	}
}

// Where the broker has a later entry of this node than the node itself, it says its own again, later, or that it is gone; and
// only what others said is let go because the broker lost it.
func TestOwnEntriesAreInsistedOn(t *testing.T) {
	x, told := solosOf(t, 2)
	a := x.nodes[0]
	later, strange := told[0], told[1]
	later.Stamp += 1 << 40
	strange.Item += 1000
	strange.Stamp = later.Stamp + 1
	a.Insist([]Entry{later, strange})
	again := a.Changes(10)
	if len(again) != 2 || again[0].Stamp <= later.Stamp || again[0].Value == nil || again[1].Stamp <= strange.Stamp || again[1].Value != nil {
		t.Errorf("said again: %+v", again)
	}
	a.Lost([]Key{told[0].Key})
	if n := a.s.Stats().Clusters; n != 2 {
		t.Errorf("%d clusters after the broker lost one of its own", n)
	}
	x.nodes[1].Apply(told, false)
	x.nodes[1].Lost([]Key{told[0].Key})
	if n := x.nodes[1].s.Stats().Clusters; n != 1 {
		t.Errorf("%d clusters after the broker lost another's", n)
	}
}

// A part whose time comes is said again by who counted it, where others have counted into its cluster since, and by nobody
// else.
func TestPartsAreProlonged(t *testing.T) {
	x := newSite(t, 2, 1)
	a, b := x.nodes[0], x.nodes[1]
	x.countAt(a, 1, 1)
	x.quiet()
	x.now = x.now.Add(5 * 24 * time.Hour)
	x.countAt(b, 1, 2)
	x.quiet()
	x.now = x.now.Add(2 * 24 * time.Hour)
	b.Sweep()
	if told := b.Changes(10); len(told) != 0 {
		t.Errorf("who did not count it tells %+v", told)
	}
	a.Sweep()
	if told := a.Changes(10); len(told) != 1 || told[0].Until <= hourOf(x.now.Unix())+1 {
		t.Errorf("who counted it tells %+v", told)
	}
}

// A node that was stopped while its part of a cluster that lives on ended says it again.
func TestPartsAreProlongedLate(t *testing.T) {
	x := newSite(t, 2, 1)
	a, b := x.nodes[0], x.nodes[1]
	x.countAt(a, 1, 1)
	x.countAt(a, 2, 2)
	x.quiet()
	x.now = x.now.Add(5 * 24 * time.Hour)
	x.countAt(b, 1, 3)
	x.quiet()
	x.now = x.now.Add(2*24*time.Hour + 5*time.Hour)
	a.Sweep()
	b.Sweep()
	x.quiet()
	x.countAt(b, 1, 4)
	x.quiet()
	x.same()
	for i, n := range x.nodes {
		if c := n.s.Campaigns(Biggest, 0); len(c) != 1 || c[0].Copies != 3 || n.s.Stats().Clusters != 1 {
			t.Errorf("node %d: %+v, %d clusters", i, c, n.s.Stats().Clusters)
		}
	}
}

// What a node lost and hears again of two clusters that are one by now is one part, whichever comes first.
func TestOwnPartsOfOneCluster(t *testing.T) {
	for _, turned := range []bool{false, true} {
		x, told := solosOf(t, 2)
		edge := Entry{Key: Key{told[1].Item, 77, KindEdge}, Stamp: 9, Until: told[0].Until, Value: marshalEdge(told[0].Item)}
		b := x.nodes[1]
		b.s.mu.Lock()
		b.x.node = x.nodes[0].Node() // it is the same node, which lost what it had
		b.s.mu.Unlock()
		if turned {
			told[0], told[1] = told[1], told[0]
		}
		b.Apply([]Entry{edge}, false)
		b.Apply(told, true)
		c := b.s.Campaigns(Biggest, 0)
		if len(c) != 1 || c[0].Copies != 2 || c[0].Senders.N != 2 {
			t.Errorf("%+v", c)
		}
		parts, gone := 0, 0
		for _, e := range b.Changes(10) {
			if e.Value == nil {
				gone++
			} else if e.Kind == KindPart {
				parts++
			}
		}
		if parts != 1 || gone != 1 {
			t.Errorf("tells %d parts, and that %d are gone", parts, gone)
		}
	}
}

// What a node took back before it was killed, and knows of no more, it takes back when it hears of it; what others counted stays.
func TestOwnPartThatWasTakenBack(t *testing.T) {
	x := newSite(t, 2, 1)
	for i, n := range x.nodes {
		x.countAt(n, 1, i)
		x.quiet()
	}
	a := x.nodes[0]
	k := a.heldKeys(KindPart)[0]
	for _, other := range a.heldKeys(KindPart) {
		if other.Origin == a.Node() {
			k = other
		}
	}
	h, _ := a.x.get(k)
	a.Apply([]Entry{{Key: k, Stamp: h.stamp + 1, Until: h.until}}, true)
	if c := a.s.Stats().Clusters; c != 1 || len(a.s.Campaigns(Biggest, 0)) != 0 {
		t.Errorf("%d clusters, %+v", c, a.s.Campaigns(Biggest, 0))
	}
}

// The cluster of a node that counted into it, as a message is measured against it, is that of a node that was told.
func TestClustersAreMeasuredAlike(t *testing.T) {
	x := newSite(t, 2, 1)
	w := newWriter(7)
	words := w.text(60)
	for i := range 9 {
		at := from(i)
		at.Time = x.now
		x.nodes[i/3%2].s.Count(traceOf(w.changed(words, 0.05)), at)
		x.quiet()
	}
	var of [2][]element
	for i, n := range x.nodes {
		n.s.mu.Lock()
		for h := range n.s.memory.top {
			if n.s.memory.at(h).state == grown {
				of[i] = append(of[i], n.s.memory.cluster(h).elements.unpack()...)
			}
		}
		n.s.mu.Unlock()
	}
	if len(of[0]) < 60 || !slices.Equal(of[0], of[1]) {
		t.Errorf("%d and %d elements, which are not the same", len(of[0]), len(of[1]))
	}
}

// Of more than 64 senders a node tells what can be united with what others saw.
func TestManySendersAreToldAsACrowd(t *testing.T) {
	x := newSite(t, 1, 1)
	for i := range 2 * 100 { // each comes twice
		at := from(i % 100)
		at.Message, at.Time = fmt.Sprint("message ", i), x.now
		x.nodes[0].s.Count(traceOf(newWriter(1).text(60)), at)
	}
	told := x.nodes[0].Changes(10)
	p, err := readPart(told[0].Value)
	if err != nil || p.copies != 200 || !p.senders.cut || p.senders.over != 0 || len(p.senders.seen) != exactTally {
		t.Errorf("%v, %d copies by %+v", err, p.copies, p.senders)
	}
}

// What other nodes tell of recent mail is weighed at once.
func TestFitsOfOthersAreWeighed(t *testing.T) {
	x := newSite(t, 2, 1)
	a, b := x.nodes[0], x.nodes[1]
	a.s.mu.Lock()
	for range 2 * refitEvery {
		a.s.fits[0].rates = append(a.s.fits[0].rates, 5)
	}
	value := append([]byte{valueVersion}, a.s.marshalFits()...)
	a.s.mu.Unlock()
	b.Apply([]Entry{{Key: Key{0, a.Node(), KindFit}, Stamp: 1, Until: hourOf(x.now.Unix()), Value: value}}, false)
	if f := &b.s.fits[0]; len(f.others) != 2*refitEvery || f.log == 0 {
		t.Errorf("of %d rates the scale is %v", len(f.others), f.log)
	}
}
