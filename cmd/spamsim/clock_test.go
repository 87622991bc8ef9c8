package main

import (
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"spamsim/parse"
	"spamsim/store"
)

// A wild is a clock that leaps when it is told to.
type wild struct{ off, passed atomic.Int64 }

// rule makes it the clock of something; it begins at no special time.
func (w *wild) rule(c *clock) {
	c.base = time.Unix(1_700_000_000, 0)
	c.wall = func() time.Time { return time.Unix(1_700_000_000, w.off.Load()+w.passed.Load()) }
	c.elapsed = func() time.Duration { return time.Duration(w.passed.Load()) }
}

// TestClock: a clock that goes, or is off by little, is believed; one that leaps is when that has lasted, and not where it
// comes back.
func TestClock(t *testing.T) {
	var w wild
	c := newClock(slog.New(slog.DiscardHandler))
	w.rule(c)
	const week = 7 * 24 * time.Hour
	for _, s := range []struct {
		pass, off, want time.Duration // want is from what has passed
	}{
		{0, 0, 0},
		{100 * time.Hour, 0, 0}, // nobody asked for long
		{time.Minute, 2 * time.Minute, 2 * time.Minute},
		{time.Minute, -2 * time.Minute, -2 * time.Minute},
		{time.Minute, time.Hour, -2 * time.Minute},
		{58 * time.Minute, time.Hour, -2 * time.Minute},
		{time.Minute, 0, 0}, // it came back
		{time.Minute, -time.Hour, 0},
		{59 * time.Minute, -time.Hour, 0},
		{time.Minute, -time.Hour, -time.Hour}, // it lasted
		{time.Minute, week, -time.Hour},
		{time.Minute, -week, -time.Hour}, // from one leap into the other
		{58 * time.Minute, -week, -time.Hour},
		{time.Minute, week, week},
		{time.Second, week, week},
	} {
		w.passed.Add(int64(s.pass))
		w.off.Store(int64(s.off))
		if got := c.now().Sub(time.Unix(1_700_000_000, w.passed.Load())); got != s.want {
			t.Errorf("after %v and off by %v: off by %v, want %v", time.Duration(w.passed.Load()), s.off, got, s.want)
		}
	}
}

// TestClockOfTheMachine is the machine's, as long as that does not leap.
func TestClockOfTheMachine(t *testing.T) {
	c := newClock(slog.New(slog.DiscardHandler))
	before := time.Now().Round(0)
	got := c.now()
	if after := time.Now().Round(0); got.Before(before) || got.After(after) {
		t.Errorf("%v is not between %v and %v", got, before, after)
	}
}

// TestStoreGoesByTheClock: what the store shares does not expire amid a leap of the machine's clock either.
func TestStoreGoesByTheClock(t *testing.T) {
	var w wild
	d := &daemon{log: slog.New(slog.DiscardHandler), clock: newClock(slog.New(slog.DiscardHandler))}
	w.rule(d.clock)
	conf := testConfig(t, "")
	if err := errors.Join(makeStoreFolder(conf), d.takeStore(conf)); err != nil {
		t.Fatal(err)
	}
	defer d.store.Close()
	p, err := d.store.Share("a", nil)
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Repeat("harbour lantern mosaic quarry trellis ", 3)
	m := parse.Parse([]byte("Subject: x\n\n"+words), parse.Limits{})
	d.store.Count(store.NewTrace(m), &store.Transaction{Message: "m", Time: d.clock.now()})
	w.off.Store(int64(30 * 24 * time.Hour))
	p.Sweep()
	if n := d.store.Stats().Clusters; n != 1 {
		t.Errorf("%d clusters are left", n)
	}
}
