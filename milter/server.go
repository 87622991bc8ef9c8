package milter

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
	Messages    int64 // answered
	Skipped     int64 // over MaxMessage
	Refused     int64 // answered 452 for want of memory
	Failed      int64 // passed because judging panicked or took too long
	Aborted     int64 // transactions that the client or the MTA gave up
	Broken      int64 // connections that ended in the middle of something
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
			Name: "milter", Closed: ErrServerClosed, Log: s.log(), Open: func(c net.Conn) door.Session { return newSession(s, c) },
			Conns: cmp.Or(s.MaxConns, 1000), Judging: cmp.Or(s.MaxJudging, 4*runtime.GOMAXPROCS(0)),
		}
	})
	return s.door
}

func (s *Server) maxMessage() int             { return cmp.Or(s.MaxMessage, 10<<20) }
func (s *Server) maxHeld() int64              { return cmp.Or(s.MaxHeld, 256<<20) }
func (s *Server) idleTimeout() time.Duration  { return cmp.Or(s.IdleTimeout, 7210*time.Second) }
func (s *Server) judgeTimeout() time.Duration { return cmp.Or(s.JudgeTimeout, time.Minute) }
func (s *Server) progress() time.Duration     { return cmp.Or(s.Progress, 2*time.Second) }

var silent = slog.New(slog.DiscardHandler)

func (s *Server) log() *slog.Logger { return cmp.Or(s.Log, silent) }

// Serve accepts connections until Shutdown or Close, and returns ErrServerClosed then. It may be called for several
// listeners at once and closes each. A failed Accept, such as for want of file descriptors, is tried again.
func (s *Server) Serve(l net.Listener) error { return s.init().Serve(l) }

// Shutdown stops accepting and waits until every session has ended by itself: one in a message finishes it, one that
// is silent between messages is closed after two seconds. When ctx is done first its error is returned; Close then
// cuts what is left.
func (s *Server) Shutdown(ctx context.Context) error { return s.init().Shutdown(ctx) }

// Retire waits until every MTA has hung up by itself: for a server whose listeners another one took over, once Serve has
// returned for each. An MTA opens a connection for each SMTP session and cannot be asked to open another one amid it. When
// ctx is done first its error is returned; Shutdown may follow.
func (s *Server) Retire(ctx context.Context) error { return s.init().Retire(ctx) }

// Close stops accepting, cuts every session and waits for them and for judgements under way.
func (s *Server) Close() error { return s.init().Close() }
