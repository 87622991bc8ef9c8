package smtpproxy

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync/atomic"

	"spamsim/milter/filter"
)

// maxStuck is how many judgements may go on that nobody waits for any more, each with its message in memory. Beyond
// it, mail passes unjudged until some return.
const maxStuck = 64

// judge asks the filter, for as long as Timeouts.Check allows. An own failure passes the message.
func (s *Server) judge(ctx context.Context, env *filter.Envelope, msg *held) filter.Judgement {
	if s.cfg.Check == nil {
		return filter.Judgement{}
	}
	if s.counters.stuckJudgings.Load() >= maxStuck {
		return s.failed(env, "busy")
	}
	limited, cancel := context.WithTimeout(ctx, s.cfg.Timeouts.Check)
	defer cancel()
	work := &job{ctx: limited, env: env, msg: msg, done: make(chan filter.Judgement, 1)}
	s.hand(work)
	if j, ok := await(limited, work.done); ok {
		return j
	}
	if work.parted.CompareAndSwap(false, true) {
		s.counters.stuckJudgings.Add(1)
	}
	if ctx.Err() != nil {
		return filter.Judgement{} // the client is gone, or the server stops: there is nothing to pass
	}
	return s.failed(env, "timeout")
}

// await waits for a judgement. What comes when the time is over is none, even if it comes before that was noticed.
func await(limited context.Context, done <-chan filter.Judgement) (j filter.Judgement, ok bool) {
	select {
	case j = <-done:
	case <-limited.Done():
	}
	return j, limited.Err() == nil
}

// A job is a message that is to be judged.
type job struct {
	ctx  context.Context
	env  *filter.Envelope
	msg  *held
	done chan filter.Judgement // with room for an answer that comes when nobody waits any more

	parted atomic.Bool // set by the first of the two to be done: the judge, or the session that waits no more
}

// hand gives a job to a judge that has none, else to a new one.
func (s *Server) hand(j *job) {
	j.msg.retain()
	s.running.Add(1)
	select {
	case s.jobs <- j:
	default:
		go s.work(j)
	}
}

// work does one job after the other until the server ends, or as many judges wait for one as can judge at once. A judge stays
// because its stack has grown by then: growing a new one for each message was a twentieth of judging it.
func (s *Server) work(j *job) {
	for {
		j.done <- s.check(j.ctx, j.env, j.msg.raw)
		j.msg.release()
		if !j.parted.CompareAndSwap(false, true) {
			s.counters.stuckJudgings.Add(-1)
		}
		s.running.Done()
		select {
		case s.spare <- struct{}{}:
		default:
			return
		}
		select {
		case j = <-s.jobs:
			<-s.spare
		case <-s.base.Done():
			return
		}
	}
}

// failed is the judgement of a message on which judging itself failed.
func (s *Server) failed(env *filter.Envelope, reason string) filter.Judgement {
	s.counters.failed.Add(1)
	s.log.Error("judging failed, the message passes", "door", s.door(), "reason", reason, "id", env.QueueID)
	return s.pass(env, filter.Error, reason)
}

// check judges one message, within the limit of messages judged at once. A panic concerns that message alone.
func (s *Server) check(ctx context.Context, env *filter.Envelope, raw []byte) (j filter.Judgement) {
	select {
	case s.judging <- struct{}{}:
		defer func() { <-s.judging }()
	case <-ctx.Done():
		return filter.Judgement{} // nobody waits for it
	}
	err := guard(func() error {
		j = s.cfg.Check(ctx, env, raw)
		return nil
	})
	if err != nil {
		s.log.Error("judging panicked", "door", s.door(), "err", err)
		return s.failed(env, "panic")
	}
	return j
}

// guard makes a panic of code that is not the proxy's own an error.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return f()
}

// pass is the judgement of a message that was not looked at.
func (s *Server) pass(env *filter.Envelope, kind filter.Kind, reason string) filter.Judgement {
	j := filter.Judgement{Verdict: filter.Verdict{Kind: kind, Reason: reason}}
	if s.cfg.Pass == nil {
		return j
	}
	err := guard(func() error {
		j = s.cfg.Pass(env, kind, reason)
		return nil
	})
	if err != nil {
		s.log.Error("verdict without judging failed", "door", s.door(), "err", err)
	}
	return j
}
