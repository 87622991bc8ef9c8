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
	done := make(chan filter.Judgement, 1) // room for an answer that comes when nobody waits any more
	raw := m.raw
	s.server.running.Go(func() { done <- s.server.check(ctx, env, raw) })
	return s.await(ctx, env, done)
}

// await waits for a judgement. A filter that takes too long is not waited for: the message passes unjudged.
func (s *session) await(ctx context.Context, env *filter.Envelope, done <-chan filter.Judgement) (filter.Judgement, error) {
	tick := time.NewTicker(s.server.progress())
	defer tick.Stop()
	for {
		select {
		case j := <-done:
			return j, nil
		case <-tick.C:
			writePacket(s.w, actProgress)
			if err := s.w.Flush(); err != nil {
				return filter.Judgement{}, fmt.Errorf("reporting progress: %w", err) // the MTA is gone
			}
		case <-ctx.Done():
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return filter.Judgement{}, ErrServerClosed
			}
			s.server.count(func(n *Stats) { n.Failed++ })
			s.server.log().Error("judging took too long, the message passes", "door", "milter", "id", env.QueueID)
			return s.server.pass(env, filter.Error, "timeout"), nil
		}
	}
}

// check judges one message within the limit of messages judged at once. A panic concerns that message alone: it passes.
func (s *Server) check(ctx context.Context, env *filter.Envelope, raw []byte) (j filter.Judgement) {
	defer func() {
		if p := recover(); p != nil {
			s.count(func(n *Stats) { n.Failed++ })
			s.log().Error("judging panicked, the message passes", "door", "milter", "id", env.QueueID,
				"panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			j = s.pass(env, filter.Error, "panic")
		}
	}()
	select {
	case s.judging <- struct{}{}:
		defer func() { <-s.judging }()
	case <-ctx.Done():
		return filter.Judgement{} // nobody waits for it
	}
	return s.Check(ctx, env, raw)
}

// pass is what is put on a message that was not judged.
func (s *Server) pass(env *filter.Envelope, kind filter.Kind, reason string) filter.Judgement {
	if s.Pass == nil {
		return filter.Judgement{Verdict: filter.Verdict{Kind: kind, Reason: reason}}
	}
	return s.Pass(env, kind, reason)
}
