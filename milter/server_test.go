package milter

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"spamsim/milter/door"
	"spamsim/milter/filter"
)

// after is a filter that takes its time, whatever its context says.
func after(d time.Duration) filter.CheckFunc {
	return func(context.Context, *filter.Envelope, []byte) filter.Judgement {
		time.Sleep(d)
		return tagged
	}
}

// failed marks messages that passed unjudged.
func failed(_ *filter.Envelope, kind filter.Kind, reason string) filter.Judgement {
	if kind != filter.Error {
		reason = "wrong kind"
	}
	return filter.Judgement{Add: []filter.Field{{Name: "X-Spamsim", Value: " error; reason=" + reason}}}
}

func TestProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := connect(t, start(t, &Server{Check: after(9 * time.Second)}), postfix37)
		begin := time.Now()
		m.open(hello)
		m.send('E', "")
		for i := range 4 {
			if cmd, _ := m.recv(); cmd != 'p' || time.Since(begin) != time.Duration(2*i+2)*time.Second {
				t.Fatalf("%v after the end: %q", time.Since(begin), cmd)
			}
		}
		want(t, m.answers(), "i 0 X-Spamsim| clean; id=mx", "c")
		if d := time.Since(begin); d != 9*time.Second {
			t.Errorf("answered after %v", d)
		}
	})
}

func TestJudgingTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{Check: after(10 * time.Minute), Pass: failed, JudgeTimeout: 3 * time.Second}
		m := connect(t, start(t, s), postfix37)
		begin := time.Now()
		want(t, m.mail(hello), "p", "i 0 X-Spamsim| error; reason=timeout", "c")
		if d := time.Since(begin); d != 3*time.Second {
			t.Errorf("answered after %v", d)
		}
		want(t, m.mail(hello), "p", "i 0 X-Spamsim| error; reason=timeout", "c")
		if n := s.Stats(); n.Failed != 2 {
			t.Errorf("counted %+v", n)
		}
	})
}

// TestLateJudgementHoldsMemory: a message that passed since its judging took too long is counted as held until that ends.
func TestLateJudgementHoldsMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{Check: after(10 * time.Second), Pass: failed, JudgeTimeout: 3 * time.Second}
		m := connect(t, start(t, s), postfix37)
		want(t, m.mail(hello), "p", "i 0 X-Spamsim| error; reason=timeout", "c")
		if s.held.Held() == 0 {
			t.Error("a message that is still judged is not counted as held")
		}
		time.Sleep(10 * time.Second)
		if n := s.held.Held(); n != 0 {
			t.Errorf("%d octets are held after it", n)
		}
	})
}

// TestLateIsNoJudgement: what a filter says when its time is over does not stand for a judgement, whichever is noticed first:
// it is empty, so that a forged verdict would pass.
func TestLateIsNoJudgement(t *testing.T) {
	for range 64 {
		s := &Server{Pass: failed}
		s.init()
		near, far := net.Pipe()
		c := newSession(s, near)
		said := func() chan door.Answer {
			done := make(chan door.Answer, 1)
			done <- door.Answer{}
			return done
		}
		over, cancel := context.WithTimeout(s.init().Context(), 0)
		if j, err := c.await(over, &filter.Envelope{}, said()); err != nil || len(j.Add) != 1 || j.Add[0].Value != " error; reason=timeout" {
			t.Fatalf("%+v, %v", j, err)
		}
		cancel()
		s.Close()
		if j, err := c.await(s.init().Context(), &filter.Envelope{}, said()); !errors.Is(err, ErrServerClosed) {
			t.Fatalf("of a server that is cut: %+v, %v", j, err)
		}
		near.Close()
		far.Close()
	}
}

func TestPanicConcernsOneMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first := true
		s := &Server{Pass: failed, Check: func(context.Context, *filter.Envelope, []byte) filter.Judgement {
			if first {
				first = false
				panic("a bug")
			}
			return tagged
		}}
		m := connect(t, start(t, s), postfix37)
		want(t, m.mail(hello), "i 0 X-Spamsim| error; reason=panic", "c")
		want(t, m.mail(hello), "i 0 X-Spamsim| clean; id=mx", "c")
		if n := s.Stats(); n.Failed != 1 || n.Messages != 2 {
			t.Errorf("counted %+v", n)
		}
		s.Pass = nil
		first = true
		want(t, m.mail(hello), "c")
	})
}

// TestPanicInPass: what breaks in the conversation itself ends that conversation.
func TestPanicInPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{MaxMessage: 10, Check: always(tagged), Pass: func(*filter.Envelope, filter.Kind, string) filter.Judgement { panic("a bug") }}
		l := start(t, s)
		want(t, connect(t, l, postfix37).mail(hello), "hung up")
		want(t, connect(t, l, postfix37).mail(letter{from: "<a@b>"}), "i 0 X-Spamsim| clean; id=mx", "c")
		if n := s.Stats(); n.Broken != 1 {
			t.Errorf("counted %+v", n)
		}
	})
}

// TestSlowMessageHoldsNobody: while one message is judged, others are.
func TestSlowMessageHoldsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{Check: func(_ context.Context, env *filter.Envelope, _ []byte) filter.Judgement {
			if env.QueueID == "SLOW" {
				time.Sleep(20 * time.Second)
			}
			return tagged
		}}
		l := start(t, s)
		slow, quick := connect(t, l, postfix37), connect(t, l, postfix37)
		late := hello
		late.macros = "i\x00SLOW\x00"
		slow.open(late)
		slow.send('E', "")
		begin := time.Now()
		want(t, quick.mail(hello), "i 0 X-Spamsim| clean; id=mx", "c")
		if time.Since(begin) != 0 {
			t.Errorf("waited %v for somebody else's message", time.Since(begin))
		}
		if got := slow.answers(); got[len(got)-1] != "c" {
			t.Errorf("the slow one was answered %q", got)
		}
	})
}

// TestMaxJudging: no more than so many messages are judged at once, and those that wait report progress.
func TestMaxJudging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, &Server{MaxJudging: 1, Check: after(2500 * time.Millisecond)})
		a, b := connect(t, l, postfix37), connect(t, l, postfix37)
		a.open(hello)
		a.send('E', "")
		synctest.Wait()
		b.open(hello)
		b.send('E', "")
		begin := time.Now()
		go func() { a.answers() }()
		want(t, b.answers(), "p", "p", "i 0 X-Spamsim| clean; id=mx", "c")
		if d := time.Since(begin); d != 5*time.Second {
			t.Errorf("the second was answered after %v", d)
		}
	})
}

// TestMTAGone: a judgement that nobody waits for any more is told so by its context.
func TestMTAGone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := make(chan time.Duration, 1)
		s := &Server{Check: func(ctx context.Context, _ *filter.Envelope, _ []byte) filter.Judgement {
			begin := time.Now()
			<-ctx.Done()
			told <- time.Since(begin)
			return tagged
		}}
		m := connect(t, start(t, s), postfix37)
		m.open(hello)
		m.send('E', "")
		m.conn.Close()
		if d := <-told; d != 2*time.Second {
			t.Errorf("told after %v, want at the first report of progress", d)
		}
	})
}

func TestDeadlines(t *testing.T) {
	for name, c := range map[string]struct {
		send   string
		after  time.Duration
		broken int64
	}{
		"idle between messages": {"", 5 * time.Minute, 0},
		"idle in a message":     {packet('M', "<a@b>\x00"), 5 * time.Minute, 1},
		"slow in a packet":      {"\x00\x00\x00\x20M", time.Minute, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &Server{Check: always(tagged), IdleTimeout: 5 * time.Minute}
			m := connect(t, start(t, s), postfix37)
			_, _ = m.conn.Write([]byte(c.send))
			begin := time.Now()
			if cmd, _ := m.recv(); cmd != 0 {
				t.Errorf("%s: answered %q", name, cmd)
			}
			if d := time.Since(begin); d != c.after {
				t.Errorf("%s: closed after %v, want %v", name, d, c.after)
			}
			synctest.Wait()
			if n := s.Stats(); n.Broken != c.broken {
				t.Errorf("%s: counted %+v", name, n)
			}
		})
	}
}

func TestShutdownLetsMessagesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{Check: after(5 * time.Second)}
		l := start(t, s)
		busy, idle := connect(t, l, postfix37), connect(t, l, postfix37)
		busy.open(hello)
		begin := time.Now()
		done := make(chan error, 1)
		go func() { done <- s.Shutdown(context.Background()) }()
		if cmd, _ := idle.recv(); cmd != 0 || time.Since(begin) != drainGrace {
			t.Errorf("the idle session heard %q after %v", cmd, time.Since(begin))
		}
		busy.event('B', "more")
		time.Sleep(3 * time.Second) // the client is slow
		busy.send('E', "")
		want(t, busy.answers(), "p", "p", "i 0 X-Spamsim| clean; id=mx", "c")
		if err := <-done; err != nil {
			t.Errorf("Shutdown: %v", err)
		}
		if d := time.Since(begin); d != drainGrace+3*time.Second+5*time.Second+drainGrace {
			t.Errorf("Shutdown took %v", d)
		}
		if n := s.Stats(); n.Broken != 0 {
			t.Errorf("counted %+v", n)
		}
	})
}

// TestRetire: an MTA that is silent for long between its messages is waited for until it is done, and judged for meanwhile.
func TestRetire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{Check: always(tagged)}
		m := connect(t, start(t, s), postfix37)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := s.Retire(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Retire returned before the MTA was done: %v", err)
		}
		done := make(chan error, 1)
		go func() { done <- s.Retire(context.Background()) }()
		time.Sleep(10 * drainGrace)
		want(t, m.mail(hello), "i 0 X-Spamsim| clean; id=mx", "c")
		m.send('Q', "")
		if err := <-done; err != nil {
			t.Errorf("Retire: %v", err)
		}
		if n := s.Stats(); n.Messages != 1 || n.Broken != 0 {
			t.Errorf("counted %+v", n)
		}
	})
}

func TestShutdownGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &Server{Check: always(tagged)}
		m := connect(t, start(t, s), postfix37)
		m.open(hello)
		ctx, cancel := context.WithTimeout(context.Background(), 7*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Shutdown: %v", err)
		}
		s.Close()
		if cmd, _ := m.recv(); cmd != 0 {
			t.Errorf("after Close the session heard %q", cmd)
		}
		l := newPipes()
		if err := s.Serve(l); !errors.Is(err, ErrServerClosed) {
			t.Errorf("Serve after Close: %v", err)
		}
		if _, err := l.Accept(); err == nil {
			t.Error("Serve after Close left the listener open")
		}
	})
}

// TestCloseEndsJudging: Close waits for the filter, which is told to stop.
func TestCloseEndsJudging(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := false
		s := &Server{Check: func(ctx context.Context, _ *filter.Envelope, _ []byte) filter.Judgement {
			<-ctx.Done()
			time.Sleep(time.Second)
			ended = true
			return tagged
		}}
		m := connect(t, start(t, s), postfix37)
		m.open(hello)
		m.send('E', "")
		synctest.Wait()
		s.Close()
		if !ended {
			t.Error("Close left a judgement behind")
		}
	})
}

// A failing listener fails so many times, then serves, as one does for want of file descriptors.
type failing struct {
	*pipes
	left int
}

func (f *failing) Accept() (net.Conn, error) {
	if f.left > 0 {
		f.left--
		return nil, &net.OpError{Op: "accept", Err: syscall.EMFILE}
	}
	return f.pipes.Accept()
}

func TestAcceptFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &failing{newPipes(), 10}
		s := &Server{Check: always(tagged)}
		served := make(chan error, 1)
		go func() { served <- s.Serve(l) }()
		begin := time.Now()
		m := connect(t, l.pipes, postfix37)
		if d := time.Since(begin); d < 2*time.Second || d > 5*time.Second {
			t.Errorf("10 failures took %v: 5 ms, doubled each time to at most 1 s", d)
		}
		want(t, m.mail(hello), "i 0 X-Spamsim| clean; id=mx", "c")
		s.Close()
		if err := <-served; !errors.Is(err, ErrServerClosed) {
			t.Errorf("Serve: %v", err)
		}
	})
}

func TestListenerClosedByOthers(t *testing.T) {
	l := newPipes()
	l.Close()
	s := &Server{Check: always(tagged)}
	if err := s.Serve(l); !errors.Is(err, net.ErrClosed) || errors.Is(err, ErrServerClosed) {
		t.Errorf("Serve: %v", err)
	}
	s.Close()
}

func TestMaxConns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, &Server{MaxConns: 2, Check: always(tagged)})
		a := connect(t, l, postfix37)
		connect(t, l, postfix37)
		third := make(chan *mta)
		go func() { third <- connect(t, l, postfix37) }()
		synctest.Wait()
		select {
		case <-third:
			t.Fatal("a third connection was served")
		default:
		}
		a.send('Q', "")
		want(t, (<-third).mail(hello), "i 0 X-Spamsim| clean; id=mx", "c")
	})
}
