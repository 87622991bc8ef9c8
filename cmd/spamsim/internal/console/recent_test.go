package console

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"spamsim/milter/filter"
	"spamsim/store"
)

// noter notes messages one second apart.
type noter struct {
	*Recent
	at time.Time
}

func newNoter(texts bool) *noter {
	n := &noter{at: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
	n.Recent = NewRecent(func() time.Time { return n.at }, texts)
	return n
}

func (n *noter) note(id, cluster string, copies int, raw []byte) {
	kind := filter.Clean
	if copies >= 5 {
		kind = filter.Bulk
	}
	n.Note(Judged{Envelope: &filter.Envelope{Door: "smtp"}, Verdict: &filter.Verdict{Kind: kind, Cluster: cluster, Copies: copies, Sigma: 4, Judged: true}, MessageID: id, Raw: raw})
}

// TestRecentIsBounded notes more than is kept of everything.
func TestRecentIsBounded(t *testing.T) {
	n := newNoter(true)
	big := bytes.Repeat([]byte("x"), maxCopy)
	for i := range maxVerdicts + 500 {
		n.note(fmt.Sprintf("<%d@x>", i), fmt.Sprintf("c%d", i%3), 6, []byte("small"))
	}
	if len(n.entries) != maxVerdicts || len(n.find("499@x", 9)) != 0 || len(n.find("<500@x>", 9)) != 1 {
		t.Errorf("%d entries; the oldest that is left is not 500", len(n.entries))
	}
	if got := n.ofCampaign("c0"); len(got) != maxCopies || got[0].entry.MessageID != "10497@x" {
		t.Errorf("%d copies, the newest %q", len(got), got[0].entry.MessageID)
	}
	for i := range 2 * maxCopyOctets / maxCopy {
		n.note("", fmt.Sprintf("d%d", i), 6, big)
	}
	if n.octets > maxCopyOctets || n.octets < maxCopyOctets/2 {
		t.Errorf("%d octets are kept", n.octets)
	}
	sum := 0
	for _, k := range n.copies {
		sum += len(k.raw)
	}
	if sum != n.octets {
		t.Errorf("%d octets are kept, %d were counted", sum, n.octets)
	}
	n.note("", "e", 6, append(big, 'x'))
	n.note("", "e", 1, []byte("first copy"))
	if got := n.ofCampaign("e"); len(got) != 0 {
		t.Errorf("too large, or no copy, and kept: %d", len(got))
	}
	for i := range 2 * maxAllCopies {
		n.note("", fmt.Sprintf("f%d", i), 2, []byte("s"))
	}
	if len(n.copies) != maxAllCopies {
		t.Errorf("%d copies are kept", len(n.copies))
	}
}

// TestTraffic counts by the minute, over a gap and past a day.
func TestTraffic(t *testing.T) {
	n := newNoter(false)
	n.note("a", "c", 5, nil)
	n.note("a", "c", 1, nil)
	n.at = n.at.Add(9 * time.Minute)
	n.note("a", "", 1, nil)
	got := n.traffic(3, 10)
	if got[2].From.Minute() != 0 || got[2].N[filter.Bulk] != 1 || got[2].N[filter.Clean] != 2 || got[1].total() != 0 {
		t.Errorf("%+v", got)
	}
	if lives := n.lives([]store.Campaign{{ID: "c"}}, 2, 5); lives["c"][0] != 2 || lives["c"][1] != 0 || len(lives) != 1 {
		t.Errorf("lives %v", lives)
	}
	n.at = n.at.Add(25 * time.Hour)
	n.note("a", "", 1, nil)
	sum := 0
	for _, c := range n.traffic(144, 10) {
		sum += c.total()
	}
	if sum != 1 {
		t.Errorf("%d messages of a day", sum)
	}
	if got := n.find("a", 9); len(got) != 0 {
		t.Error("a Message-ID was kept where none is to be")
	}
	var none *Recent
	none.Note(Judged{})
}

// TestSigmas tells bulk, would-be bulk and the rest apart.
func TestSigmas(t *testing.T) {
	n := newNoter(false)
	env := &filter.Envelope{}
	for _, v := range []filter.Verdict{
		{Kind: filter.Bulk, Sigma: 5, Judged: true}, {Kind: filter.Exempt, Would: filter.Bulk, Sigma: 4, Judged: true},
		{Kind: filter.Clean, Sigma: 1, Judged: true}, {Kind: filter.Clean}, {Kind: filter.Abstain}, {Kind: filter.Skipped},
	} {
		n.Note(Judged{Envelope: env, Verdict: &v})
	}
	if bulk, other := n.sigmas(); len(bulk) != 2 || len(other) != 2 {
		t.Errorf("bulk %v, other %v", bulk, other)
	}
}

// BenchmarkNote notes messages of 5 KB, two of three of which are copies.
func BenchmarkNote(b *testing.B) {
	n := newNoter(true)
	raw := bytes.Repeat([]byte("word "), 1000)
	b.ReportAllocs()
	for i := range b.N {
		n.note("<some.message.id@example.org>", []string{"c1", "c2", ""}[i%3], 9, raw)
	}
}
