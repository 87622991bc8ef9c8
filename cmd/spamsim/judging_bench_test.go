package main

import (
	"net"
	"net/netip"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"spamsim/cmd/spamsim/internal/lab"
	"spamsim/milter/filter"
	"spamsim/milter/smtpproxy"
	"spamsim/store"
)

// BenchmarkJudging compares the proxy with itself: judging off, and on with a store on disk. Ten kept connections; the
// client and the sink share the machine's cores.
func BenchmarkJudging(b *testing.B) {
	mails := lab.Unlike(4000)
	for _, name := range []string{"off", "on"} {
		b.Run(name, func(b *testing.B) {
			c := smtpproxy.Config{
				NextHop: "smtp://" + lab.StartSink(b, lab.SinkConfig{}).Addr,
				Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
			}
			if name == "on" {
				s, err := store.Open(filepath.Join(b.TempDir(), "bench.db"), store.Options{})
				if err != nil {
					b.Fatal(err)
				}
				b.Cleanup(func() { s.Close() })
				c.Check = filter.New(s, filter.Config{}).Check
			}
			addr := serveProxy(b, c)
			b.ResetTimer()
			var sent atomic.Int64
			var wg sync.WaitGroup
			for range 10 {
				wg.Go(func() { sendAll(b, addr, mails, &sent) })
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
		})
	}
}

// serveProxy starts a proxy that lives until the benchmark ends.
func serveProxy(b *testing.B, c smtpproxy.Config) string {
	b.Helper()
	p, err := smtpproxy.New(c)
	if err != nil {
		b.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = p.Serve(l)
	}()
	b.Cleanup(func() {
		p.Close()
		<-done
	})
	return l.Addr().String()
}

// sendAll sends over one connection until b.N messages are sent by all senders together.
func sendAll(b *testing.B, addr string, mails [][]byte, sent *atomic.Int64) {
	c := lab.Dial(b, addr)
	defer c.Conn.Close()
	c.Do("EHLO bench.test")
	for n := sent.Add(1); n <= int64(b.N); n = sent.Add(1) {
		for _, line := range []string{"MAIL FROM:<a@bench.test>", "RCPT TO:<b@bench.test>", "DATA"} {
			if reply := c.Do(line); reply == "" || reply[0] > '3' {
				b.Errorf("%s: %s", line, reply)
				return
			}
		}
		if reply := c.Content(mails[n%int64(len(mails))]); reply == "" || reply[0] != '2' {
			b.Errorf("content: %s", reply)
			return
		}
	}
}
