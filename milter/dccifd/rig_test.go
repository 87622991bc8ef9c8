package dccifd

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"spamsim/milter/door"
	"spamsim/milter/filter"
)

// watchdog bounds what a test waits for; nothing takes this long.
const watchdog = 30 * time.Second

// An asked is a call of the filter.
type asked struct {
	env    filter.Envelope
	raw    string
	counts bool
}

// A rig is a server with a filter that says what the test tells it to.
type rig struct {
	*Server
	addr net.Addr
	say  func(a asked) filter.Verdict
	hang bool // the filter says nothing before its context is done

	lock     sync.Mutex
	seen     []asked
	hanging  int // calls of a filter that says nothing
	sessions []*session
}

// start serves s on a socket of the network until the test ends.
func start(t *testing.T, network string, s *Server, say func(asked) filter.Verdict) *rig {
	t.Helper()
	r := &rig{Server: s, say: say}
	s.ID = "mx1"
	s.Check = func(ctx context.Context, env *filter.Envelope, raw []byte) filter.Judgement {
		return r.ask(ctx, env, raw, true)
	}
	s.Peek = func(ctx context.Context, env *filter.Envelope, raw []byte) filter.Judgement {
		return r.ask(ctx, env, raw, false)
	}
	addr := "127.0.0.1:0"
	if network == "unix" {
		addr = t.TempDir() + "/s"
	}
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	r.addr = l.Addr()
	d := s.init()
	open := d.Open
	d.Open = func(conn net.Conn) door.Session {
		c := open(conn)
		r.lock.Lock()
		defer r.lock.Unlock()
		r.sessions = append(r.sessions, c.(*session))
		return c
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Close()
		if err := <-done; !errors.Is(err, ErrServerClosed) {
			t.Errorf("Serve: %v", err)
		}
		if n := s.held.Held(); n != 0 {
			t.Errorf("%d octets are still held", n)
		}
	})
	return r
}

func (r *rig) ask(ctx context.Context, env *filter.Envelope, raw []byte, counts bool) filter.Judgement {
	if r.hang {
		r.lock.Lock()
		r.hanging++
		r.lock.Unlock()
		<-ctx.Done()
		return filter.Judgement{}
	}
	a := asked{*env, string(raw), counts}
	r.lock.Lock()
	r.seen = append(r.seen, a)
	r.lock.Unlock()
	return filter.Judgement{Verdict: r.say(a)}
}

// last is the filter's last call.
func (r *rig) last(t *testing.T) asked {
	t.Helper()
	r.lock.Lock()
	defer r.lock.Unlock()
	if len(r.seen) == 0 {
		t.Fatal("the filter was not asked")
	}
	return r.seen[len(r.seen)-1]
}

// begun counts the clients that have said something, and the calls of the filter that hang.
func (r *rig) begun() (n, hanging int) {
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, c := range r.sessions {
		c.mu.Lock()
		if c.begun {
			n++
		}
		c.mu.Unlock()
	}
	return n, r.hanging
}

// dial connects to the server.
func (r *rig) dial(t *testing.T) net.Conn {
	t.Helper()
	conn, err := net.Dial(r.addr.Network(), r.addr.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(watchdog)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// request sends all and returns the whole answer.
func (r *rig) request(t *testing.T, text string) string {
	t.Helper()
	conn := r.dial(t)
	defer conn.Close()
	if _, err := io.WriteString(conn, text); err != nil {
		t.Fatal(err)
	}
	return end(t, conn)
}

// end half-closes a connection and reads what is answered.
func end(t *testing.T, conn net.Conn) string {
	t.Helper()
	if err := conn.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatalf("after %q: %v", answer, err)
	}
	return string(answer)
}

// says is a filter that says the same of each message.
func says(v filter.Verdict) func(asked) filter.Verdict {
	return func(asked) filter.Verdict { return v }
}

var (
	clean = filter.Verdict{Judged: true, Copies: 4, Senders: filter.Count{N: 3}, Nets: filter.Count{N: 2}}
	bulk  = filter.Verdict{Kind: filter.Bulk, Judged: true, Copies: 37, Senders: filter.Count{N: 31}, Nets: filter.Count{N: 22}}
)

const (
	// one is a request of one recipient without its message.
	one = "header\n192.0.2.7\rclient.example\nhelo.example\nsender@example.org\nrcpt@example.net\n\n"

	cleanLine  = "X-DCC-spamsim-Metrics: mx1 1; Body=4 Fuz1=3 Fuz2=2\n\n"
	bulkLine   = "X-DCC-spamsim-Metrics: mx1 1; bulk Body=many Fuz1=many Fuz2=many\n\n"
	failedText = "T\n\nX-DCC-spamsim-Metrics: mx1 1; error\n\n"
)

// eventually waits until ok says true.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(watchdog); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("waited in vain: %s", what)
}
