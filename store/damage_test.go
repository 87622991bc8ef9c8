package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

// aStore makes a store of some messages, closes it and returns its octets and a text that it knows.
func aStore(t testing.TB, path string) (data []byte, text []string) {
	t.Helper()
	s := open(t, path, Options{Key: []byte("a key for tests, and a long one.")})
	w := newWriter(90)
	text = w.text(100)
	for i := range 16 {
		s.Count(traceOf(w.text(100)), from(i))
		s.Count(traceOf(w.changed(text, 0.05)), from(1000+i))
		if err := s.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data, text
}

// rootPage is the page of the newest root.
func rootPage(t *testing.T, data []byte) []byte {
	t.Helper()
	m, err := newestMeta(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	size := uint64(binary.LittleEndian.Uint32(m[8:]))
	return data[binary.LittleEndian.Uint64(m[16:])*size:][:size]
}

// inUse is how many octets of a database are used: it grows by more than it needs.
func inUse(data []byte) int { return len(bytes.TrimRight(data, "\x00")) }

// TestDamagedIsSetAside: what is wrong with a file after an unclean stop, its name with that said, and an empty store.
func TestDamagedIsSetAside(t *testing.T) {
	for name, harm := range map[string]func([]byte) []byte{
		"both meta pages are gone": func(b []byte) []byte { clear(b[:8192]); return b },
		"cut":                      func(b []byte) []byte { return b[:(inUse(b)-1)/4096*4096] },
		"the root is gone":         func(b []byte) []byte { clear(rootPage(t, b)[:64]); return b },
		"the root is another page": func(b []byte) []byte { rootPage(t, b)[0]++; return b },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "spamsim.db")
			data, text := aStore(t, path)
			data = harm(data)
			write(t, path, data)
			write(t, path+openMark, nil)
			if _, err := Open(path, Options{}); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), path) {
				t.Fatalf("not asked to go on: %v", err)
			}
			told := ""
			s := open(t, path, Options{OnDamage: func(aside string, err error) {
				if told = aside; !errors.Is(err, ErrDamaged) {
					t.Errorf("told of %v", err)
				}
			}})
			if aside, err := os.ReadFile(told); !bytes.Equal(aside, data) || !strings.HasPrefix(told, path+".damaged-") {
				t.Errorf("%s is not what was damaged: %v", told, err)
			}
			if n := s.Stats().Clusters; n != 0 {
				t.Errorf("%d clusters in an empty store", n)
			}
			s.Count(traceOf(text), from(1))
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, path, Options{})
			defer s.Close()
			if ev := s.Judge(traceOf(text), from(2)); !ev.Member {
				t.Errorf("the new store forgot: %+v", ev)
			}
		})
	}
}

// TestDamagedAfterGoodEnd: a small file is looked through though it was closed well: a page of it may have gone bad since, and bbolt
// would end the process at it.
func TestDamagedAfterGoodEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	data, _ := aStore(t, path)
	for page := 2 * 4096; page < inUse(data); page += 4096 {
		harmed := bytes.Clone(data)
		clear(harmed[page : page+16])
		write(t, path, harmed)
		for _, o := range []Options{{}, {ReadOnly: true}} {
			if s, err := Open(path, o); err == nil {
				s.Close() // nothing leads to that page
			} else if !errors.Is(err, ErrDamaged) {
				t.Fatalf("page %d: %v", page/4096, err)
			}
		}
	}
}

// TestMarkedBeforeItIsOpened: the mark is there when bbolt begins to read, and goes where nothing came of it.
func TestMarkedBeforeItIsOpened(t *testing.T) {
	s := &Store{opts: Options{}}
	path := filepath.Join(t.TempDir(), "spamsim.db")
	aStore(t, path)
	reader := open(t, path, Options{ReadOnly: true}) // bbolt does not get beyond its lock
	if _, err := Open(path, Options{Timeout: 1}); !errors.Is(err, ErrInUse) {
		t.Fatalf("a store in use: %v", err)
	}
	if err := errors.Join(reader.Close(), os.Remove(path+openMark)); err != nil {
		t.Errorf("no mark was made before: %v", err)
	}
	unmark := s.markOpen(path)
	if _, err := os.Stat(path + openMark); err != nil {
		t.Error(err)
	}
	unmark()
	if _, err := os.Stat(path + openMark); err == nil {
		t.Error("the mark stayed")
	}
	write(t, path+openMark, nil)
	s.markOpen(path)()
	if _, err := os.Stat(path + openMark); err != nil {
		t.Errorf("that of another was taken away: %v", err)
	}
}

// TestCut: a file that was cut after it was closed well is damaged, wherever it was cut, and to read it ends no process.
func TestCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	data, _ := aStore(t, path)
	used := inUse(data)
	for octets := 8192; octets < used/4096*4096; octets += 4096 {
		write(t, path, data[:octets])
		for _, o := range []Options{{}, {ReadOnly: true}} {
			if s, err := Open(path, o); !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrForeign) {
				t.Fatalf("%d of %d octets: %v, %v", octets, used, s, err)
			}
		}
	}
	write(t, path, data[:used/4096*4096])
	if _, err := KeyOf(path); !errors.Is(err, ErrDamaged) {
		t.Errorf("its key: %v", err)
	}
}

// TestDamagedRecordIsSetAside: pages that are whole, with a record that is not.
func TestDamagedRecordIsSetAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	aStore(t, path)
	edit(t, path, func(tx *bbolt.Tx) error { return tx.Bucket(bucketClusters).Put(bigEndian(1), []byte("no record")) })
	if _, err := Open(path, Options{}); !errors.Is(err, ErrDamaged) || !errors.Is(err, ErrRecord) {
		t.Fatalf("not asked to go on: %v", err)
	}
	told := 0
	s := open(t, path, Options{OnDamage: func(string, error) { told++ }})
	if s.Close() != nil || told != 1 {
		t.Errorf("told %d times", told)
	}
}

// TestForeignIsNeverMoved, whatever it is and whatever lies beside it.
func TestForeignIsNeverMoved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	data, _ := aStore(t, path)
	for name, foreign := range map[string][]byte{
		"text":            bytes.Repeat([]byte("no database\n"), 2000),
		"another's, torn": bytes.ReplaceAll(data, ours, []byte("formatother program"))[:len(data)/2],
	} {
		write(t, path, foreign)
		write(t, path+openMark, nil)
		_, err := Open(path, Options{OnDamage: func(string, error) { t.Errorf("%s: set aside", name) }})
		if !errors.Is(err, ErrForeign) || errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(after, foreign) {
			t.Errorf("%s was changed", name)
		}
	}
}

// TestUncleanStop: a sound file is taken as it is, and only one that is closed is known to be.
func TestUncleanStop(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	_, text := aStore(t, path)
	if _, err := os.Stat(path + openMark); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("closed, and its mark is there: %v", err)
	}
	again := open(t, path, Options{})
	if _, err := os.Stat(path + openMark); err != nil {
		t.Errorf("opened after a clean stop, and no mark: %v", err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, path+openMark, nil)
	s := open(t, path, Options{OnDamage: func(_ string, err error) { t.Errorf("a sound file: %v", err) }})
	if ev := s.Judge(traceOf(text), from(1)); !ev.Member {
		t.Errorf("it forgot: %+v", ev)
	}
	if _, err := os.Stat(path + openMark); err != nil {
		t.Errorf("open, and no mark: %v", err)
	}
	if _, err := Open(path, Options{Timeout: 1}); !errors.Is(err, ErrInUse) {
		t.Errorf("a store in use: %v", err)
	}
	if err := errors.Join(os.Remove(path+openMark), s.Close()); err != nil {
		t.Errorf("somebody took the mark away: %v", err)
	}
}

// TestMarkStaysWhereTheLastCommitFails: what the file has then is not known, and the next start looks.
func TestMarkStaysWhereTheLastCommitFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	_, text := aStore(t, path)
	s := open(t, path, Options{})
	if err := s.db.Load().Close(); err != nil { // nothing can be written any more
		t.Fatal(err)
	}
	s.Count(traceOf(text), from(1))
	if err := s.Close(); err == nil {
		t.Error("the last commit did not fail")
	}
	if _, err := os.Stat(path + openMark); err != nil {
		t.Errorf("its mark: %v", err)
	}
}

// TestNoMark: where the mark cannot be made the store is opened all the same, and somebody hears of it.
func TestNoMark(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	if err := os.Mkdir(path+openMark, 0o700); err != nil {
		t.Fatal(err)
	}
	told := 0
	s := open(t, path, Options{OnError: func(error) { told++ }})
	if err := s.Close(); err != nil || told != 1 {
		t.Errorf("told %d times, %v", told, err)
	}
}

// TestPagesThatPassAreRead: bbolt reads what checkPages lets pass, harmed at random.
func TestPagesThatPassAreRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	data, _ := aStore(t, path)
	if err := checkPages(bytes.NewReader(data), int64(len(data))); err != nil {
		t.Fatalf("a sound file: %v", err)
	}
	r := rand.New(rand.NewPCG(7, 7))
	passed := 0
	for range 30 {
		harmed := bytes.Clone(data)
		page := r.IntN(inUse(harmed)/4096) * 4096
		for range 1 + r.IntN(4) {
			harmed[page+r.IntN(64)] ^= 1 << r.IntN(8)
		}
		if checkPages(bytes.NewReader(harmed), int64(len(harmed))) != nil {
			continue
		}
		passed++
		write(t, path, harmed)
		s, err := Open(path, Options{})
		if err == nil {
			err = s.Close()
		}
		if err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrForeign) {
			t.Fatal(err)
		}
	}
	if passed == 0 || passed == 30 {
		t.Errorf("%d of 30 passed", passed)
	}
}

func BenchmarkCheckPages(b *testing.B) {
	data, _ := aStore(b, filepath.Join(b.TempDir(), "s.db"))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := checkPages(bytes.NewReader(data), int64(len(data))); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzPages: bbolt, which panics where a page is not as it must be, reads all of a file that checkPages lets pass.
func FuzzPages(f *testing.F) {
	data, _ := aStore(f, filepath.Join(f.TempDir(), "spamsim.db"))
	f.Add(data[:64], uint32(0))
	f.Add([]byte{1, 2, 3}, uint32(4096))
	f.Fuzz(func(t *testing.T, over []byte, at uint32) {
		harmed := bytes.Clone(data)
		copy(harmed[int(at)%len(harmed):], over)
		if checkPages(bytes.NewReader(harmed), int64(len(harmed))) != nil {
			return
		}
		path := filepath.Join(t.TempDir(), "harmed.db")
		write(t, path, harmed)
		db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if err := db.View(readAll); err != nil {
			t.Fatal(err)
		}
	})
}

// readAll reads each key and value, and goes to each key by itself.
func readAll(tx *bbolt.Tx) error {
	return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
		return b.ForEach(func(k, v []byte) error {
			if got := b.Get(k); !bytes.Equal(got, v) {
				return fmt.Errorf("%x is %x, and %x when it is asked for", k, v, got)
			}
			return nil
		})
	})
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}
