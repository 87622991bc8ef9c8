package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// hollows are stores that hollow made, by their megabytes.
var hollows = map[int]hollowed{}

type hollowed struct {
	data []byte
	text []string
}

// hollow makes a store of some messages whose file is nearly all free pages, of so many megabytes.
func hollow(t *testing.T, path string, megabytes int) (text []string) {
	t.Helper()
	if h, ok := hollows[megabytes]; ok {
		write(t, path, h.data)
		return h.text
	}
	_, text = aStore(t, path)
	junk := func(change func(b *bbolt.Bucket, key []byte) error) {
		edit(t, path, func(tx *bbolt.Tx) (err error) {
			for i := range megabytes {
				err = errors.Join(err, change(tx.Bucket(bucketMeta), fmt.Append(nil, "junk ", i)))
			}
			return err
		})
	}
	junk(func(b *bbolt.Bucket, key []byte) error { return b.Put(key, make([]byte, 1<<20)) })
	junk(func(b *bbolt.Bucket, key []byte) error { return b.Delete(key) })
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	hollows[megabytes] = hollowed{data, text}
	return text
}

// TestCompact: the file is small, has what it had and what comes later, and is locked; nothing lies beside it.
func TestCompact(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "spamsim.db")
	text := hollow(t, path, 2)
	want := contents(t, path)
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, Options{})
	var told [][2]int64
	got, err := s.Compact(t.Context(), func(done, of int64) { told = append(told, [2]int64{done, of}) })
	info, _ := os.Stat(path)
	if err != nil || got.Before < 2<<20 || got.After > 1<<19 || got.After != info.Size() || info.Mode().Perm() != 0o640 {
		t.Errorf("%+v, %v: %v", got, info, err)
	}
	if s.db.Load().NoSync {
		t.Error("what is written from now on is not synced")
	}
	if len(told) < 4 || told[len(told)-1][0] > told[0][1] || told[0][1] > 1<<19 {
		t.Errorf("told of %v", told)
	}
	if _, err := Open(path, Options{Timeout: 1}); !errors.Is(err, ErrInUse) {
		t.Errorf("the new file is not locked: %v", err)
	}
	s.Count(traceOf(text), from(5000))
	var b bytes.Buffer
	if n, err := s.Backup(&b); err != nil || n >= 1<<19 {
		t.Errorf("a backup of %d octets: %v", n, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	after := contents(t, path)
	for k := range want {
		if _, ok := after[k]; !ok {
			t.Errorf("%q is lost", k)
		}
	}
	if len(after) != len(want)+1 {
		t.Errorf("%d records, want one more than %d", len(after), len(want))
	}
	s = open(t, path, Options{})
	defer s.Close()
	if ev := s.Judge(traceOf(text), from(5000)); !ev.Known || ev.Copies != 17 {
		t.Errorf("%+v", ev)
	}
	if names, _ := os.ReadDir(dir); len(names) != 2 { // the store and its mark
		t.Errorf("%v lie there", names)
	}
}

// busy counts, learns and forgets for a while; it does the same for the same n.
func busy(t *testing.T, s *Store, text []string, n int) {
	w := newWriter(uint64(n))
	for i := 3 * n; i < 3*n+3; i++ {
		s.Count(traceOf(text), from(9000+i))
		s.Train(traceOf(w.text(60)), from(20_000+i), Spam)
		if got := s.Forget(traceOf(text), from(9000+i-2)); i > 4 && !got.Done {
			t.Errorf("%d: %+v", i, got)
		}
	}
}

// TestCompactWhileCounting: whatever is counted, learnt, forgotten and backed up at any step of a compaction, the file has the
// same records in the end as that of a store which is not compacted.
func TestCompactWhileCounting(t *testing.T) {
	path, plain := filepath.Join(t.TempDir(), "spamsim.db"), filepath.Join(t.TempDir(), "spamsim.db")
	text := hollow(t, path, 2)
	hollow(t, plain, 2)
	s := open(t, path, Options{})
	n, steps := 0, map[string]int{}
	s.compaction.at = func(step string) error {
		steps[step]++
		n++
		busy(t, s, text, n)
		if step == "copying" || step == "catching up" { // later steps hold the committer
			if _, err := s.Backup(io.Discard); err != nil {
				t.Error(err)
			}
		}
		return nil
	}
	for range 3 {
		if _, err := s.Compact(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []string{"copying", "catching up", "bringing the rest over", "syncing", "renaming", "renamed"} {
		if steps[step] < 3 {
			t.Errorf("%d times %s", steps[step], step)
		}
	}
	other := open(t, plain, Options{})
	for i := range n {
		busy(t, other, text, i+1)
	}
	if err := errors.Join(s.Close(), other.Close()); err != nil {
		t.Fatal(err)
	}
	got, want := contents(t, path), contents(t, plain)
	if !reflect.DeepEqual(got, want) || len(got) < 100 {
		t.Errorf("%d records, want %d", len(got), len(want))
	}
}

// TestCompactAmidCommit: a commit that is under way while what was written is brought over is in the new file.
func TestCompactAmidCommit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	text := hollow(t, path, 2)
	s := open(t, path, Options{})
	begun, release, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	held := func(write func(*bbolt.Tx) error) error {
		return s.db.Load().Update(func(tx *bbolt.Tx) error {
			err := write(tx)
			close(begun)
			<-release
			return err
		})
	}
	var commit, end sync.Once
	s.compaction.at = func(step string) error {
		commit.Do(func() {
			go func() {
				ended <- s.commits.between(func() error {
					s.Count(traceOf(text), from(7000))
					return s.commits.write(s, held, true)
				})
			}()
			<-begun
		})
		if step == "catching up" {
			end.Do(func() { close(release) })
		}
		return nil
	}
	_, err := s.Compact(t.Context(), nil)
	end.Do(func() { close(release) }) // it went wrong before
	if err := errors.Join(err, <-ended, s.Close()); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, Options{})
	defer s.Close()
	if ev := s.Judge(traceOf(text), from(7000)); !ev.Known || ev.Copies != 17 {
		t.Errorf("what was written meanwhile: %+v", ev)
	}
}

// TestCompactFails at each step: the store goes on with the old file, where all is written, and the next compaction works.
func TestCompactFails(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "spamsim.db")
	text := hollow(t, path, 2)
	s := open(t, path, Options{})
	before, n := s.fileSize(), 6000
	for _, failing := range []string{"copying", "catching up", "bringing the rest over", "syncing", "renaming"} {
		s.compaction.at = func(step string) error {
			n++
			s.Count(traceOf(text), from(n))
			if step == failing {
				return syscall.ENOSPC
			}
			return nil
		}
		if _, err := s.Compact(t.Context(), nil); !errors.Is(err, syscall.ENOSPC) || s.fileSize() != before {
			t.Errorf("%s: %v, %d octets", failing, err, s.fileSize())
		}
		if names, _ := os.ReadDir(dir); len(names) != 2 {
			t.Errorf("%s: %v lie there", failing, names)
		}
	}
	s.compaction.at = nil
	if got, err := s.Compact(t.Context(), nil); err != nil || got.After > 1<<19 {
		t.Errorf("the next one: %+v, %v", got, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = open(t, path, Options{})
	defer s.Close()
	if ev := s.Judge(traceOf(text), from(n)); !ev.Known || ev.Copies != 16+n-6000 {
		t.Errorf("after %d more: %+v", n-6000, ev)
	}
}

// TestCompactCrash: what lies on the disk at each step, as a process that is killed leaves it, is a store with all that was
// synced until then.
func TestCompactCrash(t *testing.T) {
	dir, crash := t.TempDir(), t.TempDir()
	path := filepath.Join(dir, "spamsim.db")
	text := hollow(t, path, 2)
	s := open(t, path, Options{})
	defer s.Close()
	seen := map[string]bool{}
	s.compaction.at = func(step string) error {
		if seen[step] {
			return nil
		}
		seen[step] = true
		into := filepath.Join(crash, step)
		if err := os.CopyFS(into, os.DirFS(dir)); err != nil {
			t.Error(err)
		}
		copied := filepath.Join(into, "spamsim.db")
		f, err := os.Open(copied)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		info, _ := f.Stat()
		if err := checkPages(f, info.Size()); err != nil {
			t.Errorf("%s: %v", step, err)
		}
		messages := 0
		for k := range contents(t, copied) {
			if strings.HasPrefix(k, string(bucketMessages)) {
				messages++
			}
		}
		if messages != 33 {
			t.Errorf("%s: %d messages", step, messages)
		}
		if step != "syncing" && step != "renamed" {
			return nil
		}
		left := open(t, copied, Options{OnDamage: func(_ string, err error) { t.Errorf("%s: %v", step, err) }})
		if ev := left.Judge(traceOf(text), from(7000)); !ev.Known || ev.Copies != 17 {
			t.Errorf("%s: %+v", step, ev)
		}
		if err := left.Close(); err != nil {
			t.Error(err)
		}
		if names, _ := os.ReadDir(into); len(names) != 1 {
			t.Errorf("%s: %v lie there", step, names)
		}
		return nil
	}
	s.Count(traceOf(text), from(7000)) // Compact syncs it
	if _, err := s.Compact(t.Context(), nil); err != nil || len(seen) != 6 {
		t.Errorf("%v, steps %v", err, seen)
	}
}

// TestCompactStops: by its context, by Close, for another one; not where there is nothing to write to.
func TestCompactStops(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	text := hollow(t, path, 2)
	s := open(t, path, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	s.compaction.at = func(string) error {
		if _, err := s.Compact(t.Context(), nil); !errors.Is(err, ErrCompacting) {
			t.Errorf("a second one: %v", err)
		}
		cancel()
		return nil
	}
	if _, err := s.Compact(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	began, ended := make(chan struct{}), make(chan error)
	var once sync.Once
	s.compaction.at = func(string) error {
		once.Do(func() { close(began) })
		<-s.compaction.closing
		return nil
	}
	go func() {
		_, err := s.Compact(t.Context(), nil)
		ended <- err
	}()
	<-began
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-ended; !errors.Is(err, ErrClosed) {
		t.Errorf("closed amid: %v", err)
	}
	if _, err := s.Compact(t.Context(), nil); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	r := open(t, path, Options{ReadOnly: true})
	defer r.Close()
	if _, err := r.Compact(t.Context(), nil); !errors.Is(err, ErrReadOnly) {
		t.Errorf("for reading: %v", err)
	}
	if ev := r.Judge(traceOf(text), from(1)); !ev.Member {
		t.Errorf("%+v", ev)
	}
	if _, err := scratchStore(t).Compact(t.Context(), nil); !errors.Is(err, ErrNoFile) {
		t.Errorf("in memory: %v", err)
	}
}

// TestCompactWaitsForBackup: a backup that began before goes on in the file of then, and is whole.
func TestCompactWaitsForBackup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	hollow(t, path, 2)
	s := open(t, path, Options{})
	defer s.Close()
	r, w := io.Pipe()
	backup := make(chan error, 1)
	go func() {
		_, err := s.Backup(w)
		backup <- errors.Join(err, w.Close())
	}()
	var b bytes.Buffer
	if _, err := io.CopyN(&b, r, 4096); err != nil { // it has begun
		t.Fatal(err)
	}
	renamed := make(chan struct{})
	s.compaction.at = func(step string) error {
		if step == "renamed" {
			close(renamed)
		}
		return nil
	}
	compacted := make(chan error, 1)
	go func() {
		_, err := s.Compact(t.Context(), nil)
		compacted <- err
	}()
	<-renamed
	if _, err := io.Copy(&b, r); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(<-backup, <-compacted); err != nil {
		t.Error(err)
	}
	if err := checkPages(bytes.NewReader(b.Bytes()), int64(b.Len())); err != nil || b.Len() < 2<<20 {
		t.Errorf("%d octets: %v", b.Len(), err)
	}
}

// TestOpenWaitsForTheNewFile: who waited for the lock of the old file opens the new one.
func TestOpenWaitsForTheNewFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	text := hollow(t, path, 2)
	s := open(t, path, Options{})
	waiting, opened := make(chan struct{}), make(chan *Store)
	var once sync.Once
	s.compaction.at = func(string) error {
		once.Do(func() {
			go func() {
				close(waiting)
				other, err := Open(path, Options{Timeout: time.Minute})
				if err != nil {
					t.Error(err)
				}
				opened <- other
			}()
			<-waiting
		})
		return nil
	}
	if _, err := s.Compact(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	s.Count(traceOf(text), from(8000))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	other := <-opened
	if ev := other.Judge(traceOf(text), from(8000)); !ev.Known {
		t.Errorf("the old file was opened: %+v", ev)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + openMark); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("its mark: %v", err)
	}
}

// TestCompactBehindALink: the link stays, and the file that it leads to is replaced.
func TestCompactBehindALink(t *testing.T) {
	path, link := filepath.Join(t.TempDir(), "real.db"), filepath.Join(t.TempDir(), "spamsim.db")
	hollow(t, path, 2)
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	s := open(t, link, Options{})
	defer s.Close()
	if got, err := s.Compact(t.Context(), nil); err != nil || got.After > 1<<19 {
		t.Errorf("%+v, %v", got, err)
	}
	if to, err := os.Readlink(link); err != nil || to != path {
		t.Errorf("it leads to %s: %v", to, err)
	}
}

// TestCompactKeepsTheOwner: root may compact the store of a daemon that is not root.
func TestCompactKeepsTheOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root gives files away")
	}
	path := filepath.Join(t.TempDir(), "spamsim.db")
	hollow(t, path, 2)
	if err := os.Chown(path, 65532, 65533); err != nil {
		t.Fatal(err)
	}
	s := open(t, path, Options{})
	defer s.Close()
	if _, err := s.Compact(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if of := info.Sys().(*syscall.Stat_t); of.Uid != 65532 || of.Gid != 65533 || info.Mode() != 0o600 {
		t.Errorf("owner %d, group %d, mode %v", of.Uid, of.Gid, info.Mode())
	}
}

// TestKeepSmall: a file that is mostly free becomes small unasked, once.
func TestKeepSmall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	hollow(t, path, 20)
	told := make(chan Compacted, 100)
	var wrong atomic.Int64
	s := open(t, path, Options{
		CompactEvery: time.Millisecond, OnCompact: func(c Compacted) { told <- c }, OnError: func(error) { wrong.Add(1) },
	})
	select {
	case c := <-told:
		if c.Before < 20<<20 || c.After > 1<<20 {
			t.Errorf("%+v", c)
		}
	case <-time.After(time.Minute):
		t.Error("nothing happens")
	}
	for range 20 { // what is small stays as it is
		s.Count(traceOf(newWriter(93).text(50)), from(1))
		if err := s.Sync(); err != nil {
			t.Error(err)
		}
	}
	if err := s.Close(); err != nil || len(told) > 0 || wrong.Load() > 0 {
		t.Errorf("%v, %d more times, %d errors", err, len(told), wrong.Load())
	}
}
