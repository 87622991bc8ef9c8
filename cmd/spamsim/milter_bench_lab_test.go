package main_test

import (
	"net"
	"net/netip"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"spamsim/cmd/spamsim/internal/lab"
	"spamsim/milter"
	"spamsim/milter/smtpproxy"
)

// BenchmarkPostfix is how many messages of 5 KB a real Postfix takes and discards, on one SMTP connection and on ten,
// alone and with a milter that only tags: what the milter costs Postfix, and that no acknowledgement is waited for.
func BenchmarkPostfix(b *testing.B) {
	lab.Need(b, "postfix")
	for _, network := range []string{"none", "tcp", "unix"} {
		c := lab.PostfixConfig{Main: []string{"virtual_transport = discard"}}
		if network != "none" {
			l, name := listenMilter(b, network)
			s := &milter.Server{Check: says(mark)}
			go func() { _ = s.Serve(l) }()
			b.Cleanup(func() { s.Close() })
			c.Milters = []string{name}
		}
		p := lab.StartPostfix(b, c)
		for _, conns := range []string{"1", "10"} {
			b.Run(network+"/"+conns, func(b *testing.B) {
				out, err := exec.Command("/usr/sbin/smtp-source", "-d", "-s", conns, "-m", strconv.Itoa(b.N), "-l", "5000",
					"-f", "a@lab.test", "-t", "b@lab.test", p.Addr).CombinedOutput()
				if err != nil {
					b.Fatalf("%v: %s", err, out)
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
			})
		}
	}
}

// BenchmarkPassThrough is how many messages of 5 KB a second smtp-source sends to smtp-sink, straight and through the proxy with
// judging off, on ten kept connections and with a new connection for each message.
func BenchmarkPassThrough(b *testing.B) {
	lab.Need(b, "postfix")
	sink := startSmtpSink(b)
	p, err := smtpproxy.New(smtpproxy.Config{NextHop: "smtp://" + sink, Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}})
	if err != nil {
		b.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() { _ = p.Serve(l) }()
	b.Cleanup(func() { p.Close() })
	for _, kept := range []bool{true, false} {
		for _, way := range []struct{ name, addr string }{{"direct", sink}, {"proxy", l.Addr().String()}} {
			args := []string{"-s", "10", "-m", "", "-l", "5000", "-f", "a@lab.test", "-t", "b@lab.test", way.addr}
			name := way.name + "/new"
			if kept {
				args, name = append([]string{"-d"}, args...), way.name+"/kept"
			}
			b.Run(name, func(b *testing.B) {
				args[slices.Index(args, "-m")+1] = strconv.Itoa(b.N)
				if out, err := exec.Command("/usr/sbin/smtp-source", args...).CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
			})
		}
	}
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
