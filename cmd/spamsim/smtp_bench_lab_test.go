package main

import (
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
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
// of ten kept connections included. The client and the sink share the machine's cores. What a machine can do changes from one
// second to the next where others share it: each spell has its own rate, and the spell in the middle is told.
func BenchmarkLatency(b *testing.B) {
	lab.Need(b, "postfix")
	const before, spell = 10_000, 2_000 // messages that are remembered already, and in a spell
	spells := max(1, b.N/spell)
	mails := lab.Unlike(before + 2*spell*spells)
	sink := startSmtpSink(b)
	s, err := store.Open(filepath.Join(b.TempDir(), "bench.db"), store.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.Close() })
	proxy := serveProxy(b, smtpproxy.Config{
		NextHop: "smtp://" + sink, Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Check: filter.New(s, filter.Config{}).Check,
	})
	comeAtRandom(b, proxy, mails[:before], 0)
	b.ResetTimer()
	figures := map[string][]float64{} // of each spell
	for batch := range slices.Chunk(mails[before:], 2*spell) {
		began := time.Now()
		comeAtRandom(b, proxy, batch[:spell], 0)
		rate := 0.8 * spell / time.Since(began).Seconds()
		figures["msg/s"] = append(figures["msg/s"], rate)
		for _, way := range []struct{ name, addr string }{{"direct", sink}, {"proxy", proxy}} {
			took := comeAtRandom(b, way.addr, batch[spell:], time.Duration(1e9/rate))
			slices.Sort(took)
			for name, at := range map[string]int{"-p50-ms": spell / 2, "-p99-ms": spell * 99 / 100} {
				figures[way.name+name] = append(figures[way.name+name], took[at].Seconds()*1000)
			}
		}
	}
	for name, of := range figures {
		slices.Sort(of)
		b.ReportMetric(of[spells/2], name)
	}
}

// comeAtRandom sends messages over ten connections as they come, at random, every so often on average, and returns how long each
// took.
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

// BenchmarkPassThrough is how many messages of 5 KB a second smtp-source sends to smtp-sink: straight, through a blind copy of octets
// and through the proxy with judging off; on kept connections, or with a new one for each message, so many at a time.
func BenchmarkPassThrough(b *testing.B) {
	lab.Need(b, "postfix")
	sink := startSmtpSink(b)
	ways := []struct{ name, addr string }{
		{"direct", sink},
		{"copy", blindCopy(b, sink)},
		{"proxy", serveProxy(b, smtpproxy.Config{NextHop: "smtp://" + sink, Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})},
	}
	for _, load := range []struct {
		name string
		args []string
	}{{"kept10", []string{"-d", "-s", "10"}}, {"new10", []string{"-s", "10"}}, {"new50", []string{"-s", "50"}}} {
		for _, way := range ways {
			b.Run(load.name+"/"+way.name, func(b *testing.B) {
				args := append(load.args, "-m", strconv.Itoa(b.N), "-l", "5000", "-f", "a@lab.test", "-t", "b@lab.test", way.addr)
				if out, err := exec.Command("/usr/sbin/smtp-source", args...).CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
			})
		}
	}
}

// blindCopy carries octets between its clients and an address, whatever they mean.
func blindCopy(b *testing.B, to string) (addr string) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	carry := func(to, from net.Conn) {
		_, _ = io.Copy(to, from)
		_ = to.(*net.TCPConn).CloseWrite()
	}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer client.Close()
				hop, err := net.Dial("tcp", to)
				if err != nil {
					return // smtp-source says that it was cut off
				}
				defer hop.Close()
				go carry(hop, client)
				carry(client, hop)
			}()
		}
	}()
	return l.Addr().String()
}

// startSmtpSink starts Postfix's smtp-sink, which ends with the benchmark.
func startSmtpSink(b *testing.B) (addr string) {
	b.Helper()
	addr = lab.FreeAddr(b)
	c := exec.Command("/usr/sbin/smtp-sink", "-u", "nobody", addr, "100")
	if err := c.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	for end := time.Now().Add(lab.Patience); ; time.Sleep(10 * time.Millisecond) {
		if conn, err := net.Dial("tcp", addr); err == nil {
			conn.Close()
			return addr
		} else if time.Now().After(end) {
			b.Fatal(err)
		}
	}
}
