package store

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"
)

// holds tells whether the store's file has a hash in a value or a key of any bucket.
func holds(t *testing.T, s *Store, hash uint64) bool {
	t.Helper()
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	want, found := binary.LittleEndian.AppendUint64(nil, hash), false
	err := s.view(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(k, v []byte) error {
				found = found || bytes.Contains(v, want) || bytes.Contains(k, want)
				return nil
			})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// sharing counts five copies of a campaign: the first and the third of one sender, each to a recipient of its own and the
// fourth to the recipient of the first too.
func sharing(t *testing.T, s *Store) (text []string, cluster string) {
	t.Helper()
	w := newWriter(21)
	text = w.text(120)
	for n := range 5 {
		x := from(n)
		switch n {
		case 2:
			x.Sender = from(0).Sender
		case 3:
			x.Recipients = append(x.Recipients, from(0).Recipients[0])
		}
		cluster = s.Count(traceOf(w.changed(text, 0.02)), x).Cluster
	}
	return text, cluster
}

// forgets is ForgetPerson where the file can be read.
func forgets(t *testing.T, s *Store, as Role, address string) Forgotten {
	t.Helper()
	out, err := s.ForgetPerson(as, address)
	if err != nil {
		t.Error(err)
	}
	return out
}

// TestForgetSender: both messages of the sender are gone from the counts, and nothing in the file knows the sender, those
// messages, or a recipient of theirs that is not one of another message too; the subject was of the first.
func TestForgetSender(t *testing.T) {
	path := filepath.Join(t.TempDir(), "db")
	s := open(t, path, Options{Key: []byte("k")})
	text, cluster := sharing(t, s)
	gone := []uint64{s.sender(from(0).Sender), s.hash(from(0).Message), s.hash(from(2).Message), s.hash(from(0).Network), s.hash(from(2).Recipients[0])}
	if !holds(t, s, gone[0]) || !holds(t, s, gone[1]) {
		t.Fatal("the file has no such hash to begin with")
	}
	if d := cmp.Diff(Forgotten{Messages: 2, Clusters: 1, Subjects: 1}, forgets(t, s, Sender, from(0).Sender)); d != "" {
		t.Error(d)
	}
	for i, h := range gone {
		if holds(t, s, h) {
			t.Errorf("hash %d is still in the file", i)
		}
	}
	check := func(s *Store) {
		t.Helper()
		ev := s.Judge(traceOf(text), from(100))
		if ev.Cluster != cluster || ev.Copies != 4 || ev.Senders.N != 4 || ev.Nets.N != 4 || ev.Rcpts.N != 5 || ev.Sample != "" {
			t.Errorf("the next copy: %+v", ev)
		}
	}
	check(s)
	if again := forgets(t, s, Sender, from(0).Sender); again != (Forgotten{}) {
		t.Errorf("again: %+v", again)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, Options{})
	defer s.Close()
	check(s)
}

// TestForgetRecipient: the message that went to the recipient alone is taken back, the one that went to another too stays
// counted.
func TestForgetRecipient(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"), Options{Key: []byte("k")})
	defer s.Close()
	text, _ := sharing(t, s)
	if d := cmp.Diff(Forgotten{Messages: 1, Spared: 1, Clusters: 1, Subjects: 1}, forgets(t, s, Recipient, from(0).Recipients[0])); d != "" {
		t.Error(d)
	}
	if holds(t, s, s.hash(from(0).Recipients[0])) || holds(t, s, s.hash(from(0).Message)) || !holds(t, s, s.hash(from(3).Message)) {
		t.Error("the wrong hashes are left")
	}
	if ev := s.Judge(traceOf(text), from(100)); ev.Copies != 5 || ev.Senders.N != 5 || ev.Rcpts.N != 5 {
		t.Errorf("the next copy: %+v", ev)
	}
	if ev := s.Count(traceOf(text), from(3)); !ev.Known {
		t.Errorf("a retry of the message that stayed: %+v", ev)
	}
}

// TestForgetLastCopy: a cluster of which nothing is left goes, though people labelled it.
func TestForgetLastCopy(t *testing.T) {
	s := scratchStore(t)
	text := newWriter(22).text(100)
	s.Train(traceOf(text), from(1), Spam)
	if d := cmp.Diff(Forgotten{Messages: 1, Clusters: 1, Dropped: 1}, forgets(t, s, Recipient, from(1).Recipients[0])); d != "" {
		t.Error(d)
	}
	if s.Stats() != (Stats{}) {
		t.Errorf("left: %+v", s.Stats())
	}
	if got := forgets(t, s, Sender, ""); got != (Forgotten{}) {
		t.Errorf("nobody: %+v", got)
	}
}

// TestForgetExpired: a hash that a count still has though its message expired goes too.
func TestForgetExpired(t *testing.T) {
	s := open(t, "", Options{Key: []byte("k"), Window: time.Hour})
	text := newWriter(23).text(100)
	w := newWriter(24)
	for n := range 4 { // the cluster lives on, its first message does not
		x := from(n)
		x.Time = start.Add(time.Duration(n) * 50 * time.Minute)
		s.Count(traceOf(w.changed(text, 0.02)), x)
	}
	key := s.hash(from(0).Sender)
	err := s.eachDelivery(func(_ uint64, d *delivery) {
		if d.sender == key {
			t.Error("the first message did not expire")
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(Forgotten{Clusters: 1}, forgets(t, s, Sender, from(0).Sender)); d != "" {
		t.Error(d)
	}
	if ev := s.Judge(traceOf(text), &Transaction{Message: "m", Sender: "new@example.com", Time: start.Add(151 * time.Minute)}); ev.Copies != 5 || ev.Senders.N != 4 {
		t.Errorf("the next copy: %+v", ev)
	}
}

// TestForgetOfMany: beyond 64 senders only a number is kept, and that is lowered.
func TestForgetOfMany(t *testing.T) {
	s := scratchStore(t)
	text := newWriter(25).text(100)
	w := newWriter(26)
	for n := range 70 {
		s.Count(traceOf(w.changed(text, 0.02)), from(n))
	}
	for n := range 10 { // the first in the count, the last beyond it
		forgets(t, s, Sender, from(n*7).Sender)
	}
	forgets(t, s, Sender, from(69).Sender)
	if ev := s.Judge(traceOf(text), from(100)); ev.Copies != 60 || ev.Senders.N != 60 {
		t.Errorf("the next copy: %+v", ev)
	}
}

// TestForgetOfSingle: a message that nothing resembled, whose hashes are in the file alone, loses a recipient, and then goes
// with its sender; another of the same sender that came since goes with it, on disk or not.
func TestForgetOfSingle(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"), Options{Key: []byte("k")})
	defer s.Close()
	w := newWriter(27)
	text, x := w.text(100), from(1)
	x.Recipients = append(x.Recipients, "second@example.net")
	s.Count(traceOf(text), x)
	key := s.hash(from(1).Recipients[0])
	if !holds(t, s, key) {
		t.Fatal("the file has no such hash to begin with")
	}
	if d := cmp.Diff(Forgotten{Spared: 1, Clusters: 1}, forgets(t, s, Recipient, from(1).Recipients[0])); d != "" {
		t.Error(d)
	}
	if holds(t, s, key) {
		t.Error("the hash is still in the file")
	}
	if ev := s.Judge(traceOf(text), from(2)); ev.Copies != 2 || ev.Rcpts.N != 2 || ev.Senders.N != 2 {
		t.Errorf("the next copy: %+v", ev)
	}
	y := from(3)
	y.Sender = x.Sender
	s.Count(traceOf(w.text(100)), y)
	if d := cmp.Diff(Forgotten{Messages: 2, Clusters: 2, Dropped: 2}, forgets(t, s, Sender, x.Sender)); d != "" {
		t.Error(d)
	}
	if st := s.Stats(); st.Clusters != 0 || st.Messages != 0 || holds(t, s, s.hash(x.Sender)) {
		t.Errorf("left: %+v", st)
	}
}
