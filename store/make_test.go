package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// TestMadeOnce: of many that open a store which is not there one makes it, and all get the same.
func TestMadeOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "spamsim.db")
	const many = 8
	var keys [many]uint64
	var errs [many]error
	var wait sync.WaitGroup
	for i := range many {
		wait.Go(func() {
			s, err := Open(path, Options{Timeout: 10 * time.Minute})
			if err == nil {
				keys[i], err = s.memory.key, s.Close()
			}
			errs[i] = err
		})
	}
	wait.Wait()
	for i := range many {
		if errs[i] != nil || keys[i] != keys[0] {
			t.Errorf("%d: key %x, the first %x, %v", i, keys[i], keys[0], errs[i])
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestNotMade: where a store could not be made those who read find none, and who writes makes it, through a link too; what lay
// beside it is gone.
func TestNotMade(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "spamsim.db"), filepath.Join(dir, "link.db")
	if err := errors.Join(os.WriteFile(path, nil, 0o640), os.WriteFile(path+compactMark, []byte("cut"), 0o600), os.Symlink("spamsim.db", link)); err != nil {
		t.Fatal(err)
	}
	if _, err := KeyOf(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("its key: %v", err)
	}
	r := open(t, path, Options{ReadOnly: true})
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	s := open(t, link, Options{})
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if key, err := KeyOf(path); err != nil || len(key) != 32 {
		t.Errorf("its key: %d octets, %v", len(key), err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o640 {
		t.Errorf("%v, %v", info, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("%v, %v", entries, err)
	}
}
