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
	"spamsim/store"
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
	given filter.Label // what people know of it
	source.Message
}

// judged is what became of one message.
type judged struct {
	arrival
	id       string          // Message-ID without angle brackets
	reading  *filter.Reading // nil where it is not judged
	verdict  filter.Verdict
	evidence store.Evidence
}

// run judges each message on those before it and hands it to emit. Reading, which is most of the work, runs on all
// cores, judging in order.
func (r *replay) run(ctx context.Context, mail iter.Seq[arrival], emit func(judged) error) error {
	for j := range inOrder(mail, runtime.GOMAXPROCS(0), r.read) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if j.Err != nil && !errors.Is(j.Err, source.ErrTooLarge) {
			r.bad.add(j.Err)
			continue
		}
		if j.Err != nil {
			r.bad.add(j.Err)
		}
		if j.reading == nil {
			j.verdict = filter.Verdict{Kind: filter.Skipped, Reason: "size"}
		} else {
			var out filter.Judgement
			out, j.evidence = r.filter.CheckReading(j.reading)
			j.verdict, j.reading = out.Verdict, nil
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
	if m.Err != nil {
		return j
	}
	h := source.ReadHeader(m.Raw)
	j.id = h.MessageID()
	if len(m.Raw) <= r.limit {
		env := h.Envelope(r.trusted)
		env.Time = m.at
		j.reading = r.filter.Read(env, m.Raw)
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
	Given     string   `json:"given,omitempty"` // "spam" or "ham" where --spam or --ham said so
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
	if j.given != filter.None {
		l.Given = j.given.String()
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
