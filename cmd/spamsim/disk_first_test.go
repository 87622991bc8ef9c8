package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"spamsim/store"
)

// TestDiskFullAtFirst: however much of a new store a full disk had room for, nothing is taken for a store, and once there is
// room one is made.
func TestDiskFullAtFirst(t *testing.T) {
	full := 0
	for pages := 1; pages <= 12; pages++ {
		dir := smallDisk(t, pages*os.Getpagesize())
		path := filepath.Join(dir, "spamsim.db")
		s, err := store.Open(path, store.Options{})
		if err == nil {
			_ = s.Close() // which may want more room
			continue
		}
		full++
		if !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("%d pages: %v", pages, err)
		}
		if _, err := os.Stat(path + ".compact"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%d pages: what was begun keeps its room: %v", pages, err)
		}
		for _, o := range []store.Options{{ReadOnly: true}, {}} {
			if err := syscall.Mount("none", dir, "tmpfs", syscall.MS_REMOUNT, fmt.Sprintf("size=%d", 16<<20)); err != nil {
				t.Fatal(err)
			}
			s, err := store.Open(path, o)
			if err != nil {
				t.Fatalf("%d pages, read only %v: %v", pages, o.ReadOnly, err)
			}
			if n := s.Stats().Clusters; n != 0 {
				t.Errorf("%d clusters", n)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	if full < 3 {
		t.Errorf("the disk was full %d times", full)
	}
}
