package door

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails where a test leaves a goroutine behind.
func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// An echo sends one line back; to "panic" it does, and to "trouble" it breaks off.
type echo struct {
	net.Conn
	released chan string
	line     string
}

func (e *echo) Converse() error {
	b := make([]byte, 64)
	n, err := e.Read(b)
	if err != nil {
		return err
	}
	switch e.line = string(b[:n]); e.line {
	case "panic":
		panic("a bug")
	case "trouble":
		return errors.New("no more")
	}
	_, err = e.Write(b[:n])
	return err
}

func (e *echo) Release()       { e.released <- e.line }
func (e *echo) Drain()         {}
func (e *echo) LogKeys() []any { return []any{"line", e.line} }

// TestPanicEndsOneConversation: what panics or breaks off is released, counted and logged, and the next is served.
func TestPanicEndsOneConversation(t *testing.T) {
	var log bytes.Buffer
	closed, released := errors.New("closed"), make(chan string, 1)
	s := &Server{
		Name: "echo", Conns: 1, Judging: 1, Closed: closed, Log: slog.New(slog.NewTextHandler(&log, nil)),
		Open: func(c net.Conn) Session { return &echo{Conn: c, released: released} },
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error)
	go func() { served <- s.Serve(l) }()
	for _, line := range []string{"panic", "trouble", "well"} {
		conn, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, line); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(conn)
		conn.Close()
		if got := <-released; got != line || err != nil || (string(answer) == line) != (line == "well") {
			t.Errorf("%s: answered %q, %v; released %q", line, answer, err, got)
		}
	}
	s.Close()
	if err := <-served; err != closed {
		t.Errorf("Serve: %v", err)
	}
	if n := s.Counts(); n != (Counts{Accepted: 3, Broken: 2}) {
		t.Errorf("counted %+v", n)
	}
	for _, want := range []string{`door=echo line=panic err="panic: a bug`, `door=echo line=trouble err="no more"`} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %s:\n%s", want, log.String())
		}
	}
	again, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Serve(again); err != closed {
		t.Errorf("serving again: %v", err)
	}
	if _, err := again.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("its listener: %v", err)
	}
}
