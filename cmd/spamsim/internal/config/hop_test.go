package config

import "testing"

// TestNextHops: what the proxy would refuse when it starts, or never reach, is a mistake of the file.
func TestNextHops(t *testing.T) {
	for hop, want := range map[string]bool{
		"smtp://127.0.0.1:25": true, "smtp://mx.example": true, "lmtp://[::1]:24": true, "smtp://host:25/": true,
		"smtp://host:99999": false, "smtp://host:0": false, "smtp://host:smtp": false, "smtp://host:": false, "smtp://:25": false,
		"smtp://user@host:25": false, "smtp://host/path": false, "smtp:host:25": false, "lmtp://::1": false, "smtp://": false,
		"lmtp+unix:/run/lmtp": true, "lmtp+unix:///run/lmtp": true, "lmtp+unix://run/lmtp": false, "lmtp+unix:lmtp": false, "lmtp+unix:/": false,
		"maildir:mail": true, "maildir:/var/mail": true, "maildir://var/mail": false, "maildir:/": false, "maildir:": false,
		"http://host:25": false, "host:25": false, "": false,
	} {
		if validHop(hop) != want {
			t.Errorf("%q: want %v", hop, want)
		}
	}
}

// TestLoops: however the next hop is written, the listener itself is found.
func TestLoops(t *testing.T) {
	for _, c := range []struct {
		listen, hop string
		want        bool
	}{
		{"127.0.0.1:10025", "smtp://127.0.0.1:10025", true},
		{"127.0.0.1:10025", "smtp://127.0.0.1:10025/", true},
		{":10025", "lmtp://localhost:10025", true},
		{"0.0.0.0:25", "smtp://localhost", true},
		{"[::]:24", "lmtp://::1", false}, // which is none
		{"[::]:24", "lmtp://[::1]:24", true},
		{"127.0.0.1:10025", "smtp://127.0.0.1:10026", false},
		{"127.0.0.1:25", "smtp://mx.example", false},
		{"127.0.0.1:10025", "maildir:/127.0.0.1:10025", false},
		{"unix:/run/x", "lmtp+unix:/run/x", true},
	} {
		var a Address
		if err := a.UnmarshalText([]byte(c.listen)); err != nil {
			t.Fatal(err)
		}
		if loops(a, c.hop) != c.want {
			t.Errorf("%s and %s: want %v", c.listen, c.hop, c.want)
		}
	}
}
