package filter

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"spamsim/store"
)

// A size is what a filter takes of the machine.
type size struct {
	heap, file  int64 // octets
	descriptors int
	goroutines  int
	messages    int // remembered
}

func sizeOf(t *testing.T, s *store.Store, path string) size {
	t.Helper()
	if err := s.Sync(); err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return size{int64(m.HeapAlloc), info.Size(), len(open), runtime.NumGoroutine(), s.Stats().Messages}
}

// TestSoak judges and counts mail over many windows by its own clock, a fifth of it campaigns: once the first windows are over
// nothing grows. SPAMSIM_SOAK says how many messages (.ci/long).
func TestSoak(t *testing.T) {
	const window, inWindow = time.Hour, 1000
	n := 6 * inWindow
	if long, err := strconv.Atoi(os.Getenv("SPAMSIM_SOAK")); err == nil {
		n = long
	}
	path := filepath.Join(t.TempDir(), "soak.db")
	s, err := store.Open(path, store.Options{Key: []byte("k"), Window: window})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	f, l := New(s, Config{ID: "mx.example.net"}), newLanguage()
	var campaign []string
	var before size
	bulk := 0
	for i := range n {
		words := l.text(60)
		if i%inWindow%100 == 0 {
			campaign = words
		} else if i%5 == 0 {
			words = l.each(campaign, .05, func(string) string { return l.word() })
		}
		env := &Envelope{ClientAddr: fmt.Sprintf("10.%d.%d.7", i>>8&255, i&255), Sender: fmt.Sprintf("s%d@example.com", i),
			Recipients: []string{fmt.Sprintf("r%d@example.net", i)}, Time: time.Unix(1e9, 0).Add(time.Duration(i) * window / inWindow)}
		if f.Check(context.Background(), env, l.message(i, "", words)).Verdict.Kind == Bulk {
			bulk++
		}
		if i == 3*inWindow {
			before = sizeOf(t, s, path)
		}
	}
	after := sizeOf(t, s, path)
	t.Logf("%d messages, %d of them bulk: %+v after 3 windows, %+v at the end", n, bulk, before, after)
	if bulk < n/10 {
		t.Errorf("%d of %d were called bulk: the campaigns are not found", bulk, n)
	}
	if after.messages > inWindow+inWindow/5 || after.descriptors > before.descriptors || after.goroutines > before.goroutines ||
		after.heap > before.heap*3/2+4<<20 || after.file > 2*before.file+1<<20 {
		t.Error("it grew")
	}
}
