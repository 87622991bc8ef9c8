package dccifd

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime"
	"sync"
	"time"

	"spamsim/milter/door"
	"spamsim/milter/filter"
)

// ErrServerClosed is what Serve returns once Shutdown or Close was called.
var ErrServerClosed = errors.New("dccifd server closed")

// A Server answers scanners. Fields are set before the first Serve and not changed after; zero means the default. Check
// and Peek are required.
type Server struct {
	// Check judges and counts a message, Peek judges one that is only asked about. They are to return once their context
	// is done; one that does not is left behind.
	Check, Peek filter.CheckFunc
	// Pass is told of a message that is not judged: filter.Skipped with reason "size", filter.Error with "panic" or
	// "timeout". Its verdict is what counts. nil does without.
	Pass func(env *filter.Envelope, kind filter.Kind, reason string) filter.Judgement
	ID   string       // this host's name in the header line; printable ASCII without blanks or semicolons
	Log  *slog.Logger // nil is silent

	MaxConns     int           // connections at once, default 250; further clients wait to be accepted
	MaxJudging   int           // messages judged at once, default 4 for each processor; further ones wait
	MaxMessage   int           // octets of a message that is judged, default 10 MiB; a larger one is answered as skipped
	MaxHeld      int64         // octets of all messages held at once, default 256 MiB; one beyond is answered T
	RequestTime  time.Duration // from connecting to the half-close, and for the answer to be taken; default 30 s
	JudgeTimeout time.Duration // one judgement, default 4 s: scanners wait for five; then the answer is T

	once sync.Once
	door *door.Server
	held door.Budget

	mu    sync.Mutex
	stats Stats
}

// Stats are a server's counters since its start, but for Sessions.
type Stats struct {
	Sessions    int   // connections now open
	Connections int64 // accepted
	Messages    int64 // read whole, whatever was answered
	Skipped     int64 // over MaxMessage
	Refused     int64 // answered T unread: cut, too long, too slow, or no memory
	Failed      int64 // answered T because judging panicked or took too long
	Broken      int64 // connections that ended in trouble, the refused ones among them
}

// Stats returns the counters of now.
func (s *Server) Stats() Stats {
	c := s.init().Counts()
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.stats
	n.Sessions, n.Connections, n.Broken = c.Open, c.Accepted, c.Broken
	return n
}

func (s *Server) count(add func(*Stats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	add(&s.stats)
}

// init makes the door, once the fields are set.
func (s *Server) init() *door.Server {
	s.once.Do(func() {
		s.door = &door.Server{
			Name: "dccifd", Closed: ErrServerClosed, Log: s.log(), Open: func(c net.Conn) door.Session { return newSession(s, c) },
			Conns: cmp.Or(s.MaxConns, 250), Judging: cmp.Or(s.MaxJudging, 4*runtime.GOMAXPROCS(0)),
		}
	})
	return s.door
}

func (s *Server) maxMessage() int             { return cmp.Or(s.MaxMessage, 10<<20) }
func (s *Server) maxHeld() int64              { return cmp.Or(s.MaxHeld, 256<<20) }
func (s *Server) requestTime() time.Duration  { return cmp.Or(s.RequestTime, 30*time.Second) }
func (s *Server) judgeTimeout() time.Duration { return cmp.Or(s.JudgeTimeout, 4*time.Second) }

var silent = slog.New(slog.DiscardHandler)

func (s *Server) log() *slog.Logger { return cmp.Or(s.Log, silent) }

// Serve accepts connections until Shutdown or Close, and returns ErrServerClosed then. It may be called for several
// listeners at once and closes each. A failed Accept, such as for want of file descriptors, is tried again.
func (s *Server) Serve(l net.Listener) error { return s.init().Serve(l) }

// Shutdown stops accepting and waits until each request under way is answered; a client that has said nothing is let go
// after two seconds. When ctx is done first its error is returned; Close then cuts what is left.
func (s *Server) Shutdown(ctx context.Context) error { return s.init().Shutdown(ctx) }

// Close stops accepting, cuts every connection and waits for them and for judgements under way.
func (s *Server) Close() error { return s.init().Close() }
