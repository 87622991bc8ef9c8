package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"time"

	"spamsim/cmd/spamsim/internal/source"
	"spamsim/milter/filter"
)

// The clocks of a replay.
const (
	clockFile     = "file"     // order as it lies there; time by the mbox's own line, else Received, else Date
	clockReceived = "received" // by the topmost Received field, else Date
	clockDate     = "date"     // by the Date field, else Received
)

// A timeline is mail in the order of a clock.
type timeline struct {
	seq   iter.Seq[arrival]
	spool *os.File // nil where the order is that of the input
}

// A given is paths, and what people know of the mail in them: None where they know nothing.
type given struct {
	label filter.Label
	paths []string
}

// arrivals reads the paths in the order of the clock. Where that is not the order of the input, all mail is spooled
// into a file without a name, since standard input can be read but once.
func arrivals(a *app, mail []given, clock string) (*timeline, error) {
	in := inputs(readAll(a, mail), clock)
	if clock == clockFile {
		return &timeline{seq: in}, nil
	}
	f, err := os.CreateTemp("", "spamsim-backtest-*")
	if err != nil {
		return nil, noScratch(err)
	}
	t := &timeline{spool: f}
	if err := os.Remove(f.Name()); err != nil {
		return nil, firstError(err, t.close())
	}
	if t.seq, err = sorted(in, f); err != nil {
		t.close()
		return nil, fmt.Errorf("sorting mail in %s: %w", os.TempDir(), err)
	}
	return t, nil
}

func (t *timeline) close() error {
	if t.spool == nil {
		return nil
	}
	return t.spool.Close()
}

// readAll yields the mail of all paths with what is known of it.
func readAll(a *app, mail []given) iter.Seq[arrival] {
	return func(yield func(arrival) bool) {
		for _, g := range mail {
			if len(g.paths) == 0 {
				continue
			}
			for m := range source.Read(g.paths, source.Options{Stdin: a.stdin}) {
				if !yield(arrival{given: g.label, Message: m}) {
					return
				}
			}
		}
	}
}

// inputs numbers messages and gives each its time. A message that tells none has that of the one before.
func inputs(in iter.Seq[arrival], clock string) iter.Seq[arrival] {
	return func(yield func(arrival) bool) {
		n, last := 0, time.Unix(0, 0).UTC()
		for m := range in {
			if m.Err == nil || errors.Is(m.Err, source.ErrTooLarge) { // else it is no message
				n++
			}
			if m.Err == nil {
				last = when(m.Message, clock, last)
			}
			m.index, m.at = n, last
			if !yield(m) {
				return
			}
		}
	}
}

// when is a message's time by the clock, or last where it tells none.
func when(m source.Message, clock string, last time.Time) time.Time {
	if clock == clockFile && !m.Stamp.IsZero() {
		return m.Stamp
	}
	received, date := source.ReadHeader(m.Raw).Dates()
	if clock == clockDate {
		received, date = date, received
	}
	for _, t := range []time.Time{received, date} {
		if !t.IsZero() {
			return t
		}
	}
	return last
}

// sorted writes all mail into the spool and reads it back by time; mail of the same second keeps its order.
func sorted(in iter.Seq[arrival], spool *os.File) (iter.Seq[arrival], error) {
	type span struct {
		arrival
		offset, size int64
	}
	var spans []span
	var end int64
	for m := range in {
		n, err := spool.Write(m.Raw)
		if err != nil {
			return nil, err
		}
		m.Raw = nil
		spans = append(spans, span{m, end, int64(n)})
		end += int64(n)
	}
	slices.SortStableFunc(spans, func(x, y span) int { return cmp.Or(x.at.Compare(y.at), cmp.Compare(x.index, y.index)) })
	return func(yield func(arrival) bool) {
		for _, s := range spans {
			m := s.arrival
			if m.Err == nil {
				m.Raw, m.Err = io.ReadAll(io.NewSectionReader(spool, s.offset, s.size))
			}
			if !yield(m) {
				return
			}
		}
	}, nil
}
