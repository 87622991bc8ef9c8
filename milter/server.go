package milter

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"spamsim/milter/filter"
)

// ErrServerClosed is what Serve returns once Shutdown or Close was called.
var ErrServerClosed = errors.New("milter server closed")

// A Server answers MTAs. Fields are set before the first Serve and not changed after; zero means the default. Check
// alone is required.
type Server struct {
	// Check judges a message. The bytes are the message as the MTA shows it, without the Received field that the MTA
	// adds itself. It is to return once its context is done; one that does not is left behind.
	Check filter.CheckFunc
	// Pass says what to put on a message that is not judged: filter.Skipped with reason "size", filter.Error with
	// "panic" or "timeout". nil passes it as it is.
	Pass func(env *filter.Envelope, kind filter.Kind, reason string) filter.Judgement
	Log  *slog.Logger // nil is silent

	MaxConns     int           // connections at once, default 1000; further MTAs wait to be accepted
	MaxJudging   int           // messages judged at once, default 4 for each processor; further ones wait
	MaxMessage   int           // octets of a message that is judged, default 10 MiB; a larger one passes as skipped
	MaxHeld      int64         // octets of all messages held at once, default 256 MiB; one beyond is answered 452
	IdleTimeout  time.Duration // silence of an MTA between packets, default 7210 s as in libmilter
	JudgeTimeout time.Duration // one judgement, default 60 s; then the message passes unjudged
	Progress     time.Duration // between reports of progress while judging, default 2 s

	once    sync.Once
	ctx     context.Context // done when the server is cut
	cancel  context.CancelFunc
	slots   chan struct{} // one for each connection
	judging chan struct{} // one for each message that is judged
	held    budget
	running sync.WaitGroup // sessions and judgements

	mu        sync.Mutex
	stopped   bool
	listeners map[net.Listener]bool
	sessions  map[*session]bool
	stats     Stats
}

// Stats are a server's counters since its start, but for Sessions.
type Stats struct {
	Sessions    int   // connections now open
	Connections int64 // accepted
	Messages    int64 // answered
	Skipped     int64 // over MaxMessage
	Refused     int64 // answered 452 for want of memory
	Failed      int64 // passed because judging panicked or took too long
	Aborted     int64 // transactions that the client or the MTA gave up
	Broken      int64 // connections that ended in the middle of something
}

// Stats returns the counters of now.
func (s *Server) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.stats
	n.Sessions = len(s.sessions)
	return n
}

func (s *Server) count(add func(*Stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	add(&s.stats)
}

// init makes what a literal cannot.
func (s *Server) init() {
	s.once.Do(func() {
		s.ctx, s.cancel = context.WithCancel(context.Background())
		s.slots = make(chan struct{}, or(s.MaxConns, 1000))
		s.judging = make(chan struct{}, or(s.MaxJudging, 4*runtime.GOMAXPROCS(0)))
		s.listeners = map[net.Listener]bool{}
		s.sessions = map[*session]bool{}
	})
}

// or is a setting, or its default where it is zero.
func or[T int | int64 | time.Duration](set, usual T) T {
	if set == 0 {
		return usual
	}
	return set
}

func (s *Server) maxMessage() int             { return or(s.MaxMessage, 10<<20) }
func (s *Server) maxHeld() int64              { return or(s.MaxHeld, 256<<20) }
func (s *Server) idleTimeout() time.Duration  { return or(s.IdleTimeout, 7210*time.Second) }
func (s *Server) judgeTimeout() time.Duration { return or(s.JudgeTimeout, time.Minute) }
func (s *Server) progress() time.Duration     { return or(s.Progress, 2*time.Second) }

var silent = slog.New(slog.DiscardHandler)

func (s *Server) log() *slog.Logger {
	if s.Log == nil {
		return silent
	}
	return s.Log
}

// Serve accepts connections until Shutdown or Close, and returns ErrServerClosed then. It may be called for several
// listeners at once and closes each. A failed Accept, such as for want of file descriptors, is tried again.
func (s *Server) Serve(l net.Listener) error {
	s.init()
	if !s.listen(l) {
		l.Close()
		return ErrServerClosed
	}
	defer l.Close()
	for wait := time.Duration(0); ; {
		select {
		case s.slots <- struct{}{}:
		case <-s.ctx.Done():
			return ErrServerClosed
		}
		conn, err := l.Accept()
		if err == nil {
			wait = 0
			s.start(conn)
			continue
		}
		<-s.slots
		if s.closed() {
			return ErrServerClosed
		}
		if errors.Is(err, net.ErrClosed) {
			return err
		}
		wait = min(max(2*wait, 5*time.Millisecond), time.Second)
		s.log().Error("accepting failed, trying again", "door", "milter", "addr", l.Addr().String(), "wait", wait, "err", err)
		s.pause(wait)
	}
}

// listen remembers a listener, unless the server was stopped.
func (s *Server) listen(l net.Listener) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stopped {
		s.listeners[l] = true
	}
	return !s.stopped
}

func (s *Server) closed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stopped
}

// pause waits, or less where the server is cut.
func (s *Server) pause(d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-s.ctx.Done():
	}
}

// start serves a connection, which holds a slot.
func (s *Server) start(conn net.Conn) {
	c := newSession(s, conn)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped { // accepted while it stopped: the MTA has said nothing yet
		conn.Close()
		<-s.slots
		return
	}
	s.sessions[c] = true
	s.stats.Connections++
	s.running.Go(func() { s.run(c) })
}

// run serves a session to its end.
func (s *Server) run(c *session) {
	defer func() { <-s.slots }()
	defer c.conn.Close()
	defer c.reset()
	err := c.guarded()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, c)
	if err != nil && s.ctx.Err() == nil {
		s.stats.Broken++
		s.log().Warn("the conversation broke", "door", "milter", "id", c.macros.queueID, "client", c.addr, "err", err)
	}
}

// Shutdown stops accepting and waits until every session has ended by itself: one in a message finishes it, one that
// is silent between messages is closed after two seconds. When ctx is done first its error is returned; Close then
// cuts what is left.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stop()
	return s.wait(ctx)
}

// Retire waits until every MTA has hung up by itself: for a server whose listeners another one took over, once Serve has
// returned for each. An MTA opens a connection for each SMTP session and cannot be asked to open another one amid it. When
// ctx is done first its error is returned; Shutdown may follow.
func (s *Server) Retire(ctx context.Context) error {
	s.init()
	return s.wait(ctx)
}

// wait waits for the sessions to end.
func (s *Server) wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() { // ends at the latest after Close, which Shutdown's caller owes
		s.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close stops accepting, cuts every session and waits for them and for judgements under way.
func (s *Server) Close() error {
	s.stop()
	s.cancel()
	s.mu.Lock()
	for c := range s.sessions {
		c.conn.Close()
	}
	s.mu.Unlock()
	s.running.Wait()
	return nil
}

// stop closes the listeners and lets the sessions drain.
func (s *Server) stop() {
	s.init()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	for l := range s.listeners {
		l.Close()
	}
	for c := range s.sessions {
		c.conn.drain()
	}
}

// A budget counts octets that are held.
type budget struct{ n atomic.Int64 }

// take adds n unless the sum would be over the limit.
func (b *budget) take(n int, limit int64) bool {
	if b.n.Add(int64(n)) <= limit {
		return true
	}
	b.n.Add(-int64(n))
	return false
}

// give takes n off.
func (b *budget) give(n int) { b.n.Add(-int64(n)) }
