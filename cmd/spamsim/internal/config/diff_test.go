package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// from loads a configuration.
func from(t *testing.T, text string) *Loaded {
	t.Helper()
	file := filepath.Join(t.TempDir(), "x.toml")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	l, err := Load(file, env(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// two are a running configuration and another that differs in everything that matters here.
func two(t *testing.T) (old, next *Loaded) {
	return from(t, `
		[tls]
		certificate = "/old.pem"
		key = "/key.pem"
		[http]
		token = "0123456789abcdef"
		[[exempt]]
		name = "gone"
		sender = "@a.example"
		[[exempt]]
		name = "letter"
		network = "192.0.2.0/24"
	`), from(t, `
		mode = "enforce"
		[tls]
		certificate = "/new.pem"
		key = "/key.pem"
		[http]
		token = "0123456789abcdeg"
		[smtp]
		trusted = ["192.0.2.1"]
		[bulk]
		threshold = 3.5
		count = 7
		[limits]
		memory = "1GB"
		[[exempt]]
		name = "letter"
		network = "192.0.2.1"
		[[exempt]]
		name = "new.one"
		sender = "b@b.example"
	`)
}

func TestAdopt(t *testing.T) {
	old, next := two(t)
	got, changes, err := old.Adopt(next)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range changes { // the marks of the token are looked at below
		if c.Setting == "http.token" {
			changes[i].Old, changes[i].New = "", ""
		}
	}
	want := []Change{
		{"mode", `'observe'`, `'enforce'`, false},
		{"smtp.trusted", `['127.0.0.0/8', '::1']`, `['192.0.2.1']`, true},
		{"tls.certificate", `'/old.pem'`, `'/new.pem'`, false},
		{"http.token", "", "", true},
		{"bulk.threshold", "3.0", "3.5", false},
		{"bulk.count", "5", "7", false},
		{"limits.memory", `'256MB'`, `'1GB'`, true},
		{"exempt", `["gone", "letter"]`, `["letter", "new.one"]`, false},
		{"exempt.gone", `sender = '@a.example'`, "", false},
		{"exempt.letter", `network = '192.0.2.0/24'`, `network = '192.0.2.1'`, false},
		{"exempt.new.one", "", `sender = 'b@b.example'`, false},
	}
	if d := cmp.Diff(want, changes); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if got.Mode != "enforce" || got.Bulk.Count != 7 || got.TLS.Certificate != "/new.pem" || len(got.Exempt) != 2 || got.Exempt[1].Name != "new.one" {
		t.Errorf("not taken up: %+v", got.Config)
	}
	if got.Limits.Memory != 256<<20 || got.HTTP.Token != old.HTTP.Token || len(got.SMTP.Trusted) != 2 {
		t.Errorf("taken up without a restart: %+v", got.Config)
	}
	if old.Bulk.Count != 5 || len(old.Exempt) != 2 || old.Exempt[0].Name != "gone" {
		t.Errorf("the old one was changed: %+v", old.Config)
	}
	if _, again, err := got.Adopt(next); err != nil || len(again) != 3 {
		t.Errorf("what is left to do: %+v, %v", again, err)
	}
}

// TestTLSBegins: a server that offers no TLS cannot begin to, nor one that does end it.
func TestTLSBegins(t *testing.T) {
	with, without := from(t, "[tls]\ncertificate = \"/c\"\nkey = \"/k\"\n"), from(t, "")
	for _, c := range [][2]*Loaded{{with, without}, {without, with}} {
		got, changes, err := c[0].Adopt(c[1])
		if err != nil || len(changes) != 2 || !changes[0].Restart || !changes[1].Restart || got.TLS != c[0].TLS {
			t.Errorf("%+v, %v", changes, err)
		}
	}
}

// TestSecretIsHidden: neither what is printed nor what is told of a change shows the token, yet a new one is seen.
func TestSecretIsHidden(t *testing.T) {
	old, next := two(t)
	var b strings.Builder
	if err := old.Print(&b); err != nil {
		t.Fatal(err)
	}
	a, err := old.Values()
	if err != nil {
		t.Fatal(err)
	}
	z, err := next.Values()
	if err != nil {
		t.Fatal(err)
	}
	if a["http.token"] == z["http.token"] {
		t.Error("a new token is no change")
	}
	for _, shown := range []string{b.String(), a["http.token"], old.HTTP.Token.String()} {
		if strings.Contains(shown, "0123") || !strings.Contains(shown, "hidden") {
			t.Errorf("shown: %s", shown)
		}
	}
}

// TestEveryReloadTagCounts: what is tagged is a setting, and nothing else is taken up.
func TestEveryReloadTagCounts(t *testing.T) {
	var got []string
	for _, s := range settings {
		if s.reload && !strings.HasPrefix(s.path, "exempt.") {
			got = append(got, s.path)
		}
	}
	want := []string{"mode", "dkim_hosts", "compatibility_fields", "tls.certificate", "tls.key", "store.subjects", "bulk.threshold", "bulk.count",
		"actions.bulk", "actions.spam", "actions.bulk_subject", "actions.spam_subject", "actions.redirect_to", "limits.overload", "limits.stop_time", "log.level"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}
