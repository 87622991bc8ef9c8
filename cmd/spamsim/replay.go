package main

import (
	"context"
	"errors"
	"iter"
	"net/netip"
	"runtime"
	"sync"
	"time"

	"spamsim/cmd/spamsim/internal/source"
	"spamsim/milter/filter"
)

// A replay judges mail in order against a scratch store.
type replay struct {
	filter  *filter.Filter
	trusted []netip.Prefix
	limit   int // octets of a judged message
	bad     *unread
	bar     *progress
}

// An arrival is a message at its place in the order of a replay.
type arrival struct {
	index int // of the input, from 1
	at    time.Time
	source.Message
}

// judged is what became of one message.
type judged struct {
	arrival
	id      string // Message-ID without angle brackets
	env     *filter.Envelope
	verdict filter.Verdict
}

// run judges each message on those before it and hands it to emit. Reading the envelope runs on all cores, judging in
// order.
func (r *replay) run(ctx context.Context, mail iter.Seq[arrival], emit func(judged) error) error {
	for j := range inOrder(mail, runtime.GOMAXPROCS(0), r.read) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if j.Err != nil && !errors.Is(j.Err, source.ErrTooLarge) {
			r.bad.add(j.Err)
			continue
		}
		switch {
		case j.Err != nil:
			r.bad.add(j.Err)
			j.verdict = filter.Verdict{Kind: filter.Skipped, Reason: "size"}
		case len(j.Raw) > r.limit:
			j.verdict = filter.Verdict{Kind: filter.Skipped, Reason: "size"}
		default:
			j.verdict = r.filter.Check(ctx, j.env, j.Raw).Verdict
		}
		r.bar.add(len(j.Raw))
		if err := emit(j); err != nil {
			return err
		}
	}
	return nil
}

// read does what can be done of a message without the store.
func (r *replay) read(m arrival) judged {
	j := judged{arrival: m}
	if m.Err == nil {
		h := source.ReadHeader(m.Raw)
		j.env = h.Envelope(r.trusted)
		j.env.Time = m.at
		j.id = h.MessageID()
	}
	return j
}

// A line is what backtest --json prints of a message.
type line struct {
	Index     int      `json:"index"`
	MessageID string   `json:"message_id"`
	Verdict   string   `json:"verdict"`
	Bulk      bool     `json:"bulk"`
	Cluster   *string  `json:"cluster"` // null: it joined none
	Copies    int      `json:"copies"`
	Sigma     *float64 `json:"sigma"` // null: it was not judged
	Reason    string   `json:"reason"`
}

func (j *judged) line() line {
	v := &j.verdict
	l := line{Index: j.index, MessageID: j.id, Verdict: v.Kind.String(), Bulk: v.Kind == filter.Bulk, Copies: v.Copies, Reason: v.Reason}
	if v.Cluster != "" {
		l.Cluster = &v.Cluster
	}
	if v.Judged {
		l.Sigma = &v.Sigma
	}
	return l
}

// inOrder applies f to each item on several goroutines and yields the results in the order of the items. It holds a
// few items for each goroutine, no more.
func inOrder[T, R any](in iter.Seq[T], workers int, f func(T) R) iter.Seq[R] {
	type job struct {
		item T
		out  chan R
	}
	return func(yield func(R) bool) {
		jobs, outs := make(chan job), make(chan chan R, 4*workers)
		stop := make(chan struct{})
		var wg sync.WaitGroup
		defer wg.Wait()
		defer close(stop)
		wg.Go(func() {
			defer close(jobs)
			defer close(outs)
			for item := range in {
				j := job{item, make(chan R, 1)}
				select {
				case outs <- j.out:
				case <-stop:
					return
				}
				jobs <- j
			}
		})
		for range workers {
			wg.Go(func() {
				for j := range jobs {
					j.out <- f(j.item)
				}
			})
		}
		for out := range outs {
			if !yield(<-out) {
				return
			}
		}
	}
}
