package store

import (
	"slices"
	"testing"
	"time"
)

// A message of a cluster that its node dropped for want of room takes nothing from what others counted into it, once that is
// told again: whether the message is forgotten, was taught elsewhere, or its sender is forgotten.
func TestForgottenOfWhatWasDropped(t *testing.T) {
	for name, forget := range map[string]func(x *site, m *Trace, at *Transaction){
		"forgotten": func(x *site, m *Trace, at *Transaction) { x.nodes[1].s.Forget(m, at) },
		"asked":     func(x *site, m *Trace, at *Transaction) { x.nodes[0].s.Forget(m, at) },
		"person":    func(x *site, m *Trace, at *Transaction) { x.nodes[1].s.ForgetPerson(Sender, at.Sender) },
	} {
		for peers := 1; peers <= 2; peers++ { // copies that the other node counted
			x := newSite(t, 2, 1)
			a, b := x.nodes[0], x.nodes[1]
			m, at := traceOf(newWriter(1).text(60)), from(1)
			at.Time, at.Sender = x.now, "somebody@example.com"
			x.countAt(a, 1, 100)
			x.quiet()
			b.s.Count(m, at)
			b.s.opts.Limit = 1
			x.countAt(b, 2, 2)
			b.s.opts.Limit = 0
			x.quiet()
			for i := 1; i < peers; i++ {
				x.countAt(a, 1, 100+i)
			}
			a.s.mu.Lock()
			for h := range a.s.memory.top {
				if a.s.memory.at(h).state != vacant {
					a.s.sayPart(a.s.memory.cluster(h))
				}
			}
			a.s.mu.Unlock()
			x.quiet()
			x.same()
			forget(x, m, at)
			x.quiet()
			x.same()
			if c := a.s.Stats().Clusters; c != 2 {
				t.Errorf("%s, %d copies: %d clusters", name, peers, c)
			}
		}
	}
}

// The messages of a cluster that people drop elsewhere are forgotten, though an edge that leads from it comes along.
func TestMessagesOfWhatWasDroppedElsewhere(t *testing.T) {
	for _, turned := range []bool{false, true} {
		x, told := solosOf(t, 1)
		b := x.nodes[1]
		b.Apply(told, false)
		x.countAt(b, 7, 1000)
		own := b.x.number(b.s.lastSeq - 1)
		if own&(1<<seqBits-1) == 0 || len(b.s.messages) != 1 {
			t.Fatalf("number %x, %d messages", own, len(b.s.messages))
		}
		all := []Entry{
			{Key{own, 77, KindDrop}, 9, forever, []byte{valueVersion}}, x.edgeOf(Key{Item: own}, told[0].Key),
		}
		if turned {
			slices.Reverse(all)
		}
		b.Apply(all, false)
		if n := len(b.s.messages); n != 0 || b.s.Stats().Clusters != 1 {
			t.Errorf("turned %v: %d messages are left, and %d clusters", turned, n, b.s.Stats().Clusters)
		}
	}
}

// What others counted into a cluster stays where the message that it was alone of is forgotten in the same breath, whichever
// is told first.
func TestForgottenWhileOthersCount(t *testing.T) {
	for _, turned := range []bool{false, true} {
		x := newSite(t, 2, 1)
		a, b := x.nodes[0], x.nodes[1]
		m, at := traceOf(newWriter(1).text(60)), from(1)
		at.Time = x.now
		b.s.Count(m, at)
		x.quiet()
		x.countAt(a, 1, 2)
		a.s.Forget(m, at)
		told := a.Changes(10)
		if len(told) != 2 || told[0].Kind != KindPart || told[1].Kind != KindTake {
			t.Fatalf("told: %+v", told)
		}
		if turned {
			slices.Reverse(told)
		}
		b.Apply(told, false)
		x.quiet()
		x.same()
		for i, n := range x.nodes {
			if ev := n.s.Judge(m, at); ev.Copies != 2 || ev.Known {
				t.Errorf("turned %v: node %d judges %+v", turned, i, ev)
			}
		}
	}
}

// A node that gets no mail keeps nothing of others longer than the window, in memory or in the file, but what people labelled.
func TestOthersExpireWithoutMail(t *testing.T) {
	x := newSite(t, 2, 1)
	a, b := x.nodes[0], x.nodes[1]
	for i := range 20 {
		x.countAt(a, uint64(i), i)
		x.countAt(a, uint64(i/2), 100+i)
	}
	at := from(1000)
	at.Time = x.now
	a.s.Train(traceOf(newWriter(99).text(60)), at, Spam)
	x.quiet()
	if n := b.s.Stats().Clusters; n != 21 {
		t.Fatalf("%d clusters", n)
	}
	x.now = x.now.Add(6 * 24 * time.Hour)
	b.Sweep()
	if n := b.s.Stats().Clusters; n != 21 {
		t.Errorf("%d clusters after six days", n)
	}
	x.now = x.now.Add(2 * 24 * time.Hour)
	for range 2 {
		b.Sweep()
		if n := b.s.Stats().Clusters; n != 1 {
			t.Errorf("%d clusters after the window, want the one that is labelled", n)
		}
		x.reopen(b)
	}
}
