package main

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"spamsim/cmd/spamsim/internal/demo"
	"spamsim/cmd/spamsim/internal/lab"
)

// consoleToken is that of the tests.
const consoleToken = "0123456789abcdef"

// ask asks the console for a page, as host where that is not "".
func ask(t *testing.T, client *http.Client, url, host, token string) (code int, page string) {
	t.Helper()
	r, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Host = host
	r.SetBasicAuth("", token)
	reply, err := client.Do(r)
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

// TestConsole sends mail through a daemon and looks for it in the console: the campaign, its template, and why the last copy
// was flagged, by its Message-ID and as it was judged.
func TestConsole(t *testing.T) {
	d := start(t, testConfig(t, fmt.Sprintf("[http]\nlisten = [\"127.0.0.1:0\"]\ntoken = %q\n", consoleToken)))
	last := ""
	for _, m := range demo.Stream(1) {
		if m.Kind != demo.Pills {
			continue
		}
		if reply := lab.Send(t, d.smtp[0].String(), m.From, []string{m.To}, m.Raw); reply[0] != '2' {
			t.Fatal(reply)
		}
		_, id, _ := strings.Cut(string(m.Raw), "Message-ID: <")
		last, _, _ = strings.Cut(id, ">")
	}
	client := &http.Client{Timeout: lab.Patience, Transport: &http.Transport{DisableKeepAlives: true}}
	base := "http://" + d.watched[0].String()
	code, page := ask(t, client, base+"/campaigns", d.conf.Load().ID, consoleToken)
	_, id, _ := strings.Cut(page, `href="/campaigns/`)
	if code != http.StatusOK || len(id) < 8 || !strings.Contains(page, "Save on your") {
		t.Fatalf("%d:\n%s", code, page)
	}
	for path, want := range map[string]string{
		"/":                     "of them bulk (6)", // the fifth copy and what came after
		"/campaigns/" + id[:8]:  "nine of ten come back within a month",
		"/why?id=" + last:       "It was counted before",
		"/sigma":                "threshold 3.0",
		"/health":               "taking mail",
		"/why?id=never@x.test":  "does not know it",
		"/campaigns/ffffffff":   "no such campaign",
		"/style.css":            "prefers-color-scheme",
		"/campaigns?view=size":  id[:8],
		"/campaigns?view=other": id[:8],
	} {
		if _, page := ask(t, client, base+path, "", consoleToken); !strings.Contains(page, want) {
			t.Errorf("%s has no %q:\n%s", path, want, page)
		}
	}
	if code, _ := ask(t, client, base+"/", "", "wrong"); code != http.StatusUnauthorized {
		t.Errorf("a wrong token: %d", code)
	}
	if code, _ := ask(t, client, base+"/", "evil.test", consoleToken); code != http.StatusForbidden {
		t.Errorf("a foreign name: %d", code)
	}
}

// TestConsoleFromAfar: an address that others reach is served by TLS alone, under the names of the certificate, and a socket
// that is passed without the settings for that is refused.
func TestConsoleFromAfar(t *testing.T) {
	d := start(t, testConfig(t, fmt.Sprintf("[http]\nlisten = [\"0.0.0.0:0\"]\ntoken = %q\n", consoleToken)+newPair(t, "console.test").section()))
	client := &http.Client{Timeout: lab.Patience, Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	_, port, _ := net.SplitHostPort(d.watched[0].String())
	if code, page := ask(t, client, "https://127.0.0.1:"+port+"/", "console.test", consoleToken); code != http.StatusOK {
		t.Errorf("%d:\n%s", code, page)
	}
	if code, _ := ask(t, client, "http://127.0.0.1:"+port+"/healthz", "", consoleToken); code == http.StatusOK {
		t.Error("it answers without TLS")
	}
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := startOn(map[string][]net.Listener{"http": {l}}, testConfig(t, fmt.Sprintf("[http]\ntoken = %q\n", consoleToken)), slog.New(slog.DiscardHandler)); !errors.Is(err, errExposed) {
		t.Errorf("a passed socket without TLS: %v", err)
	}
}
