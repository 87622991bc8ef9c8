package store

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"reflect"
	"sync"
	"testing"

	"go.etcd.io/bbolt"
)

// contents are all records of a store's file.
func contents(t *testing.T, path string) map[string]string {
	t.Helper()
	out := map[string]string{}
	edit(t, path, func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(k, v []byte) error {
				out[string(name)+string(k)] = string(v)
				return nil
			})
		})
	})
	return out
}

// TestBackupRestored: a backup has what the store had, and opens as one.
func TestBackupRestored(t *testing.T) {
	path, copied := filepath.Join(t.TempDir(), "spamsim.db"), filepath.Join(t.TempDir(), "backup")
	_, text := aStore(t, path)
	s := open(t, path, Options{})
	s.Count(traceOf(text), from(5000)) // is written by the backup
	var b bytes.Buffer
	if n, err := s.Backup(&b); err != nil || n != int64(b.Len()) {
		t.Fatalf("%d octets of %d: %v", n, b.Len(), err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	write(t, copied, b.Bytes())
	want, got := contents(t, path), contents(t, copied)
	delete(want, string(bucketMeta)+string(keyRecent)) // Close writes it once more
	delete(got, string(bucketMeta)+string(keyRecent))
	if !reflect.DeepEqual(got, want) || len(want) < 40 {
		t.Errorf("%d records, want %d", len(got), len(want))
	}
	r := open(t, copied, Options{})
	defer r.Close()
	if ev := r.Judge(traceOf(text), from(5000)); !ev.Known || ev.Copies != 17 {
		t.Errorf("the backup says %+v", ev)
	}
}

// TestBackupWhileCounting: each backup is whole, whatever is counted beside it.
func TestBackupWhileCounting(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	aStore(t, path)
	s := open(t, path, Options{})
	stop := make(chan struct{})
	var beside sync.WaitGroup
	beside.Go(func() {
		w := newWriter(91)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				s.Count(traceOf(w.text(50)), from(10_000+i))
			}
		}
	})
	for range 5 {
		var b bytes.Buffer
		if _, err := s.Backup(&b); err != nil {
			t.Error(err)
		}
		if err := checkPages(bytes.NewReader(b.Bytes()), int64(b.Len())); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	beside.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

type fullDisk struct{}

var errFull = errors.New("no space")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestBackupFails(t *testing.T) {
	if _, err := scratchStore(t).Backup(io.Discard); !errors.Is(err, ErrNoFile) {
		t.Errorf("a store in memory: %v", err)
	}
	s := open(t, filepath.Join(t.TempDir(), "spamsim.db"), Options{})
	defer s.Close()
	if _, err := s.Backup(fullDisk{}); !errors.Is(err, errFull) {
		t.Errorf("a full disk: %v", err)
	}
}
