package store

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"
)

// Solos of other nodes are written later than what changes; a kill between leaves a file that has none of what was said of
// them, or the solo too, so that all of it can be told again.
func TestKilledBeforeSolosAreWritten(t *testing.T) {
	x := newSite(t, 1, 1)
	message := func(i int) (*Trace, *Transaction) {
		at := from(i)
		at.Time = x.now
		return traceOf(newWriter(uint64(i)).text(60)), at
	}
	for i := range 20 {
		x.nodes[0].s.Count(message(i))
	}
	parts := x.nodes[0].Changes(1000)
	for i := range 10 {
		m, at := message(i)
		x.nodes[0].s.Train(m, at, Spam)
	}
	all := append(parts, x.nodes[0].Changes(1000)...)

	b := &siteNode{path: filepath.Join(t.TempDir(), "db")}
	b.s = open(t, b.path, Options{Key: []byte("a key for tests"), Background: quickBackground()})
	x.share(b, "b")
	if err := b.s.Sync(); err != nil {
		t.Fatal(err)
	}
	close(b.s.commits.stop) // the test commits by itself
	<-b.s.commits.ended
	b.Apply(all, false)
	if err := b.s.commits.write(b.s, b.s.db.Load().Update, false); err != nil {
		t.Fatal(err)
	}
	if n := len(b.s.changes.begun); n != 20 {
		t.Fatalf("%d solos wait", n)
	}
	file, err := os.ReadFile(b.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.s.db.Load().Close(); err != nil {
		t.Fatal(err)
	}

	killed := &siteNode{path: filepath.Join(t.TempDir(), "db")}
	if err := os.WriteFile(killed.path, file, 0o600); err != nil {
		t.Fatal(err)
	}
	killed.s = open(t, killed.path, Options{Background: quickBackground()})
	t.Cleanup(func() { killed.s.Close() })
	x.share(killed, "b")
	if n := killed.s.Stats().Clusters; n != 10 {
		t.Errorf("%d clusters were written, want those that were labelled", n)
	}
	killed.Apply(all, false)
	x.nodes = append(x.nodes, killed)
	x.same()
}

// A node that counts nothing itself keeps to its limit all the same, and to what it was told.
func TestOthersKeepToTheLimit(t *testing.T) {
	x := newSite(t, 2, 1)
	const limit = 100
	x.nodes[1].s.opts.Limit = limit
	for i := range 5 * limit {
		at := from(i)
		at.Time = x.now
		x.nodes[0].s.Count(traceOf(newWriter(uint64(i)).text(60)), at)
	}
	told := x.nodes[0].Changes(1000)
	x.nodes[1].Apply(told, false)
	if n := x.nodes[1].s.Stats().Clusters; n > limit || n < limit/2 {
		t.Errorf("%d clusters, want at most %d", n, limit)
	}
	x.nodes[1].Apply(told, false)
	if n := x.nodes[1].s.Stats().Clusters; n > limit || x.nodes[1].Digest(0) != x.nodes[0].Digest(0) {
		t.Errorf("%d clusters after it was told again", n)
	}
}

// What a commit could not write is written by the next.
func TestSolosAreWrittenAgain(t *testing.T) {
	x := newSite(t, 2, 1)
	a, b := x.nodes[0], x.nodes[1]
	at := from(1)
	at.Time = x.now
	a.s.Count(traceOf(newWriter(1).text(60)), at)
	x.quiet()
	err := b.s.commits.between(func() error {
		return b.s.commits.write(b.s, func(func(*bbolt.Tx) error) error { return ErrClosed }, true)
	})
	if !errors.Is(err, ErrClosed) {
		t.Errorf("a commit that is refused: %v", err)
	}
	x.reopen(b)
	x.same()
	if n := b.s.Stats().Clusters; n != 1 {
		t.Errorf("%d clusters", n)
	}
}

// What is there again while the commit that takes it out is under way is written by the next.
func TestBegunAgainAmidCommit(t *testing.T) {
	x, told := solosOf(t, 1)
	b := x.nodes[1]
	b.Apply(told, false)
	gone, again := told[0], told[0]
	gone.Stamp, gone.Value = told[0].Stamp+1, nil
	again.Stamp = told[0].Stamp + 2
	err := b.s.commits.between(func() error {
		b.Apply([]Entry{gone}, false)
		return b.s.commits.write(b.s, func(write func(*bbolt.Tx) error) error {
			b.Apply([]Entry{again}, false)
			return b.s.db.Load().Update(write)
		}, true)
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.s.close(fewToSnapshot); err != nil {
		t.Fatal(err)
	}
	b.s = open(t, b.path, Options{Background: quickBackground(), OnError: func(err error) { t.Error(err) }})
	x.share(b, "b")
	if e := b.Entries([]Key{told[0].Key}); len(e) != 1 || e[0].Value == nil || b.s.Stats().Clusters != 1 {
		t.Errorf("%+v, %d clusters", e, b.s.Stats().Clusters)
	}
}
