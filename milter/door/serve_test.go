package door

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"testing"
)

var errClosed = errors.New("closed")

// aServer serves one client at a time, with sessions that open makes.
func aServer(open func(net.Conn) Session) *Server {
	return &Server{Name: "echo", Conns: 1, Judging: 1, Closed: errClosed, Log: slog.New(slog.DiscardHandler), Open: open}
}

// serve serves a listener of this machine until the test ends.
func serve(t *testing.T, s *Server, wrap func(net.Listener) net.Listener) (addr string, served chan error) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served = make(chan error, 1)
	go func() { served <- s.Serve(wrap(l)) }()
	t.Cleanup(func() { s.Close() })
	return l.Addr().String(), served
}

func asItIs(l net.Listener) net.Listener { return l }

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// A short listener has no descriptor for the first few that come.
type short struct {
	net.Listener
	left int
}

func (l *short) Accept() (net.Conn, error) {
	if l.left--; l.left >= 0 {
		return nil, errors.New("too many open files")
	}
	return l.Listener.Accept()
}

// TestAcceptFails: what could not be accepted takes no client's place.
func TestAcceptFails(t *testing.T) {
	released := make(chan string, 1)
	s := aServer(func(c net.Conn) Session { return &echo{Conn: c, released: released} })
	addr, _ := serve(t, s, func(l net.Listener) net.Listener { return &short{l, 3} })
	conn := dial(t, addr)
	if _, err := io.WriteString(conn, "well"); err != nil {
		t.Fatal(err)
	}
	if answer, err := io.ReadAll(conn); string(answer) != "well" {
		t.Errorf("answered %q, %v", answer, err)
	}
}

// TestCloseCuts: a client that says nothing is not waited for.
func TestCloseCuts(t *testing.T) {
	began, released := make(chan bool), make(chan string, 1)
	s := aServer(func(c net.Conn) Session { close(began); return &echo{Conn: c, released: released} })
	addr, served := serve(t, s, asItIs)
	conn := dial(t, addr)
	<-began
	s.Close()
	if err := <-served; err != errClosed {
		t.Errorf("Serve: %v", err)
	}
	if _, err := io.ReadAll(conn); err != nil {
		t.Errorf("the client: %v", err)
	}
}

// TestAcceptedAtTheEnd: who comes in while the server stops is sent away, and Serve ends.
func TestAcceptedAtTheEnd(t *testing.T) {
	var s *Server
	s = aServer(func(c net.Conn) Session {
		if err := s.Shutdown(t.Context()); err != nil { // there is no session yet
			t.Errorf("Shutdown: %v", err)
		}
		return &echo{Conn: c}
	})
	addr, served := serve(t, s, asItIs)
	conn := dial(t, addr)
	if err := <-served; err != errClosed {
		t.Errorf("Serve: %v", err)
	}
	if said, err := io.ReadAll(conn); len(said) > 0 || err != nil {
		t.Errorf("the client heard %q, %v", said, err)
	}
	if n := s.Counts(); n != (Counts{}) {
		t.Errorf("counted %+v", n)
	}
}
