package milter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"spamsim/milter/door"
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
	d := s.server.init()
	ctx, cancel := context.WithTimeout(d.Context(), s.server.judgeTimeout())
	defer cancel()
	return s.await(ctx, env, d.Ask(ctx, s.server.Check, env, m.raw))
}

// await waits for a judgement. A filter that takes too long is not waited for: the message passes unjudged. What comes when
// the time is over is no judgement, even if it comes before that was noticed.
func (s *session) await(ctx context.Context, env *filter.Envelope, answers <-chan door.Answer) (filter.Judgement, error) {
	tick := time.NewTicker(s.server.progress())
	defer tick.Stop()
	for {
		select {
		case a := <-answers:
			switch {
			case ctx.Err() != nil:
				return s.late(ctx, env)
			case a.Panicked:
				return s.server.failed(env, "panic"), nil
			}
			return a.Judgement, nil
		case <-tick.C:
			writePacket(s.w, actProgress)
			if err := s.w.Flush(); err != nil {
				return filter.Judgement{}, fmt.Errorf("reporting progress: %w", err) // the MTA is gone
			}
		case <-ctx.Done():
			s.server.init().Leave(answers, &s.server.held, s.held)
			s.held = 0
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
