package main_test

import (
	"os/exec"
	"strconv"
	"testing"

	"spamsim/cmd/spamsim/internal/lab"
	"spamsim/milter"
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
