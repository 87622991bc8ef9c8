package milter

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"spamsim/milter/filter"
)

// errBusy answers a message for which there is no memory. RFC 3463 has 4.3.1 for a system whose storage is full.
const errBusy = "452 4.3.1 Insufficient memory, try again later"

// judge finds out what is to be done with the message that just ended. While that takes long it tells the MTA so.
func (s *session) judge(env *filter.Envelope) (filter.Judgement, error) {
	m := &s.message
	switch {
	case m.full:
		s.server.count(func(n *Stats) { n.Refused++ })
		return filter.Judgement{Action: filter.TempFail, Reply: errBusy}, nil
	case m.over:
		s.server.count(func(n *Stats) { n.Skipped++ })
		return s.server.pass(env, filter.Skipped, "size"), nil
	}
	ctx, cancel := context.WithTimeout(s.server.ctx, s.server.judgeTimeout())
	defer cancel()
	done := make(chan checked, 1) // room for an answer that comes when nobody waits any more
	raw, held := m.raw, s.held
	s.held = 0 // the message is the judgement's now, which may go on when nobody waits for it
	s.server.running.Go(func() {
		c := s.server.check(ctx, env, raw)
		s.server.held.give(held)
		done <- c
	})
	return s.await(ctx, env, done)
}

// await waits for a judgement. A filter that takes too long is not waited for: the message passes unjudged. What comes when
// the time is over is no judgement, even if it comes before that was noticed.
func (s *session) await(ctx context.Context, env *filter.Envelope, done <-chan checked) (filter.Judgement, error) {
	tick := time.NewTicker(s.server.progress())
	defer tick.Stop()
	for {
		select {
		case c := <-done:
			switch {
			case ctx.Err() != nil:
				return s.late(ctx, env)
			case c.panicked:
				return s.server.failed(env, "panic"), nil
			}
			return c.Judgement, nil
		case <-tick.C:
			writePacket(s.w, actProgress)
			if err := s.w.Flush(); err != nil {
				return filter.Judgement{}, fmt.Errorf("reporting progress: %w", err) // the MTA is gone
			}
		case <-ctx.Done():
			return s.late(ctx, env)
		}
	}
}

// late is what becomes of a message that is not judged since the time is over, or the server is cut.
func (s *session) late(ctx context.Context, env *filter.Envelope) (filter.Judgement, error) {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return filter.Judgement{}, ErrServerClosed
	}
	return s.server.failed(env, "timeout"), nil
}

// A checked is what came of asking the filter.
type checked struct {
	filter.Judgement
	panicked bool
}

// check judges one message within the limit of messages judged at once. A panic concerns that message alone.
func (s *Server) check(ctx context.Context, env *filter.Envelope, raw []byte) (c checked) {
	defer func() {
		if p := recover(); p != nil {
			s.log().Error("judging panicked", "door", "milter", "id", env.QueueID, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			c = checked{panicked: true}
		}
	}()
	select {
	case s.judging <- struct{}{}:
		defer func() { <-s.judging }()
	case <-ctx.Done():
		return checked{} // nobody waits for it
	}
	return checked{Judgement: s.Check(ctx, env, raw)}
}

// failed is the judgement of a message on which judging itself failed: it passes.
func (s *Server) failed(env *filter.Envelope, reason string) filter.Judgement {
	s.count(func(n *Stats) { n.Failed++ })
	s.log().Error("judging failed, the message passes", "door", "milter", "id", env.QueueID, "reason", reason)
	return s.pass(env, filter.Error, reason)
}

// pass is what is put on a message that was not judged.
func (s *Server) pass(env *filter.Envelope, kind filter.Kind, reason string) filter.Judgement {
	if s.Pass == nil {
		return filter.Judgement{Verdict: filter.Verdict{Kind: kind, Reason: reason}}
	}
	return s.Pass(env, kind, reason)
}
