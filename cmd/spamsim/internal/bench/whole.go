package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"spamsim/milter/filter"
	"spamsim/milter/smtpproxy"
)

// A Whole says how fast messages go through the SMTP proxy on kept connections, the client and the next hop in the same
// process, on the same processors.
type Whole struct {
	PerS            float64  `json:"per_s"`              // messages, with judging on
	PassThroughPerS float64  `json:"pass_through_per_s"` // with judging off
	DirectPerS      *float64 `json:"direct_per_s"`       // smtp-source straight to smtp-sink; nil where they are not installed
	CPUMSAbove      float64  `json:"cpu_ms_above"`       // processor time that judging adds to a message, in milliseconds
}

// connections is how many the client keeps open.
const connections = 10

// A round is how n messages went.
type round struct {
	n       int
	elapsed time.Duration
	cpu     time.Duration
}

func (r *round) perS() float64 { return rounded(float64(r.n) / r.elapsed.Seconds()) }

// measureWhole sends messages past the store in turns, with judging on and off, three times each.
func (m *memory) measureWhole(ctx context.Context, messages int, tell func(string)) (*Whole, error) {
	s, err := startSink()
	if err != nil {
		return nil, err
	}
	defer s.close()
	judge := filter.New(m.store, filter.Config{ID: "bench"}).Check
	var w Whole
	on, off := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64) // least processor time of a round
	octets := 0
	for range 3 {
		batch := make([]mail, messages)
		for i := range batch {
			batch[i] = m.writer.mail()
			octets += len(batch[i].raw)
		}
		passed, err := send(ctx, s.addr(), nil, batch)
		if err != nil {
			return nil, err
		}
		judged, err := send(ctx, s.addr(), judge, batch)
		if err != nil {
			return nil, err
		}
		w.PassThroughPerS, w.PerS = max(w.PassThroughPerS, passed.perS()), max(w.PerS, judged.perS())
		on, off = min(on, judged.cpu), min(off, passed.cpu)
	}
	w.CPUMSAbove = rounded((on - off).Seconds() * 1000 / float64(messages))
	if w.DirectPerS, err = direct(ctx, messages, octets/(3*messages)); err != nil && ctx.Err() == nil {
		tell("not measured: straight to smtp-sink: " + err.Error())
	}
	return &w, ctx.Err()
}

// send sends messages through a proxy of their own to the next hop at addr.
func send(ctx context.Context, addr string, check filter.CheckFunc, batch []mail) (*round, error) {
	p, err := smtpproxy.New(smtpproxy.Config{
		NextHop: "smtp://" + addr, Check: check, Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
	})
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	served := make(chan error, 1)
	go func() { served <- p.Serve(l) }()
	stop := context.AfterFunc(ctx, func() { p.Close() })
	r, err := timeRound(l.Addr().String(), batch)
	stop()
	p.Close()
	if e := <-served; !errors.Is(e, smtpproxy.ErrServerClosed) {
		return nil, e
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return r, err
}

// timeRound sends the messages over kept connections, each taking the next one, and measures the time of that.
func timeRound(addr string, batch []mail) (*round, error) {
	var clients [connections]*client
	for i := range clients {
		c, err := dial(addr)
		if err != nil {
			return nil, err
		}
		defer c.conn.Close()
		clients[i] = c
	}
	var next atomic.Int64
	var failed [connections]error
	var wg sync.WaitGroup
	begun, before := time.Now(), cpuTime()
	for i, c := range clients {
		wg.Go(func() {
			for n := next.Add(1) - 1; n < int64(len(batch)) && failed[i] == nil; n = next.Add(1) - 1 {
				failed[i] = c.send(&batch[n])
			}
		})
	}
	wg.Wait()
	r := &round{n: len(batch), elapsed: time.Since(begun), cpu: cpuTime() - before}
	if err := errors.Join(failed[:]...); err != nil {
		return nil, fmt.Errorf("sending through the proxy: %w", err)
	}
	return r, nil
}
