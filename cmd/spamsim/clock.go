package main

import (
	"log/slog"
	"sync"
	"time"
)

// A clock tells when a message came, as the store is to believe it. It is the machine's, but where that leaps it goes on as
// before until the leap has lasted: what is older than the window is forgotten, and a clock that is set a week ahead for a
// moment would have all mail forgotten. Deadlines and timeouts do not need it: Go measures them by a clock that never leaps.
type clock struct {
	wall    func() time.Time
	elapsed func() time.Duration // by a clock that never leaps
	log     *slog.Logger

	mu    sync.Mutex
	base  time.Time     // what was believed
	at    time.Duration // and when
	leapt time.Duration // when the machine's clock began to say something else
	leaps bool
}

const (
	// leap is by how much a clock may differ from what is expected and still be believed: time servers move a clock that is
	// off by a little bit by bit.
	leap = 5 * time.Minute
	// lasting is how long it must say so to be believed all the same.
	lasting = time.Hour
)

// machineTime is the time of this machine. A process of the tests makes it pass faster, so that mail expires under its eyes.
var machineTime = time.Now

// newClock is that of this machine.
func newClock(log *slog.Logger) *clock {
	began := machineTime()
	c := &clock{wall: machineTime, elapsed: func() time.Duration { return machineTime().Sub(began) }, log: log}
	c.base = began
	return c
}

// now is the time.
func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	wall, at := c.wall().Round(0), c.elapsed() // without the reading that never leaps
	expected := c.base.Round(0).Add(at - c.at)
	off := wall.Sub(expected)
	switch {
	case off.Abs() < leap:
		c.leaps = false
	case !c.leaps:
		c.leaps, c.leapt = true, at
		c.log.Warn("the machine's clock has leapt; mail is remembered by the time that is expected, until that has lasted",
			"by", off.Round(time.Second).String(), "must_last", lasting.String())
		return expected
	case at-c.leapt < lasting:
		return expected
	default:
		c.leaps = false
		c.log.Warn("mail is remembered by the machine's clock again", "off", off.Round(time.Second).String())
	}
	c.base, c.at = wall, at
	return wall
}
