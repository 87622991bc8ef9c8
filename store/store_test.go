package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// campaign counts n copies of one text, each with 5 % of its words changed, among as many unrelated messages.
func campaign(t *testing.T, s *Store, n int) (last Evidence, text []string) {
	t.Helper()
	w := newWriter(1)
	text = w.text(150)
	for i := range n {
		if ev := s.Count(traceOf(w.text(120)), from(1000+i)); ev.Member {
			t.Fatalf("unrelated message %d joined a cluster of %d: %+v", i, ev.Copies, ev)
		}
		last = s.Count(traceOf(w.changed(text, 0.05)), from(i))
		if last.Copies != i+1 && i > 0 {
			t.Fatalf("copy %d: %+v", i+1, last)
		}
	}
	return last, text
}

func TestCampaign(t *testing.T) {
	s := scratchStore(t)
	ev, _ := campaign(t, s, 6)
	if !ev.Member || ev.Sigma < 3 || ev.Senders.N != 6 || ev.Nets.N != 6 || ev.Rcpts.N != 6 || ev.Senders.Approx {
		t.Errorf("sixth copy: %+v", ev)
	}
	if st := s.Stats(); st.Clusters != 7 || st.Campaigns != 1 || st.Messages != 12 {
		t.Errorf("stats: %+v", st)
	}
}

// TestLongCampaign: a campaign of many copies stays one, also where the octets that count its members are full.
func TestLongCampaign(t *testing.T) {
	s := scratchStore(t)
	text := newWriter(4).text(120)
	for i := range 600 {
		if ev := s.Count(traceOf(text), from(i)); i > 0 && (ev.Copies != i+1 || ev.InCore < 0.99) {
			t.Fatalf("copy %d: %+v", i+1, ev)
		}
	}
}

func TestJudgeLeavesNoTrace(t *testing.T) {
	s := scratchStore(t)
	_, text := campaign(t, s, 4)
	before := s.Stats()
	for i := range 3 {
		if ev := s.Judge(traceOf(text), from(50+i)); ev.Copies != 5 || !ev.Member {
			t.Fatalf("judged: %+v", ev)
		}
	}
	if after := s.Stats(); after != before {
		t.Errorf("%+v became %+v", before, after)
	}
}

func TestRetryCountsOnce(t *testing.T) {
	s := scratchStore(t)
	_, text := campaign(t, s, 4)
	first := s.Count(traceOf(text), from(60))
	again := s.Count(traceOf(text), from(60))
	if first.Copies != 5 || again.Copies != 5 || !again.Known || !again.Member || again.Senders.N != 5 {
		t.Errorf("first %+v, again %+v", first, again)
	}
}

func TestShortAbstains(t *testing.T) {
	s := scratchStore(t)
	if ev := s.Count(traceOf([]string{"thank", "you"}), from(1)); ev.Abstain != "short" {
		t.Errorf("%+v", ev)
	}
	if st := s.Stats(); st.Messages != 0 {
		t.Errorf("%+v", st)
	}
}

func TestReopen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	s := open(t, path, Options{})
	before, text := campaign(t, s, 5)
	if out := s.Train(traceOf(text), from(70), Ham); !out.Done {
		t.Fatalf("%+v", out)
	}
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "copy.db") // what a killed process leaves
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(copied, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, copied} {
		s := open(t, file, Options{})
		ev := s.Judge(traceOf(text), from(80))
		if ev.Cluster != before.Cluster || ev.Copies != 7 || ev.Label != Ham || ev.Senders.N != 7 {
			t.Errorf("%s: %+v, before %+v", filepath.Base(file), ev, before)
		}
		if known := s.Judge(traceOf(text), from(70)); !known.Known {
			t.Errorf("%s: the trained message is forgotten", filepath.Base(file))
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text")
	if err := os.WriteFile(text, []byte(strings.Repeat("no database\n", 2000)), 0o600); err != nil {
		t.Fatal(err)
	}
	other, later, bare := filepath.Join(dir, "other"), filepath.Join(dir, "later"), filepath.Join(dir, "bare")
	for path, format := range map[string]string{other: "", later: "spamsim store 6", bare: "spamsim store 5"} {
		db, err := bbolt.Open(path, 0o600, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = db.Update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists(bucketMeta)
			if err != nil || format == "" {
				return err
			}
			return b.Put(keyFormat, []byte(format))
		})
		if err := errors.Join(err, db.Close()); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]error{text: ErrForeign, other: ErrForeign, bare: ErrForeign, later: ErrVersion} {
		before, _ := os.ReadFile(path)
		if _, err := Open(path, Options{}); !errors.Is(err, want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v, want %v", filepath.Base(path), err, want)
		}
		if after, _ := os.ReadFile(path); string(after) != string(before) {
			t.Errorf("%s was changed", filepath.Base(path))
		}
	}
}

func TestInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	s := open(t, path, Options{})
	defer s.Close()
	if _, err := Open(path, Options{Timeout: time.Millisecond}); !errors.Is(err, ErrInUse) {
		t.Errorf("second open: %v", err)
	}
}

func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	empty := open(t, path, Options{ReadOnly: true})
	if ev := empty.Judge(traceOf(newWriter(3).text(50)), from(1)); ev.Member {
		t.Errorf("empty store: %+v", ev)
	}
	if err := empty.Close(); err != nil {
		t.Error(err)
	}
	s := open(t, path, Options{})
	_, text := campaign(t, s, 3)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	r := open(t, path, Options{ReadOnly: true})
	if ev := r.Judge(traceOf(text), from(9)); ev.Copies != 4 {
		t.Errorf("%+v", ev)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

func TestFailedCommitIsTriedAgain(t *testing.T) {
	told := make(chan error, 100)
	path := filepath.Join(t.TempDir(), "spamsim.db")
	s := open(t, path, Options{OnError: func(err error) {
		select {
		case told <- err:
		default:
		}
	}})
	closed, err := bbolt.Open(filepath.Join(t.TempDir(), "closed.db"), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	close(s.commits.stop) // the test commits by itself
	<-s.commits.ended
	w := newWriter(5)
	text := w.text(100)
	s.Count(traceOf(text), from(1))
	if err := s.commits.write(s, closed.Update, true); err == nil {
		t.Fatal("a closed database took a commit")
	}
	if <-told == nil || s.Stats().Failures == 0 {
		t.Error("nobody was told")
	}
	if err := s.commits.commit(s); err != nil {
		t.Fatal(err)
	}
	if err := s.db.Load().Close(); err != nil {
		t.Fatal(err)
	}
	r := open(t, path, Options{})
	defer r.Close()
	if ev := r.Judge(traceOf(text), from(2)); !ev.Member {
		t.Errorf("what could not be written at first is gone: %+v", ev)
	}
}

// TestMigrate: a store of a format before is read and rewritten; what it knew of texts it still knows.
func TestMigrate(t *testing.T) {
	for version, old := range map[string]func([]byte) []byte{"1": firstRecord, "2": secondRecord, "3": thirdRecord, "4": fourthRecord} {
		t.Run(version, func(t *testing.T) { migrates(t, version, old) })
	}
}

// fourthRecord is a record of a text as version 4 had it: with the counts of each element between its id and weight.
func fourthRecord(v []byte) []byte {
	old := append([]byte{recordOfCounts}, v[1:elementsAt-3]...)
	old = append(old, v[elementsAt-2:elementsAt]...)
	for i := range sketchSize {
		e := v[elementsAt+elementSize*i:]
		old = append(append(old, e[:4]...), 1, 1, e[4])
	}
	return append(old, v[elementsAt+elementSize*sketchSize:]...)
}

// elementsBefore is where a record's elements began up to version 4.
const elementsBefore = elementsAt - 1

// thirdRecord is one of version 3: with ids of 32 bits, of which today's are the high ones.
func thirdRecord(v []byte) []byte {
	old := fourthRecord(v)
	old[0] = recordOfLongIDs
	for i := range sketchSize {
		id := old[elementsBefore+elementBefore*i:]
		long := binary.LittleEndian.Uint32(id)<<(32-idBits) | uint32(i)%(1<<(32-idBits))&^octetBit
		binary.LittleEndian.PutUint32(id, long)
	}
	return old
}

// secondRecord is one of version 2: without a name.
func secondRecord(v []byte) []byte {
	v = thirdRecord(v)
	name := len(v) - len("something") - 1
	return append([]byte{recordWithoutName}, append(bytes.Clone(v[1:name]), v[name+1:]...)...)
}

// firstRecord is one of version 1: the lowest bit of an id says nothing.
func firstRecord(v []byte) []byte {
	old := secondRecord(v)
	old[0] = recordWithoutBit
	for i := range sketchSize / 2 {
		old[elementsBefore+elementBefore*2*i] |= octetBit
	}
	return old
}

func migrates(t *testing.T, version string, old func([]byte) []byte) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	s := open(t, path, Options{})
	words := newWriter(61).text(100)
	s.Count(traceOf(words), from(1))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	edit(t, path, func(tx *bbolt.Tx) error {
		clusters := tx.Bucket(bucketClusters)
		k, v := clusters.Cursor().First()
		return errors.Join(clusters.Put(bytes.Clone(k), old(v)), tx.Bucket(bucketMeta).Put(keyFormat, []byte(formatName+version)))
	})
	for range 2 { // migrated, and read again
		s = open(t, path, Options{})
		if ev := s.Judge(traceOf(words), from(2)); !ev.Member || ev.InCore < 0.99 || ev.Sample != "something" {
			t.Errorf("%+v", ev)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	edit(t, path, func(tx *bbolt.Tx) error {
		if f := tx.Bucket(bucketMeta).Get(keyFormat); string(f) != formatName+formatVersion {
			t.Errorf("the format is %q", f)
		}
		if _, v := tx.Bucket(bucketClusters).Cursor().First(); v[0] != recordVersion {
			t.Errorf("a record of version %d", v[0])
		}
		return nil
	})
}

// edit does something with a store's database while no store has it open.
func edit(t *testing.T, path string, do func(*bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Update(do), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// elementsAt is where a record's elements begin.
const elementsAt = 2 + 4 + 8 + 8 + 4 + 32 + 8 + 1 + 2

// Records come in the order of their keys, and fill the pages of the file.
func TestPagesAreFilled(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "db"), Options{Background: quickBackground()})
	defer s.Close()
	w := newWriter(7)
	for part := range 6 {
		err := s.commits.between(func() error { // no commit of half of them comes between
			for i := range 50 {
				s.Count(traceOf(w.text(60)), from(50*part+i))
			}
			return s.commits.write(s, s.db.Load().Update, true)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	err := s.view(func(tx *bbolt.Tx) error {
		if of := tx.Bucket(bucketClusters).Stats(); of.LeafInuse*3 < of.LeafAlloc*2 {
			t.Errorf("records take %d octets of %d", of.LeafInuse, of.LeafAlloc)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
