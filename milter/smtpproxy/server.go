package smtpproxy

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/emersion/go-smtp"
)

// A Server is an SMTP proxy. Make one with New.
type Server struct {
	cfg      Config
	log      *slog.Logger
	hop      nextHop
	engine   *smtp.Server
	budget   budget
	counters counters
	judging  chan struct{} // one for each message that is judged
	jobs     chan *job     // for judges that have none
	spare    chan struct{} // one for each of these
	base     context.Context
	cut      context.CancelFunc // ends all that goes on
	running  sync.WaitGroup     // connections and judgements
	draining atomic.Bool
	retiring atomic.Bool // and yet each client may send one message

	mu        sync.Mutex
	stopped   bool
	listeners map[net.Listener]bool
	clients   map[*client]bool
	searched  time.Time // when makeRoom found nobody to send away

	perNetwork map[netip.Prefix]int // connections of those that are not trusted
}

// New makes a proxy. The next hop need not be up.
func New(c Config) (*Server, error) {
	c.fill()
	s := &Server{
		cfg: c, log: c.Logger, judging: make(chan struct{}, c.MaxJudging),
		jobs: make(chan *job), spare: make(chan struct{}, c.MaxJudging),
		budget:    budget{limit: c.MemoryBudget, of: map[netip.Prefix]int64{}},
		listeners: map[net.Listener]bool{}, clients: map[*client]bool{}, perNetwork: map[netip.Prefix]int{},
	}
	s.base, s.cut = context.WithCancel(context.Background())
	hop, err := parseNextHop(s)
	if err != nil {
		return nil, err
	}
	s.hop = hop
	if c.NextHopProxy > 2 {
		return nil, nextHopError(c.NextHop, "there is no such version of PROXY headers")
	}
	for _, addr := range c.Listen {
		if s.loops(addr) {
			return nil, fmt.Errorf("%w: %s", ErrLoop, addr)
		}
	}
	s.engine = smtp.NewServer(smtp.BackendFunc(func(c *smtp.Conn) (smtp.Session, error) {
		return c.Conn().(*client).session, nil
	}))
	s.engine.Domain = c.Hostname
	s.engine.LMTP = c.LMTP
	s.engine.MaxLineLength = 0 // lines are bounded beneath
	s.engine.ErrorLog = engineLog{s.log, s.door()}
	return s, nil
}

// Serve takes connections until Shutdown or Close, and then returns ErrServerClosed. It may be called for several
// listeners, which it closes.
func (s *Server) Serve(l net.Listener) error {
	defer l.Close()
	if s.loops(l.Addr().String()) {
		return fmt.Errorf("%w: %s", ErrLoop, l.Addr())
	}
	s.mu.Lock()
	if s.stopped {
		s.mu.Unlock()
		return ErrServerClosed
	}
	s.listeners[l] = true
	s.mu.Unlock()
	err := s.engine.Serve(&gate{Listener: l, server: s})
	s.mu.Lock()
	delete(s.listeners, l)
	stopped := s.stopped
	s.mu.Unlock()
	if stopped {
		return ErrServerClosed
	}
	return err
}

// Shutdown takes no further connections and no further mail: a client between two messages is told 421, one within a
// message may finish it. It returns once all are gone, or when ctx is done with its error; then Close cuts the rest.
func (s *Server) Shutdown(ctx context.Context) error {
	s.retiring.Store(false)
	return s.drain(ctx)
}

// Retire is Shutdown for a proxy whose listeners another one took over, once Serve has returned for each: a client that has
// sent no message yet may send one, so that nobody who came in is turned away. Shutdown may follow.
func (s *Server) Retire(ctx context.Context) error {
	s.retiring.Store(true)
	return s.drain(ctx)
}

// drain sends those away who are to go, and waits for the others.
func (s *Server) drain(ctx context.Context) error {
	s.draining.Store(true)
	for _, c := range s.stop() {
		c.nudge()
	}
	select {
	case <-s.idle():
		return s.Close()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// idle returns a channel that is closed once nothing goes on any more.
func (s *Server) idle() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.running.Wait()
	}()
	return done
}

// closeTime is how long Close waits for what it has cut: all but judgements that ignore their context end at once.
const closeTime = 5 * time.Second

// Close ends everything at once: no client is answered and no message handed on any more. It may follow Shutdown.
func (s *Server) Close() error {
	s.draining.Store(true)
	clients := s.stop()
	s.cut()
	for _, c := range clients {
		_ = c.cut()
	}
	s.hop.close()
	select {
	case <-s.idle():
	case <-time.After(closeTime):
		s.log.Error("judgements still run", "door", s.door())
	}
	return nil
}

// stop closes the listeners and returns the connections of now.
func (s *Server) stop() []*client {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	for l := range s.listeners {
		l.Close()
	}
	clients := make([]*client, 0, len(s.clients))
	for c := range s.clients {
		clients = append(clients, c)
	}
	return clients
}

// door is what log, counters and envelope call the proxy: the protocol of its clients.
func (s *Server) door() string {
	if s.cfg.LMTP {
		return "lmtp"
	}
	return "smtp"
}

// hopFailed notes a transaction that broke at the next hop.
func (s *Server) hopFailed(step string, err error) {
	s.counters.hopFailed.Add(1)
	s.log.Warn("next hop failed", "door", s.door(), "step", step, "err", err)
}

// engineLog takes what go-smtp says: of panics, and of connections that ended badly, which is their business.
type engineLog struct {
	log  *slog.Logger
	door string
}

// Printf logs.
func (l engineLog) Printf(format string, v ...any) {
	level := slog.LevelDebug
	if strings.HasPrefix(format, "panic") || strings.HasPrefix(format, "accept") {
		level = slog.LevelError
	}
	l.log.Log(context.Background(), level, fmt.Sprintf(format, v...), "door", l.door)
}

// Println logs.
func (l engineLog) Println(v ...any) { l.Printf("%s", fmt.Sprintln(v...)) }
