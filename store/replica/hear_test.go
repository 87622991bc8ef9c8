package replica

import (
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	"spamsim/store"
)

// alone is a node without a broker.
func alone(t *testing.T, name string) *node {
	t.Helper()
	n := &node{name: name, key: siteKey}
	var err error
	if n.Store, err = store.Open("", store.Options{Key: n.key, Background: quickBackground()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Store.Close() })
	if n.share, err = n.Store.Share(name, n.key); err != nil {
		t.Fatal(err)
	}
	n.Replica = &Replica{share: n.share, o: Options{Name: name, Log: slog.New(slog.DiscardHandler)}, seal: newSealer(siteKey), session: 1,
		seen: map[uint32]*peer{}, missing: map[store.Key]time.Time{}}
	return n
}

// says is the batch in which a node tells what changed.
func (n *node) says(seq uint64) message {
	b := batch{origin: n.share.Node(), session: n.session, seq: seq}
	for _, e := range n.share.Changes(batchSize) {
		b.entries = append(b.entries, n.seal.entry(&e))
	}
	return message{"1-1", n.seal.batch(&b)}
}

// Of several batches the latest count of each cluster is taken in; what people said, and that clusters are one, all of it.
func TestLatestOfEachPart(t *testing.T) {
	part := func(stamp uint64) store.Entry {
		return store.Entry{Key: store.Key{Item: 1, Origin: 2, Kind: store.KindPart}, Stamp: stamp}
	}
	edge := func(stamp uint64) store.Entry {
		return store.Entry{Key: store.Key{Item: 1, Origin: 2, Kind: store.KindEdge}, Stamp: stamp}
	}
	var all gathered
	for _, e := range []store.Entry{part(2), edge(3), part(5), edge(4), part(1)} {
		all.add(e)
	}
	same := func(a, b store.Entry) bool { return a.Key == b.Key && a.Stamp == b.Stamp }
	if want := []store.Entry{part(5), edge(3), edge(4)}; !slices.EqualFunc(all.entries, want, same) {
		t.Errorf("%+v, want %+v", all.entries, want)
	}

	a, b := alone(t, "a"), alone(t, "b")
	var said []message
	for i := range 5 {
		a.count(1, i)
		said = append(said, a.says(uint64(i+1)))
	}
	if err := b.hear(said, map[[2]uint64]uint64{}); err != nil {
		t.Fatal(err)
	}
	if got := b.copies(1); got != 5 || !equal(a, b) || b.position() != "1-1" || b.Status().Received != 5 {
		t.Errorf("%d copies, position %q, %d entries", got, b.position(), b.Status().Received)
	}
}

// What came before a batch that is missing is taken in, and the session ends.
func TestGapBetweenBatches(t *testing.T) {
	a, b := alone(t, "a"), alone(t, "b")
	a.count(1, 1)
	said := []message{a.says(1)}
	a.count(2, 1)
	a.says(2)
	a.count(3, 1)
	said = append(said, a.says(3))
	err := b.hear(said, map[[2]uint64]uint64{})
	if !errors.Is(err, errGap) || b.copies(1) != 1 || b.copies(3) > 0 || b.position() != "" {
		t.Errorf("%v; %d and %d copies, position %q", err, b.copies(1), b.copies(3), b.position())
	}
	last := map[[2]uint64]uint64{}
	for range 2 { // a batch that comes again is no gap
		if err := b.hear(said[1:], last); err != nil {
			t.Error(err)
		}
	}
	if b.copies(3) != 1 {
		t.Errorf("%d copies", b.copies(3))
	}
}

// What could not be sent is sent by the next session; and what is larger than any entry is none.
func TestWhatIsNotSent(t *testing.T) {
	n := alone(t, "a")
	n.count(1, 1)
	br, err := dial("redis://127.0.0.1:1", nil) // nothing listens there
	if err != nil {
		t.Fatal(err)
	}
	defer br.close()
	told := n.share.Changes(10)
	if err := n.send(t.Context(), br, 1, told); err == nil {
		t.Error("it was sent")
	}
	if again := n.share.Changes(10); len(told) == 0 || len(again) != len(told) || n.Status().Sent != 0 {
		t.Errorf("%d entries are left of %d", len(again), len(told))
	}
	for size, want := range map[int]bool{maxEntry - entryHead - macSize: true, maxEntry - entryHead - macSize + 1: false} {
		told[0].Value = make([]byte, size)
		if _, err := readEntry(n.seal.entry(&told[0])); (err == nil) != want {
			t.Errorf("an entry of %d octets: %v", size, err)
		}
	}
}
