// Package door has what the servers of the front doors do alike: they take connections, no more than so many at a time, converse
// on each, and let them end. What is said on a connection is the door's own.
package door

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// A Session is one connection of a client.
type Session interface {
	// Converse serves the client to the end and says why the conversation broke, if it did. The connection is closed after it.
	Converse() error
	// Release gives back what the session holds. It is called last, also where Converse panicked.
	Release()
	// Drain lets a session end soon that has nothing under way. It is called beside Converse.
	Drain()
	// LogKeys are what the log is to say of a session that broke: keys and values in turn.
	LogKeys() []any
}

// A Server takes connections. Fields are set before the first call and not changed after; all are required.
type Server struct {
	Name    string // of the door, for the log
	Open    func(net.Conn) Session
	Conns   int   // at once; further clients wait to be accepted
	Judging int   // messages judged at once; further ones wait
	Closed  error // what Serve returns once Shutdown or Close was called
	Log     *slog.Logger

	once    sync.Once
	ctx     context.Context // done when the server is cut
	cancel  context.CancelFunc
	slots   chan struct{}  // one for each connection
	judging chan struct{}  // one for each message that is judged
	running sync.WaitGroup // sessions, and what Go began

	mu        sync.Mutex
	stopped   bool
	listeners map[net.Listener]bool
	sessions  map[Session]net.Conn
	counts    Counts
}

// Counts are a server's counters since its start, but for Open.
type Counts struct {
	Open     int   // connections there are now
	Accepted int64 // connections
	Broken   int64 // connections that ended in trouble
}

// Counts returns the counters of now.
func (s *Server) Counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.counts
	n.Open = len(s.sessions)
	return n
}

// init makes what a literal cannot.
func (s *Server) init() {
	s.once.Do(func() {
		s.ctx, s.cancel = context.WithCancel(context.Background())
		s.slots = make(chan struct{}, s.Conns)
		s.judging = make(chan struct{}, s.Judging)
		s.listeners = map[net.Listener]bool{}
		s.sessions = map[Session]net.Conn{}
	})
}

// Context is done once the server is cut.
func (s *Server) Context() context.Context {
	s.init()
	return s.ctx
}

// Go runs f beside a session; Close waits for it.
func (s *Server) Go(f func()) { s.running.Go(f) }

// Serve accepts connections until Shutdown or Close, and returns Closed then. It may be called for several listeners at once
// and closes each. A failed Accept, such as for want of file descriptors, is tried again.
func (s *Server) Serve(l net.Listener) error {
	s.init()
	defer l.Close()
	if !s.listen(l) {
		return s.Closed
	}
	for wait := time.Duration(0); ; {
		select {
		case s.slots <- struct{}{}:
		case <-s.ctx.Done():
			return s.Closed
		}
		conn, err := l.Accept()
		if err == nil {
			wait = 0
			s.start(conn)
			continue
		}
		<-s.slots
		if s.isStopped() {
			return s.Closed
		}
		if errors.Is(err, net.ErrClosed) {
			return err
		}
		wait = min(max(2*wait, 5*time.Millisecond), time.Second)
		s.Log.Error("accepting failed, trying again", "door", s.Name, "addr", l.Addr().String(), "wait", wait, "err", err)
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

func (s *Server) isStopped() bool {
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
	c := s.Open(conn)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped { // accepted while it stopped: the client has said nothing yet
		conn.Close()
		<-s.slots
		return
	}
	s.sessions[c] = conn
	s.counts.Accepted++
	s.running.Go(func() { s.run(c, conn) })
}

// run serves a session to its end.
func (s *Server) run(c Session, conn net.Conn) {
	defer func() { <-s.slots }()
	defer conn.Close()
	defer c.Release()
	err := guarded(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, c)
	if err != nil && s.ctx.Err() == nil {
		s.counts.Broken++
		s.Log.Warn("the conversation broke", slices.Concat([]any{"door", s.Name}, c.LogKeys(), []any{"err", err})...)
	}
}

// guarded makes a panic the end of this conversation alone.
func guarded(c Session) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return c.Converse()
}
