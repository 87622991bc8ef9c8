package main_test

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"

	"spamsim/cmd/spamsim/internal/demo"
	"spamsim/cmd/spamsim/internal/lab"
	"spamsim/milter/dccifd"
	"spamsim/milter/filter"
)

// failing serves scanners with a filter that fails on every message.
func failing(t *testing.T) (addr string, s *dccifd.Server) {
	t.Helper()
	fail := func(context.Context, *filter.Envelope, []byte) filter.Judgement { panic("a bug") }
	s = &dccifd.Server{Check: fail, Peek: fail, ID: "mx.lab.test"}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- s.Serve(l) }()
	t.Cleanup(func() {
		s.Close()
		<-done
	})
	return l.Addr().String(), s
}

// TestSpamAssassinIsTold: a temporary failure is no verdict. The mail comes out, without DCC_CHECK.
func TestSpamAssassinIsTold(t *testing.T) {
	lab.Need(t, "spamassassin")
	addr, server := failing(t)
	out := spamassassin(t, addr, "").Check(t, [][]byte{received(demo.Issue(1))})[0]
	if tests := lab.Tests(t, out); slices.Contains(tests, "DCC_CHECK") {
		t.Errorf("fired %s", tests)
	}
	if !strings.Contains(out, "\nX-Spam-Bulk: spamsim: mx.lab.test 1; error\n") {
		t.Errorf("came out as:\n%.1000s", out)
	}
	if n := server.Stats(); n.Failed != 1 {
		t.Errorf("counted %+v", n)
	}
}

// TestRspamdIsTold: rspamd asks again, and then says that it failed.
func TestRspamdIsTold(t *testing.T) {
	lab.Need(t, "rspamd")
	addr, server := failing(t)
	m := demo.Issue(1)
	symbols := lab.StartRspamd(t, "dcc", shipped(t, "rspamd/dcc.conf", addr)).Check(t, lab.Scan{IP: m.Client, From: m.From, Rcpt: []string{m.To}}, m.Raw)
	if _, told := symbols["DCC_FAIL"]; !told || len(symbols) != 1 {
		t.Errorf("symbols %v, want DCC_FAIL", symbols)
	}
	if n := server.Stats(); n.Failed != 3 {
		t.Errorf("counted %+v, want one question and two more", n)
	}
}
