package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/cmd/spamsim/internal/lab"
)

// TestLedgerCompacted compacts the store again and again while mail flows, and kills the daemon amid: no message is lost, the
// store is sound after each kill, what training said it had learnt is there, and nothing is left beside the store.
func TestLedgerCompacted(t *testing.T) {
	r, dir := chance(), t.TempDir()
	path := filepath.Join(dir, "spamsim.db")
	l := lab.NewLedger(r.Uint64())
	sink := lab.StartSink(t, l.Hop(""))
	addr := lab.FreeAddr(t)
	s := lab.StartSpamsim(t, proxyTo(addr, sink.Addr)+fmt.Sprintf("[store]\npath = %q\n", path))
	stop := l.Run(t, addr, 2)
	rounds := kills(10)
	for round := range rounds {
		l.Pass(t, 20)
		if said := s.Run("compact"); !strings.Contains(said, "octets before") {
			t.Error(said)
		}
		s.Run("train", "--spam", letters(t, round+1))
		end := compactOn(t, path)
		l.Pass(t, r.IntN(40))
		s.Kill()
		end()
		s.Start()
	}
	stop()
	t.Log(l.Balance(t))
	if said := s.Run("train", "--spam", letters(t, rounds)); !strings.Contains(said, fmt.Sprintf("%d known", rounds)) {
		t.Errorf("of %d letters: %s", rounds, said)
	}
	s.Stop()
	if log := s.Log(); strings.Contains(log, "damaged") || strings.Contains(log, "level=ERROR") {
		t.Error("the log tells of errors")
	}
	if names, err := os.ReadDir(dir); err != nil || len(names) != 1 {
		t.Errorf("%v lie there: %v", names, err)
	}
}

// compactOn compacts the daemon's store without a pause, until it is ended or the daemon is gone.
func compactOn(t *testing.T, path string) (end func()) {
	c, err := control.Dial(control.SocketOf(path))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		defer c.Close()
		for {
			if _, err := c.Compact(ctx, func(int64, int64) {}); err != nil {
				return
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}

// TestCompactOnFullDisk: where the disk has no room for a second file the store stays as it is, and the command may be tried
// again.
func TestCompactOnFullDisk(t *testing.T) {
	disk := smallDisk(t, 4<<20)
	path := filepath.Join(disk, "spamsim.db")
	conf := []string{"--store", path}
	spamsim := func(args ...string) (int, string) {
		var said strings.Builder
		return run(append(args, conf...), strings.NewReader(""), &said, &said), said.String()
	}
	if status, said := spamsim("train", "--spam", letters(t, 20)); status != 0 {
		t.Fatalf("%d: %s", status, said)
	}
	free := fill(t, disk)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if status, said := spamsim("compact"); status != statusTemp || !strings.Contains(said, "no space left on device") {
		t.Errorf("status %d: %s", status, said)
	}
	if after, err := os.ReadFile(path); err != nil || len(after) != len(before) {
		t.Errorf("%d octets were %d: %v", len(after), len(before), err)
	}
	free()
	if status, said := spamsim("compact"); status != 0 || !strings.Contains(said, "octets before") {
		t.Errorf("status %d: %s", status, said)
	}
	if status, said := spamsim("train", "--spam", letters(t, 20)); status != 0 || !strings.Contains(said, "20 known") {
		t.Errorf("status %d: %s", status, said)
	}
}
