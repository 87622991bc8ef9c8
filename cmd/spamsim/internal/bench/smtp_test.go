package bench

import (
	"bufio"
	"context"
	"net"
	"os/exec"
	"strings"
	"testing"
)

// What the client sends the sink takes, lines of dots and long lines included.
func TestClientAndSink(t *testing.T) {
	s, err := startSink()
	if err != nil {
		t.Fatal(err)
	}
	c, err := dial(s.addr())
	if err != nil {
		t.Fatal(err)
	}
	for n, raw := range []string{"Subject: x\r\n\r\ntext\r\n", "\r\n.\r\n..\r\n.x\r\n", "\r\n" + strings.Repeat("long ", 50_000) + "\r\n"} {
		if err := c.send(&mail{raw: []byte(raw), sender: "a@bench.example", recipient: "b@site.example"}); err != nil {
			t.Fatal(err)
		}
		if got := s.taken.Load(); got != int64(n+1) {
			t.Errorf("%d messages taken, want %d", got, n+1)
		}
	}
	if err := c.do("QUIT", '2'); err != nil {
		t.Error(err)
	}
	c.conn.Close()
	s.close()
}

// A refusal ends the measurement with the reply.
func TestRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		r := bufio.NewReader(conn)
		for _, reply := range []string{"220 hello", "250-refuser\r\n250 SIZE", "550 5.7.1 not you"} {
			conn.Write([]byte(reply + "\r\n"))
			r.ReadString('\n')
		}
	}()
	c, err := dial(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.conn.Close()
	if err := c.send(&mail{}); err == nil || !strings.Contains(err.Error(), "550 5.7.1 not you") {
		t.Errorf("%v", err)
	}
}

// A program that ends before it listens is told of with what it wrote.
func TestServerThatEnds(t *testing.T) {
	addr, err := freeAddr()
	if err != nil {
		t.Fatal(err)
	}
	_, err = startServer(t.Context(), exec.Command("sh", "-c", "echo no such user >&2; exit 3"), addr)
	if err == nil || !strings.Contains(err.Error(), "no such user") {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := startServer(ctx, exec.Command("sleep", "60"), addr); err == nil {
		t.Error("a program that never listens was waited for")
	}
}
