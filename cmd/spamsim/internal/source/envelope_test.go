package source

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var trusted = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("192.0.2.0/24")}

func TestEnvelope(t *testing.T) {
	for _, c := range []struct {
		name, raw  string
		sender     string
		recipients []string
	}{
		{"Return-Path and Delivered-To win",
			"Return-Path: <bounce-1@x.example>\nDelivered-To: me@site.example\nFrom: A <a@x.example>\nTo: list@x.example\n\nTo: no@body.example\n",
			"bounce-1@x.example", []string{"me@site.example"}},
		{"From, To and Cc",
			"From: \"A, B\" <a@x.example>\r\nTo: me@site.example,\r\n\t\"you\" <you@site.example>\r\nCC: me@site.example\r\n\r\n",
			"a@x.example", []string{"me@site.example", "you@site.example"}},
		{"null sender", "Return-Path: <>\nFrom: MAILER-DAEMON@x.example\n\n", "", nil},
		{"broken addresses", "From: A @ <a@x.example> (b\nTo: undisclosed recipients: ;, me@site.example\n\n", "a@x.example", []string{"me@site.example"}},
		{"several Delivered-To", "Delivered-To: b@site.example\nDelivered-To: a@site.example\n\n", "", []string{"a@site.example", "b@site.example"}},
		{"header without an end", "From: a@x.example", "a@x.example", nil},
		{"field after text", "hello\nFrom: a@x.example\n\n", "", nil},
		{"nothing", "", "", nil},
	} {
		env := ReadHeader([]byte(c.raw)).Envelope(trusted)
		if env.Sender != c.sender || !cmp.Equal(env.Recipients, c.recipients) || env.Door != "check" {
			t.Errorf("%s: %q to %q", c.name, env.Sender, env.Recipients)
		}
	}
}

func TestClient(t *testing.T) {
	const own = "Received: from mx.site.example (mx [192.0.2.1])\n\tby store.site.example; Tue, 2 Jan 2001 03:04:05 +0000\n"
	for _, c := range []struct{ name, received, want string }{
		{"Postfix", own + "Received: from helo.example (name.example [198.51.100.7])\n by mx with ESMTP\n", "198.51.100.7"},
		{"only own hosts", own, ""},
		{"none", "", ""},
		{"forged below", "Received: from x (y [198.51.100.7]) by mx\nReceived: from z (w [203.0.113.9]) by x\n", "198.51.100.7"},
		{"address in HELO", "Received: from [203.0.113.9] (unknown [198.51.100.7]) by mx\n", "198.51.100.7"},
		{"Exim", "Received: from [198.51.100.7] (helo=x) by mx\n", "198.51.100.7"},
		{"Exim with port", "Received: from x ([198.51.100.7]:4242 helo=y) by mx\n", "198.51.100.7"},
		{"Exim, address in HELO", "Received: from [198.51.100.7] (helo=[203.0.113.9]) by mx\n", "198.51.100.7"},
		{"Exim, trusted address in HELO", "Received: from x ([198.51.100.7] helo=[192.0.2.1]) by mx\nReceived: from x (y [203.0.113.9]) by x\n", "198.51.100.7"},
		{"Exim, address in IDENT", "Received: from x ([198.51.100.7] helo=y ident=(203.0.113.9)) by mx\n", "198.51.100.7"},
		{"qmail, address in HELO", "Received: from unknown (HELO [203.0.113.9]) (198.51.100.7)\n  by mx\n", "198.51.100.7"},
		{"qmail", "Received: from unknown (HELO x) (198.51.100.7)\n  by mx\n", "198.51.100.7"},
		{"IPv6", "Received: from x (y [IPv6:2001:db8::7]) by mx\n", "2001:db8::7"},
		{"IPv4 in IPv6", "Received: from x (y [::ffff:198.51.100.7]) by mx\n", "198.51.100.7"},
		{"local submission", "Received: by mx (Postfix, from userid 0)\n\tid 1; x\nReceived: from x (y [198.51.100.7]) by mx\n", "198.51.100.7"},
		{"LMTP without address", "Received: from mx by mx with LMTP id 1\nReceived: from x (y [198.51.100.7]) by mx\n", "198.51.100.7"},
		{"a host that is not told hides what is below", "Received: from x by mx with SMTP\nReceived: from x (y [198.51.100.7]) by mx\n", ""},
		{"address after by", "Received: from x by mx [198.51.100.7]\n", ""},
		{"no address", "Received: from x (y [1.2.3]) by mx\n", ""},
	} {
		if got := ReadHeader([]byte(c.received + "Subject: x\n\n")).Envelope(trusted).ClientAddr; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestDates(t *testing.T) {
	at := time.Date(2001, 1, 2, 3, 4, 5, 0, time.UTC)
	arrived, written := ReadHeader([]byte("Received: from a by b; Tue, 2 Jan 2001\n\t05:04:05 +0200 (CEST)\nDate: Mon, 1 Jan 2001 03:04:05 GMT\n\n")).Dates()
	if !arrived.Equal(at) || !written.Equal(at.Add(-24*time.Hour)) {
		t.Errorf("%v, %v", arrived, written)
	}
	if a, w := ReadHeader([]byte("Received: from a by b\nDate: soon\n\n")).Dates(); !a.IsZero() || !w.IsZero() {
		t.Errorf("%v, %v", a, w)
	}
}

// TestHeaderWork doubles a header of folds and counts allocations: they must not double with it.
func TestHeaderWork(t *testing.T) {
	allocs := func(lines int) float64 {
		raw := []byte("To: a@x.example,\n" + strings.Repeat(" b@x.example,\n", lines) + "\n\n")
		return testing.AllocsPerRun(3, func() { ReadHeader(raw) })
	}
	if few, many := allocs(500), allocs(16_000); many > few+20 {
		t.Errorf("%v allocations for 500 lines, %v for 16,000", few, many)
	}
}
