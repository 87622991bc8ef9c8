package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/cmd/spamsim/internal/lab"
	"spamsim/store"
)

// A busy is a daemon of which each look finds 12 messages more, and which after some looks ends or is interrupted.
type busy struct {
	control.Service
	looks     int
	fails     int // the look that fails, 0 for none
	interrupt func()
}

func (b *busy) Stats(context.Context) (control.Stats, error) {
	if b.looks++; b.looks == b.fails {
		return control.Stats{}, control.ErrUnavailable
	}
	if b.looks == 4 {
		b.interrupt()
	}
	n := int64(12 * b.looks)
	return control.Stats{Since: &noon, Messages: []control.VerdictStat{{Verdict: "clean", N: n / 4 * 3}, {Verdict: "bulk", N: n / 4}}}, nil
}

func (b *busy) Campaigns(context.Context, store.View, int) ([]store.Campaign, error) {
	return []store.Campaign{pears}, nil
}

func TestFrame(t *testing.T) {
	b := &busy{}
	look := func(at time.Time) *sighting {
		st, _ := b.Stats(t.Context())
		return &sighting{at, st, []store.Campaign{pears}}
	}
	first, second := look(noon.Add(10*time.Second)), look(noon.Add(12*time.Second))
	if got, want := frame(first, first)[0], "12 messages since the daemon began at 2026-01-02 12:00 UTC, 3 bulk; on average 1.2 a second, 25.0 % bulk"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	got := frame(first, second)
	want := []string{"24 messages since the daemon began at 2026-01-02 12:00 UTC, 6 bulk; now 6.0 a second, 25.0 % bulk", "0 clusters, 0 campaigns; 2026-01-02 12:00:12 UTC", ""}
	if d := cmp.Diff(want, got[:3]); d != "" || !strings.HasPrefix(got[4], "7f3a19c2  40 ") || len(got) != 5 {
		t.Errorf("%s\n%q", d, got)
	}
	if got := frame(second, first)[0]; !strings.HasSuffix(got, "now 0.0 a second") {
		t.Errorf("after another daemon began: %q", got)
	}
}

// TestTopOnce shows the state once, and a store that no daemon has does not change.
func TestTopOnce(t *testing.T) {
	var out bytes.Buffer
	if err := (&app{stdout: &out}).top(t.Context(), &busy{}, true, time.Hour); err != nil || !strings.Contains(out.String(), "\n7f3a19c2  40 ") {
		t.Errorf("%v:\n%s", err, out.String())
	}
}

// TestTopLines writes plain lines where there is no terminal, until it is interrupted.
func TestTopLines(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	if err := (&app{stdout: &out}).top(ctx, &busy{interrupt: cancel}, false, time.Millisecond); err != nil {
		t.Error(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 || !strings.Contains(lines[2], " a second, 25.0 % bulk; 7f3a19c2 ") || !strings.HasSuffix(lines[2], " a minute, 40 copies") || strings.Contains(out.String(), "\x1b") {
		t.Errorf("%q", lines)
	}
}

// terminal opens a pseudo-terminal of some size; screen returns all that it was sent, once the program's end is closed.
func terminal(t *testing.T, rows, columns uint16) (program *os.File, screen func() string) {
	t.Helper()
	program, _, screen = liveTerminal(t, rows, columns)
	return program, screen
}

// liveTerminal is a terminal that also tells what it was sent so far.
func liveTerminal(t *testing.T, rows, columns uint16) (program *os.File, sofar, screen func() string) {
	t.Helper()
	keeper, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		lab.Skip(t, fmt.Sprintf("no pseudo-terminal: %v", err))
	}
	fd := int(keeper.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	err = errors.Join(err, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0), unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns}))
	if err != nil {
		t.Fatal(err)
	}
	if program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		t.Fatal(err)
	}
	var all logBook
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = io.Copy(&all, keeper) }) // ends in EIO, once nobody has the other end
	return program, all.String, func() string {
		program.Close()
		reading.Wait()
		keeper.Close()
		return all.String()
	}
}

// TestTopLeavesTheTerminal: top draws on a screen of its own, no more than there is room for, and gives the terminal back
// when it is interrupted and when the daemon ends.
func TestTopLeavesTheTerminal(t *testing.T) {
	for name, fails := range map[string]int{"interrupted": 0, "no daemon": 3} {
		program, screen := terminal(t, 4, 20)
		ctx, cancel := context.WithCancel(t.Context())
		err := (&app{stdout: program}).top(ctx, &busy{interrupt: cancel, fails: fails}, false, time.Millisecond)
		cancel()
		if errors.Is(err, control.ErrUnavailable) != (fails > 0) || fails == 0 && err != nil {
			t.Errorf("%s: %v", name, err)
		}
		got, opened := strings.CutPrefix(screen(), screenOpen)
		got, closed := strings.CutSuffix(got, screenClose)
		if !opened || !closed || strings.Count(got, screenHome) < 2 {
			t.Errorf("%s: %q", name, got)
		}
		for _, f := range strings.Split(got, screenHome)[1:] {
			f = strings.ReplaceAll(strings.TrimSuffix(f, clearBelow), "\r", "") // the terminal adds some
			lines := strings.Split(f, "\n")
			if len(lines) != 4 || strings.Contains(f, "7f3a") {
				t.Errorf("%s: %d lines on a screen of 4: %q", name, len(lines), f)
			}
			for _, l := range lines {
				if columns(strings.TrimSuffix(l, clearRight)) > 20 {
					t.Errorf("%s: %q on a screen of 20 columns", name, l)
				}
			}
		}
	}
}

func TestFit(t *testing.T) {
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{{"pears", 5, "pears"}, {"pears", 4, "pear"}, {"飞机场", 5, "飞机"}, {"飞机场", 6, "飞机场"}, {"x", 0, ""}} {
		if got := fit(c.in, c.n); got != c.want {
			t.Errorf("%q in %d: %q", c.in, c.n, got)
		}
	}
}
