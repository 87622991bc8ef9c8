package main

import (
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"spamsim/cmd/spamsim/internal/source"
	"spamsim/milter/filter"
)

// TestInOrder maps many items whose work takes uneven time: the results come in the order of the items.
func TestInOrder(t *testing.T) {
	defer goleak.VerifyNone(t)
	slow := func(i int) int {
		for range i % 7 {
			runtime.Gosched()
		}
		return i * i
	}
	for _, workers := range []int{1, 2, 9} {
		i := 0
		for got := range inOrder(count(1000), workers, slow) {
			if got != i*i {
				t.Fatalf("%d workers: result %d is %d", workers, i, got)
			}
			i++
		}
		if i != 1000 {
			t.Errorf("%d workers: %d results", workers, i)
		}
	}
}

// TestInOrderStops leaves early: no goroutine stays, and no more than a few items were read beyond.
func TestInOrderStops(t *testing.T) {
	defer goleak.VerifyNone(t)
	var read atomic.Int64
	in := func(yield func(int) bool) {
		for i := range count(1_000_000) {
			read.Add(1)
			if !yield(i) {
				return
			}
		}
	}
	for got := range inOrder(in, 3, func(i int) int { return i }) {
		if got == 10 {
			break
		}
	}
	if n := read.Load(); n > 11+4*3+3+1 {
		t.Errorf("%d items were read for 11 results", n)
	}
}

func count(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// TestClocks reads an mbox, whose messages lie in another order than they came and were written, by each clock.
func TestClocks(t *testing.T) {
	const second = "From a@b Mon Jan  1 00:00:02 2001\nReceived: from a by b; Mon, 1 Jan 2001 00:00:01 +0000\nDate: Mon, 1 Jan 2001 00:00:09 +0000\n\n1\n\n"
	const first = "From a@b Mon Jan  1 00:00:03 2001\nReceived: from a by b; Mon, 1 Jan 2001 00:00:00 +0000\nDate: Mon, 1 Jan 2001 00:00:08 +0000\n\n2\n\n"
	const dated = "From a@b Mon Jan  1 00:00:04 2001\nDate: Mon, 1 Jan 2001 00:00:05 +0000\n\n3\n\n"
	const mute = "From a@b Mon Jan  1 00:00:00 2001\n\n4\n"
	dir := t.TempDir()
	box := filepath.Join(dir, "box")
	if err := os.WriteFile(box, []byte(second+first+dated+mute), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	for clock, want := range map[string]string{
		clockFile:     "1@2 2@3 3@4 4@0",
		clockReceived: "2@0 1@1 3@5 4@5", // one that tells no time has that of the one before
		clockDate:     "3@5 4@5 2@8 1@9",
	} {
		mail, err := arrivals(&app{}, []given{{filter.None, []string{box}}}, clock)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for m := range mail.seq {
			got = append(got, strings.TrimSpace(string(m.Raw[len(m.Raw)-2:]))+"@"+m.at.Format("5"))
			if m.index != int(m.Raw[len(m.Raw)-2]-'0') {
				t.Errorf("%s: message %q has index %d", clock, m.Raw, m.index)
			}
		}
		if err := mail.close(); err != nil {
			t.Error(err)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", clock, got, want)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// TestMuteFirst gives mail that tells no time at all one all the same.
func TestMuteFirst(t *testing.T) {
	in := slices.Values([]arrival{{Message: source.Message{Raw: []byte("x")}}, {Message: source.Message{Raw: []byte("y")}}})
	for m := range inputs(in, clockFile) {
		if !m.at.Equal(time.Unix(0, 0)) {
			t.Errorf("%v", m.at)
		}
	}
}
