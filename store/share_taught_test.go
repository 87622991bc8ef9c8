package store

import "testing"

// A message that one node counted and another is taught is one copy, whoever comes first, and so is one that two are taught;
// once it is forgotten it may be counted again.
func TestTaughtElsewhere(t *testing.T) {
	m := traceOf(newWriter(1).text(60))
	at := from(1)
	at.Time = start
	count := func(n *siteNode) { n.s.Count(m, at) }
	train := func(n *siteNode) { n.s.Train(m, at, Spam) }
	for name, do := range map[string][2]func(*siteNode){
		"counted, then taught": {count, train}, "taught, then counted": {train, count}, "taught twice": {train, train},
	} {
		for _, heard := range []bool{true, false} { // the second knows of the first, or does not yet
			x := newSite(t, 3, 1)
			do[0](x.nodes[0])
			if heard {
				x.quiet()
			}
			do[1](x.nodes[1])
			x.quiet()
			x.same()
			for i, n := range x.nodes {
				if all := n.s.Campaigns(Labelled, 0); len(all) != 1 || all[0].Copies != 1 || all[0].Senders.N != 1 || n.s.Stats().Clusters != 1 {
					t.Errorf("%s, heard %v: node %d has %+v", name, heard, i, all)
				}
				if ev := n.s.Judge(m, at); !ev.Known || ev.Copies != 1 {
					t.Errorf("%s, heard %v: node %d judges %+v", name, heard, i, ev)
				}
			}
			x.reopen(x.nodes[2])
			if out := x.nodes[2].s.Train(m, at, Spam); out.Done || out.Reason != "known" {
				t.Errorf("%s: taught once more: %+v", name, out)
			}
			if out := x.nodes[2].s.Forget(m, at); out.Reason != "asked" {
				t.Errorf("%s: forgotten: %+v", name, out)
			}
			x.quiet()
			x.nodes[2].s.Count(m, at)
			x.quiet()
			x.same()
			if n := x.nodes[0].s.Stats().Clusters; n != 1 {
				t.Errorf("%s: %d clusters after it was forgotten and came again", name, n)
			}
		}
	}
}

// What was taught before a store shared is told of.
func TestTaughtBefore(t *testing.T) {
	s, err := Open("", Options{Key: []byte("k"), Background: quickBackground()})
	if err != nil {
		t.Fatal(err)
	}
	at := from(1)
	s.Train(traceOf(newWriter(1).text(60)), at, Ham)
	p, err := s.Share("a", nil)
	if err != nil {
		t.Fatal(err)
	}
	told := map[Kind]int{}
	for _, e := range p.Changes(100) {
		told[e.Kind]++
	}
	if told[KindTaught] != 1 || told[KindWord] != 1 || told[KindPart] != 1 {
		t.Errorf("told: %v", told)
	}
}

// That a message was taught elsewhere is known once, however often it is told, and not any more once it is taken back.
func TestTaughtIsToldAgain(t *testing.T) {
	x := newSite(t, 1, 1)
	s, e := x.nodes[0].s, Entry{Key: Key{5, 77, KindTaught}, Until: hourOf(x.now.Unix()) + 9, Value: []byte{valueVersion}}
	for e.Stamp = range uint64(3) {
		x.nodes[0].Apply([]Entry{e}, false)
		if !s.taughtElsewhere(5) {
			t.Errorf("it is not known, stamp %d", e.Stamp)
		}
	}
	e.Stamp, e.Value = 9, nil
	x.nodes[0].Apply([]Entry{e}, false)
	if s.taughtElsewhere(5) {
		t.Error("it is still known")
	}
}
