package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"spamsim/cmd/spamsim/internal/doctor"
	"spamsim/store/replica"
)

// standingWell is a node that has one peer and no trouble.
func standingWell() *replica.Status {
	return &replica.Status{Node: "00000a", Connected: true, Since: new(time.Time), Entries: 7, State: 7, Digest: "0123456789abcdef", Peers: []replica.Peer{
		{Node: "00000a", Name: "mx1", Version: version(), Background: "shipped", Seen: time.Now(), Lives: true, Same: true},
		{Node: "00000b", Name: "mx2", Version: version(), Background: "shipped", Seen: time.Now(), Lives: true, Same: true},
	}}
}

// Doctor finds each fault between peers, and none where there is none.
func TestPeersFindings(t *testing.T) {
	for _, c := range []struct {
		name  string
		spoil func(*replica.Status)
		level doctor.Level
		want  string
	}{
		{"nothing", func(*replica.Status) {}, doctor.Good, "2 nodes"},
		{"broker", func(s *replica.Status) { s.Connected, s.Error = false, "refused" }, doctor.Lost, "does not answer"},
		{"key", func(s *replica.Status) { s.Forged = 1 }, doctor.Lost, "key_file is not the same"},
		{"copied store", func(s *replica.Status) { s.Twins = 1 }, doctor.Danger, "was copied"},
		{"old program", func(s *replica.Status) { s.Newer = 1 }, doctor.Lost, "update this node"},
		{"own clock", func(s *replica.Status) { s.Clock = -2 * time.Minute }, doctor.Lost, "-2m0s off"},
		{"clock", func(s *replica.Status) { s.Peers[1].Clock = time.Hour }, doctor.Lost, "mx2) is +1h0m0s off"},
		{"background", func(s *replica.Status) { s.Peers[1].Background = "other" }, doctor.Lost, "another background"},
		{"gone", func(s *replica.Status) { s.Peers[1].Lives, s.Peers[1].Seen = false, time.Unix(0, 0) }, doctor.Lost, "last heard of"},
		{"restarting", func(s *replica.Status) { s.Peers[1].Lives = false }, doctor.Good, "2 nodes"},
	} {
		s := standingWell()
		c.spoil(s)
		all := peersFindings(s)
		last := all[len(all)-1]
		if last.Level != c.level || !strings.Contains(last.Text, c.want) {
			t.Errorf("%s: %+v", c.name, all)
		}
	}
	if got := peersFindings(nil); got != nil {
		t.Errorf("without peers: %+v", got)
	}
}

func TestPeersAreShown(t *testing.T) {
	for _, c := range []struct {
		s    *replica.Status
		want []string
	}{
		{nil, []string{"no peers"}},
		{standingWell(), []string{"00000a, digest 0123456789abcdef of 7 entries", "connected since", "00000b  lives", "mx2"}},
		{&replica.Status{Error: "refused\x1b[2J"}, []string{"does not answer: refused"}},
	} {
		var out bytes.Buffer
		if err := (&app{stdout: &out}).peers(c.s); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "\x1b") {
				t.Errorf("%q lacks %q", out.String(), want)
			}
		}
	}
}

// A site's key is read as hex digits, enough of them.
func TestSiteKey(t *testing.T) {
	for text, ok := range map[string]bool{
		strings.Repeat("a1", 16): true, strings.Repeat("a1", 32) + "\n": true, strings.Repeat("a1", 15): false, "": false, "no hex digits, though many": false,
	} {
		file := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		conf := testConfig(t, "[peers]\nurl = \"redis://127.0.0.1:1\"\nkey_file = \""+file+"\"\n")
		if key, err := siteKey(conf); (err == nil) != ok || ok && len(key) < shortestKey {
			t.Errorf("%q: %x, %v", text, key, err)
		}
	}
	if key, err := siteKey(testConfig(t, "")); key != nil || err != nil {
		t.Errorf("a node that is alone: %x, %v", key, err)
	}
}
