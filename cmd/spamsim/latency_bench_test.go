package main

import (
	"math/rand/v2"
	"net/netip"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"spamsim/cmd/spamsim/internal/lab"
	"spamsim/milter/filter"
	"spamsim/milter/smtpproxy"
	"spamsim/store"
)

// BenchmarkLatency is how long messages take straight to the sink and through the proxy that judges them, where they come at
// random at four fifths of the rate at which it can: from when a message is there to be sent until it was taken, waiting for one
// of ten kept connections included. The client and the sink share the machine's cores.
func BenchmarkLatency(b *testing.B) {
	const warm = 4000 // messages by which the rate is found
	mails := madeUp(warm + b.N)
	sink := lab.StartSink(b, lab.SinkConfig{})
	s, err := store.Open(filepath.Join(b.TempDir(), "bench.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	proxy := serveProxy(b, smtpproxy.Config{
		NextHop: "smtp://" + sink.Addr, Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Check: filter.New(s, filter.Config{}).Check,
	})
	began := time.Now()
	comeAtRandom(b, proxy, mails[:warm], 0)
	rate := warm / time.Since(began).Seconds()
	b.ResetTimer()
	for _, way := range []struct{ name, addr string }{{"direct", sink.Addr}, {"proxy", proxy}} {
		took := comeAtRandom(b, way.addr, mails[warm:], time.Duration(1e9/(0.8*rate)))
		slices.Sort(took)
		b.ReportMetric(took[len(took)/2].Seconds()*1000, way.name+"-p50-ms")
		b.ReportMetric(took[len(took)*99/100].Seconds()*1000, way.name+"-p99-ms")
	}
	b.ReportMetric(0.8*rate, "msg/s")
}

// comeAtRandom sends messages over ten connections as they come, at random, every so often on average, and returns how long each took.
func comeAtRandom(b *testing.B, addr string, mails [][]byte, every time.Duration) []time.Duration {
	type arrival struct {
		mail []byte
		at   time.Time
	}
	due := make(chan arrival, len(mails))
	took := make(chan time.Duration, len(mails))
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			c := lab.Dial(b, addr)
			defer c.Conn.Close()
			c.Do("EHLO bench.test")
			for x := range due {
				for _, line := range []string{"MAIL FROM:<a@bench.test>", "RCPT TO:<b@bench.test>", "DATA"} {
					c.Do(line)
				}
				if reply := c.Content(x.mail); reply == "" || reply[0] != '2' {
					b.Errorf("content: %s", reply)
				}
				took <- time.Since(x.at)
			}
		})
	}
	at := time.Now()
	for _, mail := range mails {
		at = at.Add(time.Duration(rand.ExpFloat64() * float64(every)))
		time.Sleep(time.Until(at))
		due <- arrival{mail, at}
	}
	close(due)
	wg.Wait()
	close(took)
	var out []time.Duration
	for x := range took {
		out = append(out, x)
	}
	return out
}
