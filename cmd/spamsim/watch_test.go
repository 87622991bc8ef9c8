package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/lab"
)

// watchedConfig is a configuration with a server for those who watch, and more sections.
func watchedConfig(t *testing.T, more string) *config.Loaded {
	t.Helper()
	return testConfig(t, "[http]\nlisten = [\"127.0.0.1:0\"]\n"+more)
}

// get asks the server for those who watch.
func get(t *testing.T, d *daemon, path string) (code int, body string) {
	t.Helper()
	client := &http.Client{Timeout: lab.Patience, Transport: &http.Transport{DisableKeepAlives: true}}
	reply, err := client.Get("http://" + d.watched[0].String() + path)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err != nil {
		t.Fatal(err)
	}
	return reply.StatusCode, string(text)
}

// scraped are the values of /metrics by name and labels, those of spamsim's own metrics alone.
func scraped(t *testing.T, d *daemon) map[string]string {
	t.Helper()
	code, text := get(t, d, "/metrics")
	if code != http.StatusOK {
		t.Fatalf("%d: %s", code, text)
	}
	out := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(name, "spamsim_") {
			out[name] = value
		}
	}
	return out
}

// TestWatched watches a daemon with every door: what it counted is told, and each name is one of the page.
func TestWatched(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "m")
	d := start(t, watchedConfig(t, fmt.Sprintf("[smtp]\nlisten = [\"127.0.0.1:0\"]\nlmtp_listen = [\"127.0.0.1:0\"]\n"+
		"[milter]\nlisten = [\"unix:%s\"]\n[dccifd]\nlisten = [\"127.0.0.1:0\"]\n[[exempt]]\nname = \"letter\"\nsender = \"@a.example\"\n", socket)))
	for _, path := range []string{"/healthz", "/readyz"} {
		if code, body := get(t, d, path); code != http.StatusOK {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	if reply := lab.Send(t, d.smtp[0].String(), "x@a.example", []string{"b@site.example"}, []byte("Subject: x\r\n\r\nHello.\r\n")); reply[0] != '2' {
		t.Fatal(reply)
	}
	got := scraped(t, d)
	for name, want := range map[string]string{
		`spamsim_messages_total{door="smtp",reason="short",verdict="abstain"}`: "1",
		`spamsim_exempt_hits_total{rule="letter"}`:                             "1",
		`spamsim_judging_seconds_count{door="smtp"}`:                           "1",
		`spamsim_door_connections{door="milter"}`:                              "0",
		`spamsim_next_hop_failures_total{door="lmtp"}`:                         "0",
		`spamsim_store_failures_total`:                                         "0",
		`spamsim_reloads_total{result="done"}`:                                 "0",
		`spamsim_info{version="` + version() + `"}`:                            "1",
	} {
		if got[name] != want {
			t.Errorf("%s is %q, want %q", name, got[name], want)
		}
	}
	page, seen := pageMetrics(t), map[string]bool{}
	for name := range got {
		name, _, _ = strings.Cut(name, "{")
		seen[regexp.MustCompile(`^(spamsim_judging_seconds)_(bucket|sum|count)$`).ReplaceAllString(name, "$1")] = true
	}
	for name := range seen {
		if !page[name] {
			t.Errorf("%s is not on the page", name)
		}
	}
	for name := range page {
		later := strings.HasPrefix(name, "spamsim_sigma_") || strings.HasPrefix(name, "spamsim_peers_") // once mail was compared, and with peers
		if !seen[name] && !later {
			t.Errorf("%s is on the page and not told", name)
		}
	}
}

// pageMetrics are the names that the page of help tells.
func pageMetrics(t *testing.T) map[string]bool {
	t.Helper()
	page, err := os.ReadFile("help/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^  (spamsim_\w+)(?:\{\S+\})? +(?:gauge|counter|histogram) `).FindAllStringSubmatch(string(page), -1) {
		out[m[1]] = true
	}
	if len(out) < 15 {
		t.Fatalf("the page tells %d metrics", len(out))
	}
	return out
}

// TestNotReadyWhileStopping: a daemon that finishes what is under way lives, and is not ready.
func TestNotReadyWhileStopping(t *testing.T) {
	d := startAlone(t, watchedConfig(t, ""))
	c := lab.Dial(t, d.smtp[0].String())
	c.Must("HELO x", "MAIL FROM:<a@x.example>", "RCPT TO:<b@site.example>", "DATA")
	stopped := make(chan error)
	go func() { stopped <- d.stop(lab.Patience) }()
	lab.Eventually(t, "not ready", func() bool {
		code, body := get(t, d, "/readyz")
		return code == http.StatusServiceUnavailable && body == "stopping\n"
	})
	if code, _ := get(t, d, "/healthz"); code != http.StatusOK {
		t.Errorf("/healthz: %d", code)
	}
	if reply := c.Content([]byte("Subject: x\r\n\r\nx\r\n")); reply[0] != '2' {
		t.Error(reply)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
}

// TestTokenGuardsMetrics: with a token /metrics is for those who bring it, health for everybody.
func TestTokenGuardsMetrics(t *testing.T) {
	d := start(t, testConfig(t, "[http]\nlisten = [\"127.0.0.1:0\"]\ntoken = \"0123456789abcdef\"\n"))
	for path, want := range map[string]int{"/metrics": http.StatusUnauthorized, "/healthz": http.StatusOK, "/readyz": http.StatusOK} {
		if code, _ := get(t, d, path); code != want {
			t.Errorf("%s: %d, want %d", path, code, want)
		}
	}
}
