package store

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"syscall"
	"testing"

	"go.etcd.io/bbolt"
)

// TestCompactWaitsForWhoBegins: who is about to read the old file has begun before it is closed.
func TestCompactWaitsForWhoBegins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	hollow(t, path, 2)
	s := open(t, path, Options{})
	defer s.Close()
	began := make(chan struct{})
	begin := func(db *bbolt.DB) {
		for s.swap.TryRLock() { // until the compaction waits
			s.swap.RUnlock()
			runtime.Gosched()
			select {
			case <-began: // it does not
				return
			default:
			}
		}
		tx, err := db.Begin(false)
		if err == nil {
			err = tx.Rollback()
		}
		if err != nil || s.db.Load() != db {
			t.Errorf("the old file went while somebody began to read it: %v", err)
		}
		close(began)
		s.swap.RUnlock()
	}
	s.compaction.at = func(step string) error {
		switch step {
		case "renaming":
			s.swap.RLock()
			go begin(s.db.Load())
		case "renamed":
			select {
			case <-began:
			default:
				t.Error("the compaction did not wait for who began to read")
				close(began)
				s.swap.RUnlock()
			}
		}
		return nil
	}
	if _, err := s.Compact(t.Context(), nil); err != nil {
		t.Error(err)
	}
}

// TestCompactAmidCommitThatFails: a commit that fails may have been written all the same, as where its last sync does. Either way
// the new file has what the old one has when it takes its place, and nothing is lost.
func TestCompactAmidCommitThatFails(t *testing.T) {
	for name, landed := range map[string]bool{"nothing of it is written": false, "it is written": true} {
		t.Run(name, func(t *testing.T) {
			dir, crash := t.TempDir(), t.TempDir()
			path := filepath.Join(dir, "spamsim.db")
			text := hollow(t, path, 2)
			s := open(t, path, Options{})
			s.compaction.at = func(step string) error {
				switch step {
				case "bringing the rest over": // the committer does it
					s.Count(traceOf(text), from(7000))
					err := s.commits.write(s, func(put func(*bbolt.Tx) error) error {
						if landed {
							return errors.Join(s.db.Load().Update(put), syscall.EIO)
						}
						return syscall.EIO
					}, true)
					if !errors.Is(err, syscall.EIO) {
						t.Errorf("the commit: %v", err)
					}
				case "renaming":
					if err := os.CopyFS(crash, os.DirFS(dir)); err != nil {
						t.Error(err)
					}
				}
				return nil
			}
			if _, err := s.Compact(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			before, after := contents(t, filepath.Join(crash, "spamsim.db")), contents(t, filepath.Join(crash, "spamsim.db"+compactMark))
			if !reflect.DeepEqual(before, after) {
				t.Errorf("%d records in the new file, %d in the old one, or others", len(after), len(before))
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			s = open(t, path, Options{})
			defer s.Close()
			if ev := s.Judge(traceOf(text), from(7000)); !ev.Known || ev.Copies != 17 {
				t.Errorf("what the commit had: %+v", ev)
			}
		})
	}
}
