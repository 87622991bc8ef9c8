package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/cespare/xxhash/v2"
	"go.etcd.io/bbolt"
)

// octetsOf is the index as a snapshot has it.
func octetsOf(t testing.TB, m *memory) []byte {
	t.Helper()
	var b bytes.Buffer
	c := &carrier{w: &b}
	if m.carry(c); c.err != nil {
		t.Fatal(c.err)
	}
	return b.Bytes()
}

// aSnapshot leaves a store with a snapshot, and returns what its memory was and two texts that it knows: of a campaign and of one
// message. It has of everything: campaigns, attachments, labels, a name, what was merged away, and places of what was forgotten.
func aSnapshot(t testing.TB, path string) (index []byte, texts [2][]string) {
	t.Helper()
	s := open(t, path, Options{Key: []byte("a key for tests, and a long one.")})
	w := newWriter(90)
	for i := range texts {
		texts[i] = w.text(100)
	}
	s.Count(traceOf(texts[1]), from(0))
	for i := range 40 {
		s.Count(traceOf(w.text(100)), from(100+i))
		s.Count(traceOf(w.changed(texts[0], 0.05)), from(200+i))
		s.Count(withFiles(w.text(9), file(5, 3000, 0.02, uint64(i))), from(300+i))
	}
	lone := traceOf(w.text(100))
	s.Count(lone, from(400))
	name := "a name"
	if _, err := s.Label(s.Judge(traceOf(texts[0]), from(900)).Cluster, Spam, &name); err != nil {
		t.Fatal(err)
	}
	s.Train(traceOf(w.text(100)), from(500), Ham)
	s.Forget(lone, from(400))
	if err := errors.Join(s.Sync(), os.Chmod(path, 0o640)); err != nil {
		t.Fatal(err)
	}
	index = octetsOf(t, &s.memory)
	if len(s.memory.free) == 0 || s.memory.live < 40 {
		t.Fatalf("%d clusters, %d places of none", s.memory.live, len(s.memory.free))
	}
	if err := s.close(0); err != nil {
		t.Fatal(err)
	}
	return index, texts
}

// knows says what a store says of texts that aSnapshot counted.
func knows(s *Store, texts [2][]string) (out [2]Evidence) {
	for i := range texts {
		out[i] = s.Judge(traceOf(texts[i]), from(900))
	}
	return out
}

// cooled are the campaigns of a store, with their heat rounded: the records' one is a sum in another order.
func cooled(s *Store) []Campaign {
	all := s.Campaigns(Biggest, 0)
	for i := range all {
		all[i].Heat = math.Round(100 * all[i].Heat)
	}
	return all
}

// TestSnapshot: the index is read as it was, to the octet, and what it says is what the records say; the pages of the database
// are sound, and its free ones are known.
func TestSnapshot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	index, texts := aSnapshot(t, path)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	meta, err := newestMeta(bytes.NewReader(data))
	if err != nil || binary.LittleEndian.Uint64(meta[32:]) == noFreelist {
		t.Errorf("the free pages are not in the file: %v", err)
	}
	if err := checkPages(bytes.NewReader(data), int64(len(data))); err != nil {
		t.Error(err)
	}
	plain := filepath.Join(t.TempDir(), "spamsim.db")
	write(t, plain, data)
	s, read := open(t, path, Options{}), open(t, plain, Options{})
	defer read.Close()
	if !bytes.Equal(octetsOf(t, &s.memory), index) {
		t.Error("the index is another one than before")
	}
	if bytes.Equal(octetsOf(t, &read.memory), index) {
		t.Error("an index that was made of the records has the same free places")
	}
	if a, b := knows(s, texts), knows(read, texts); a != b || !a[0].Member || !a[1].Member || a[0].Label != Spam {
		t.Errorf("%+v\nby the records %+v", a, b)
	}
	if a, b := cooled(s), cooled(read); len(a) < 2 || !reflect.DeepEqual(a, b) {
		t.Errorf("%+v\nby the records %+v", a, b)
	}
	if !reflect.DeepEqual(s.messages, read.messages) || !reflect.DeepEqual(s.moved, read.moved) || s.lastSeq != read.lastSeq {
		t.Error("messages or moved clusters differ from the records")
	}
	if _, err := os.Stat(path + snapshotSuffix); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the snapshot is still there: %v", err)
	}
	s.Count(traceOf(texts[1]), from(901))
	if err := s.close(0); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, Options{})
	defer s.Close()
	if ev := s.Judge(traceOf(texts[1]), from(902)); ev.Copies != 3 {
		t.Errorf("%d copies after the second snapshot", ev.Copies)
	}
}

// TestSnapshotToRead: whoever only reads uses the snapshot and leaves it.
func TestSnapshotToRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	index, texts := aSnapshot(t, path)
	if info, err := os.Stat(path + snapshotSuffix); err != nil || info.Mode() != 0o640 {
		t.Errorf("the mode is %v, not that of the store: %v", info.Mode(), err)
	}
	for range 2 {
		s := open(t, path, Options{ReadOnly: true})
		if got := octetsOf(t, &s.memory); !bytes.Equal(got, index) || !knows(s, texts)[1].Member {
			t.Error("the snapshot is not what was read")
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNoSnapshotOfFew: a small store is one file.
func TestNoSnapshotOfFew(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	aStore(t, path)
	if found, _ := filepath.Glob(path + "*"); len(found) != 1 {
		t.Errorf("%q", found)
	}
}

// TestSnapshotOfAnotherState: a snapshot is not used once the database has changed, or beside another database, and nobody is
// told.
func TestSnapshotOfAnotherState(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path string){
		"changed since": func(t *testing.T, path string) {
			edit(t, path, func(tx *bbolt.Tx) error { return tx.Bucket(bucketMeta).Put([]byte("else"), nil) })
		},
		"another mark": func(t *testing.T, path string) {
			kept, err := os.ReadFile(path + snapshotSuffix)
			if err != nil {
				t.Fatal(err)
			}
			kept[len(snapshotMagic)]++
			write(t, path+snapshotSuffix, kept)
		},
		"no mark": func(t *testing.T, path string) {
			edit(t, path, func(tx *bbolt.Tx) error { return tx.Bucket(bucketMeta).Delete(keySnapshot) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "spamsim.db")
			index, texts := aSnapshot(t, path)
			change(t, path)
			s := open(t, path, Options{OnError: func(err error) { t.Error(err) }})
			defer s.Close()
			if bytes.Equal(octetsOf(t, &s.memory), index) {
				t.Error("the snapshot was used")
			}
			if got := knows(s, texts); !got[0].Member || !got[1].Member {
				t.Errorf("%+v", got)
			}
		})
	}
}

// spread20 are some twenty places from one to another.
func spread20(from, to int) (out []int) {
	for at := from; at < to; at += max(1, to/20) {
		out = append(out, at)
	}
	return out
}

// TestDamagedSnapshot: where one octet is another, or some are missing, the records are read, and somebody is told.
func TestDamagedSnapshot(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	_, texts := aSnapshot(t, path)
	sound, err := os.ReadFile(path + snapshotSuffix)
	if err != nil {
		t.Fatal(err)
	}
	whole := open(t, path, Options{ReadOnly: true})
	defer whole.Close()
	head := len(snapshotMagic) + snapshotMark + 8
	mustTell := func(what string, data []byte) {
		t.Helper()
		write(t, path+snapshotSuffix, data)
		told := 0
		s := open(t, path, Options{ReadOnly: true, OnError: func(err error) {
			if told++; !errors.Is(err, errSnapshot) {
				t.Errorf("%s: %v", what, err)
			}
		}})
		defer s.Close()
		if got := knows(s, texts); !got[0].Member || !got[1].Member || got[0].Copies != 41 || told != 1 {
			t.Errorf("%s: told %d times, %+v", what, told, got)
		}
		if !reflect.DeepEqual(s.messages, whole.messages) {
			t.Errorf("%s: %d messages, want %d, the same", what, len(s.messages), len(whole.messages))
		}
	}
	aMessage := len(sound) - sumSize - 8 - 12 // nothing was merged away: behind the messages is but that count
	for _, at := range append(spread20(head, len(sound)), aMessage) {
		data := bytes.Clone(sound)
		data[at] ^= 0x80
		mustTell("an octet", data)
	}
	for _, n := range []int{head, head + 8, len(sound) / 2, len(sound) - 1} {
		mustTell("cut", sound[:n])
	}
	mustTell("longer", append(bytes.Clone(sound), 0))
}

// TestSnapshotCannotBeWritten: where there is something in its place, the store is closed as well, and opened again; somebody is
// told each time.
func TestSnapshotCannotBeWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	_, texts := aSnapshot(t, path)
	if err := errors.Join(os.Remove(path+snapshotSuffix), os.MkdirAll(path+snapshotSuffix+"/folder", 0o700)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		told := 0
		s := open(t, path, Options{OnError: func(error) { told++ }})
		if got := knows(s, texts); !got[0].Member || !got[1].Member {
			t.Errorf("%+v", got)
		}
		if err := s.close(0); err != nil || told < 2 {
			t.Errorf("closed with %v, told %d times", err, told)
		}
	}
}

// TestSnapshotIsMadeAnew: a link in its place, which whoever owns the folder can make, leads nowhere.
func TestSnapshotIsMadeAnew(t *testing.T) {
	path, victim := filepath.Join(t.TempDir(), "spamsim.db"), filepath.Join(t.TempDir(), "victim")
	aSnapshot(t, path)
	write(t, victim, []byte("precious"))
	s := open(t, path, Options{})
	if err := os.Symlink(victim, path+snapshotSuffix); err != nil {
		t.Fatal(err)
	}
	if err := s.close(0); err != nil {
		t.Fatal(err)
	}
	if kept, err := os.ReadFile(victim); string(kept) != "precious" {
		t.Errorf("%d octets, %v", len(kept), err)
	}
	if info, err := os.Lstat(path + snapshotSuffix); err != nil || !info.Mode().IsRegular() {
		t.Errorf("%v, %v", info, err)
	}
}

// TestSnapshotFormat: whoever changes what a snapshot looks like gives it another magic, else one that was made before would be
// read as what it is not.
func TestSnapshotFormat(t *testing.T) {
	m := &memory{top: 1, free: []uint32{2}, vacated: []uint32{3, 4}, live: 5, many: 6}
	m.slab = []*[slabSize]solo{{{
		seq: 7, nilsimsa: [4]uint64{8, 9, 10, 11}, simhash: 12, sender: 13, place: 14, last: 15, tau: 16, whole: [2]uint16{17, 18},
		nets: 19, rcpts: 20, state: alone,
	}}}
	m.grown = []*cluster{nil, {seq: 21, heat: 22, copies: 23, elements: pack(nil, []element{{24, 25, 26, 27}})}}
	m.handles[28].slots, m.handles[28].used = []uint32{29, 30}, 31
	m.ids = arena{pages: []*[pageSize]byte{{32}}, top: 33, free: []uint32{34}}
	m.post.lists.arena = arena{pages: []*[pageSize]byte{{35}}, top: 36}
	m.post.shards[37] = shard{octets: []byte{38, 39}, used: 40}
	l := &m.post.lists
	for at, i := l.pair(41, 42), uint32(0); i < 60; i++ {
		at = l.add(at, 43+i*i*i)
	}
	index := appendIDs(octetsOf(t, m), []uint32{44, 45, 1 << 20}, []uint32{46})
	const want = 0x689b94856453b86f
	if got := xxhash.Sum64(index); got != want || snapshotMagic != "spamsim snapshot 2\n" {
		t.Errorf("a snapshot is %#x, with %q", got, snapshotMagic)
	}
}

// FuzzSnapshot: no octets end the process, and none that follow the head of a snapshot pass for one without its sum.
func FuzzSnapshot(f *testing.F) {
	path := filepath.Join(f.TempDir(), "spamsim.db")
	aSnapshot(f, path)
	sound, err := os.ReadFile(path + snapshotSuffix)
	if err != nil {
		f.Fatal(err)
	}
	head := len(snapshotMagic) + snapshotMark + 8
	f.Add(uint32(0), []byte{1, 2, 3})
	f.Add(uint32(200), binary.LittleEndian.AppendUint64(nil, 1<<62))
	f.Fuzz(func(t *testing.T, at uint32, patch []byte) {
		data := bytes.Clone(sound[head:])
		if n := copy(data[int(at)%len(data):], patch); n == 0 || bytes.Equal(data, sound[head:]) {
			return
		}
		s := &Store{}
		r := bytes.NewReader(data)
		c := &carrier{r: r, left: int64(len(data) - sumSize)}
		s.memory.carry(c)
		if c.left < 0 || c.err == nil && r.Len() != int(c.left)+sumSize {
			t.Fatalf("%d octets left, and %d to be read: %v", r.Len(), c.left, c.err)
		}
	})
}
