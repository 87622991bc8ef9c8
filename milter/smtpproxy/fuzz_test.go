package smtpproxy

import (
	"bufio"
	"bytes"
	"slices"
	"strings"
	"testing"
)

// FuzzReply: what is taken for a reply has a code, whole lines of that code, and reads the same again; nothing behind
// it is consumed.
func FuzzReply(f *testing.F) {
	for _, s := range []string{"250 Ok\r\n", "250-a\r\n250 b\r\n", "220\n", "250-a\r\n251 b\r\n", "25 x\r\n", "999 x\r\n", "354 \r\nrest", "250-EHLO\r\n250-SIZE 10\r\n250 AUTH\r\n",
		"250-" + strings.Repeat("x", 4091) + "\n250 b\r\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		in := bytes.NewReader(wire)
		r := bufio.NewReader(in)
		got, err := readReply(r)
		if err != nil {
			return
		}
		if c := got.code(); c < 200 || c > 599 || got.ok() != (c/100 == 2) {
			t.Errorf("%q: code %d", got, c)
		}
		for line := range strings.Lines(string(got)) {
			if !strings.HasSuffix(line, "\r\n") || line[:3] != string(got[:3]) {
				t.Errorf("%q: line %q", wire, line)
			}
		}
		again, err := readReply(bufio.NewReaderSize(strings.NewReader(string(got)), len(got))) // a CR may have made a line longer than a reader's room
		if err != nil || again != got {
			t.Errorf("%q again: %q, %v", got, again, err)
		}
		rest := r.Buffered() + in.Len()
		if used := len(wire) - rest; bytes.Count(wire[:used], []byte("\n")) != strings.Count(string(got), "\n") {
			t.Errorf("%q: %d octets used for %q", wire, used, got)
		}
		parseFeatures(got)
	})
}

// FuzzXforward: what is taken goes on as commands of fair length that are taken again and say the same.
func FuzzXforward(f *testing.F) {
	for _, s := range []string{"NAME=a ADDR=1.2.3.4", "addr=IPv6:::1 HELO=a+3Db", "PORT=[UNAVAILABLE]", "NAME=+", "ADDR=1 ADDR=2"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, args string) {
		x, ok := parseForward(args)
		if !ok {
			return
		}
		var again xforward
		for _, l := range x.lines("XFORWARD", forwardNames) {
			y, ok := parseForward(strings.TrimPrefix(l, "XFORWARD "))
			if !ok || len(x) > 1 && len(y) > 1 && len(l)+2 > maxForwardLine {
				t.Fatalf("%q: line %q", args, l)
			}
			again = again.merge(y)
		}
		if !slices.Equal(again, x) {
			t.Errorf("%q: %v, again %v", args, x, again)
		}
		if v := encodeXtext(x.get("NAME")); xtext(v) != x.get("NAME") {
			t.Errorf("%q: %q", x.get("NAME"), v)
		}
		env := envelope{}
		x.describe(&env)
		if !printable(env.ClientAddr + env.Helo + env.QueueID) {
			t.Errorf("%q: %+v", args, env)
		}
	})
}
