package smtpproxy

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"spamsim/milter/filter"
)

// A sink is a next hop that says yes to everything and keeps nothing.
func sink(b *testing.B) (addr string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var conns []net.Conn
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			conns = append(conns, conn)
			mu.Unlock()
			wg.Go(func() { sinkConn(conn) })
		}
	})
	b.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range conns {
			c.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return l.Addr().String()
}

// sinkConn answers what lies in its buffer in one write.
func sinkConn(conn net.Conn) {
	defer conn.Close()
	r := bufio.NewReaderSize(conn, 64<<10)
	out := []byte("220 sink ESMTP\r\n")
	for {
		if r.Buffered() == 0 {
			if _, err := conn.Write(out); err != nil {
				return
			}
			out = out[:0]
		}
		line, err := r.ReadSlice('\n')
		switch {
		case err != nil:
			return
		case bytes.HasPrefix(line, []byte("EHLO")):
			out = append(out, "250-sink\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SIZE\r\n"...)
		case bytes.HasPrefix(line, []byte("DATA")):
			_, _ = conn.Write(append(out, "354 go\r\n"...))
			out = append(out[:0], "250 2.0.0 Ok: queued as X\r\n"...)
			for err == nil && string(line) != ".\r\n" {
				line, err = r.ReadSlice('\n')
			}
		default:
			out = append(out, "250 2.0.0 Ok\r\n"...)
		}
	}
}

// sender is a client that sends messages in lock step, as most do.
type sender struct {
	conn net.Conn
	r    *bufio.Reader
}

func dialSender(addr string) (*sender, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	s := &sender{conn, bufio.NewReader(conn)}
	if _, err := readReply(s.r); err != nil {
		return nil, err
	}
	return s, s.ask("EHLO bench.test\r\n")
}

func (s *sender) ask(text string) error {
	if _, err := io.WriteString(s.conn, text); err != nil {
		return err
	}
	r, err := readReply(s.r)
	if err == nil && r[0] > '3' {
		err = errAnswer
	}
	return err
}

func (s *sender) mail(wire string) error {
	for _, text := range []string{"MAIL FROM:<a@bench.test>\r\n", "RCPT TO:<b@bench.test>\r\n", "DATA\r\n", wire} {
		if err := s.ask(text); err != nil {
			return err
		}
	}
	return nil
}

// message is one of 4 KB with lines of ordinary length.
var message = stuff("From: a@bench.test\r\nSubject: bench\r\n\r\n" +
	strings.Repeat("A line of ordinary length, as mail has them, and a little more.\r\n", 62))

// run sends b.N messages over ten connections, each kept or new for each message.
func run(b *testing.B, addr string, kept bool) {
	b.SetBytes(int64(len(message)))
	b.ReportAllocs()
	b.ResetTimer()
	var wg sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(b.N))
	for range 10 {
		wg.Go(func() {
			var s *sender
			var err error
			for left.Add(-1) >= 0 && err == nil {
				if s == nil {
					s, err = dialSender(addr)
				}
				if err == nil {
					err = s.mail(message)
				}
				if err == nil && !kept {
					err = s.ask("QUIT\r\n")
					s.conn.Close()
					s = nil
				}
			}
			if s != nil {
				s.conn.Close()
			}
			if err != nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
}

func BenchmarkPassThrough(b *testing.B) {
	judged := func(context.Context, *filter.Envelope, []byte) filter.Judgement {
		return filter.Judgement{Add: []filter.Field{{Name: "X-Spamsim", Value: " clean; id=bench.test"}}, Strip: []string{"X-Spamsim"}}
	}
	for _, c := range []struct {
		name  string
		proxy bool
		kept  bool
		check filter.CheckFunc
	}{
		{"straight/kept", false, true, nil}, {"proxy/kept", true, true, nil}, {"judged/kept", true, true, judged},
		{"straight/new", false, false, nil}, {"proxy/new", true, false, nil}, {"judged/new", true, false, judged},
	} {
		b.Run(c.name, func(b *testing.B) {
			addr := sink(b)
			if c.proxy {
				_, addr = start(b, Config{NextHop: "smtp://" + addr, Check: c.check})
			}
			run(b, addr, c.kept)
		})
	}
}
