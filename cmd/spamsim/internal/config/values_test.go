package config

import (
	"encoding"
	"testing"
	"time"
)

// TestValues reads values and writes them again: the form written is the shortest.
func TestValues(t *testing.T) {
	type text interface {
		encoding.TextUnmarshaler
		encoding.TextMarshaler
	}
	for _, c := range []struct {
		v           text
		in, written string // written is empty where in must be refused
	}{
		{new(Duration), "7d", "7d"},
		{new(Duration), "0.5d", "12h"},
		{new(Duration), "90m", "1h30m"},
		{new(Duration), "90s", "1m30s"},
		{new(Duration), "48h", "2d"},
		{new(Duration), "100ms", "100ms"},
		{new(Duration), "0s", "0s"},
		{new(Duration), "7", ""},
		{new(Duration), "d", ""},
		{new(Duration), "NaNd", ""},
		{new(Duration), "1e300d", ""},
		{new(Size), "1048576", "1MB"},
		{new(Size), "10 mb", "10MB"},
		{new(Size), "1GB", "1GB"},
		{new(Size), "1000", "1000"},
		{new(Size), "0", "0"},
		{new(Size), "-1", ""},
		{new(Size), "9999999999GB", ""},
		{new(Size), "MB", ""},
		{new(Network), "192.0.2.1", "192.0.2.1"},
		{new(Network), "::ffff:192.0.2.1", "192.0.2.1"},
		{new(Network), "192.0.2.0/24", "192.0.2.0/24"},
		{new(Network), "2001:db8::/32", "2001:db8::/32"},
		{new(Network), "192.0.2.1/24", ""},
		{new(Network), "fe80::1%eth0", ""},
		{new(Network), "localhost", ""},
		{new(Address), "127.0.0.1:25", "127.0.0.1:25"},
		{new(Address), "[::1]:25", "[::1]:25"},
		{new(Address), ":25", ":25"},
		{new(Address), "unix:/run/x", "unix:/run/x"},
		{new(Address), "unix:x", ""},
		{new(Address), "127.0.0.1:smtp", ""},
		{new(Address), "127.0.0.1:", ""},
		{new(Address), "[fe80::1%eth0]:25", "[fe80::1%eth0]:25"},
		{new(Address), "mx.example:25", "mx.example:25"},
		{new(Address), "::1:25", ""},
		{new(Address), "*:25", ""},
		{new(Address), "::1", ""},
	} {
		err := c.v.UnmarshalText([]byte(c.in))
		if (err == nil) != (c.written != "") {
			t.Errorf("%T %q: %v", c.v, c.in, err)
			continue
		}
		if err != nil {
			continue
		}
		if got, err := c.v.MarshalText(); err != nil || string(got) != c.written {
			t.Errorf("%T %q is written as %q, %v; want %q", c.v, c.in, got, err, c.written)
		}
	}
	var d Duration
	if err := d.UnmarshalText([]byte("1.5d")); err != nil || d.Duration != 36*time.Hour {
		t.Errorf("1.5d = %v, %v", d, err)
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"treshold", "threshold", 1}, {"flaw", "lawn", 2}} {
		if got := distance(c.a, c.b); got != c.want || distance(c.b, c.a) != got {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}
