package metrics

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/store/replica"
)

// full are counters of which every metric has something to show.
func full(context.Context) (control.Stats, error) {
	return control.Stats{
		Version:  "v1",
		Held:     control.Held{Clusters: 7, Campaigns: 3, Messages: 20, Bytes: 4096, Free: 1024, Commits: 5, Failures: 1},
		Sigma:    []control.ScriptStat{{Script: "latin", Messages: 400, Scale: 1.25, Over: [3]int{60, 9, 2}}},
		Messages: []control.VerdictStat{{Door: "smtp", Verdict: "bulk", N: 3}, {Door: "milter", Verdict: "exempt", Reason: "letter", N: 4}},
		Exempt:   []control.RuleStat{{Rule: "letter", N: 6}},
		Doors: map[string]map[string]int64{
			"smtp":   {"open": 2, "held": 100, "hop_failed": 1, "delivered": 9},
			"milter": {"sessions": 1, "aborted": 0},
		},
		Peers: &replica.Status{Node: "a", Connected: true, Sent: 11, Received: 22, Compared: 1, Sessions: 2, Entries: 33, Lag: time.Second / 4, Peers: []replica.Peer{
			{Node: "a", Lives: true, Same: true}, {Node: "b", Lives: true}, {Node: "c"},
		}},
	}, nil
}

// scrape returns the lines of /metrics that are spamsim's own, without those of the histogram's buckets.
func scrape(t *testing.T, m *Metrics) []string {
	t.Helper()
	w := httptest.NewRecorder()
	r := httptest.NewRequest("GET", "http://localhost:9465/metrics", nil)
	m.Handler(func() error { return nil }, "").ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	var out []string
	for line := range strings.Lines(w.Body.String()) {
		if strings.HasPrefix(line, "spamsim_") && !strings.Contains(line, "_bucket") {
			out = append(out, strings.TrimSpace(line))
		}
	}
	return out
}

func TestScrape(t *testing.T) {
	m := New(full)
	m.Judged("smtp", 3*time.Millisecond)
	m.Judged("smtp", time.Second)
	m.Reloaded(nil)
	m.Reloaded(errors.New("no"))
	m.Reloaded(nil)
	want := []string{
		`spamsim_door_connections{door="milter"} 1`, `spamsim_door_connections{door="smtp"} 2`,
		`spamsim_door_events_total{door="milter",event="aborted"} 0`, `spamsim_door_events_total{door="smtp",event="delivered"} 9`,
		`spamsim_door_held_bytes{door="smtp"} 100`,
		`spamsim_exempt_hits_total{rule="letter"} 6`,
		`spamsim_info{version="v1"} 1`,
		`spamsim_judging_seconds_sum{door="smtp"} 1.003`, `spamsim_judging_seconds_count{door="smtp"} 2`,
		`spamsim_messages_total{door="milter",reason="letter",verdict="exempt"} 4`, `spamsim_messages_total{door="smtp",reason="",verdict="bulk"} 3`,
		`spamsim_next_hop_failures_total{door="smtp"} 1`,
		`spamsim_peers_alive 2`, `spamsim_peers_connected 1`, `spamsim_peers_differing 1`, `spamsim_peers_entries 33`,
		`spamsim_peers_events_total{event="compared"} 1`, `spamsim_peers_events_total{event="forged"} 0`, `spamsim_peers_events_total{event="newer"} 0`,
		`spamsim_peers_events_total{event="received"} 22`, `spamsim_peers_events_total{event="sent"} 11`,
		`spamsim_peers_events_total{event="sessions"} 2`, `spamsim_peers_events_total{event="twins"} 0`, `spamsim_peers_lag_seconds 0.25`,
		`spamsim_reloads_total{result="done"} 2`, `spamsim_reloads_total{result="failed"} 1`,
		`spamsim_sigma_messages{script="latin"} 400`,
		`spamsim_sigma_over{script="latin",sigma="1"} 60`, `spamsim_sigma_over{script="latin",sigma="2"} 9`, `spamsim_sigma_over{script="latin",sigma="2.5"} 2`,
		`spamsim_sigma_scale{script="latin"} 1.25`,
		`spamsim_store_bytes 4096`, `spamsim_store_campaigns 3`, `spamsim_store_clusters 7`, `spamsim_store_commits_total 5`,
		`spamsim_store_failures_total 1`, `spamsim_store_free_bytes 1024`, `spamsim_store_messages 20`,
	}
	if d := cmp.Diff(want, scrape(t, m)); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestScrapeFails: counters that cannot be had are an error, never zeros.
func TestScrapeFails(t *testing.T) {
	m := New(func(context.Context) (control.Stats, error) { return control.Stats{}, errors.New("closed") })
	w := httptest.NewRecorder()
	m.Handler(func() error { return nil }, "").ServeHTTP(w, httptest.NewRequest("GET", "http://127.0.0.1/metrics", nil))
	if w.Code != http.StatusInternalServerError {
		t.Errorf("%d", w.Code)
	}
}

// known are the metrics of the registry as the page writes them: "name{label,label}" and the type.
func known(t *testing.T) map[string]string {
	t.Helper()
	m := New(full)
	m.Judged("smtp", 0)
	families, err := m.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string][]string{judgingName: {"door"}, reloadsName: {"result"}}
	for _, r := range table {
		labels[r.name] = r.labels
	}
	out := map[string]string{}
	for _, f := range families {
		name := f.GetName()
		if !strings.HasPrefix(name, "spamsim_") {
			continue
		}
		has := map[string]bool{}
		for _, l := range f.GetMetric()[0].GetLabel() {
			has[l.GetName()] = true
		}
		for _, l := range labels[name] {
			if !has[l] {
				t.Errorf("%s has no label %s", name, l)
			}
		}
		if len(has) > 0 {
			name += "{" + strings.Join(labels[name], ",") + "}"
		}
		out[name] = strings.ToLower(f.GetType().String())
	}
	return out
}

// TestPage: the page and the registry name the same metrics, with the same labels and types.
func TestPage(t *testing.T) {
	page, err := os.ReadFile("../../help/metrics.md")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^  (spamsim_\S+) +(gauge|counter|histogram) `).FindAllStringSubmatch(string(page), -1) {
		told[m[1]] = m[2]
	}
	if d := cmp.Diff(known(t), told); d != "" {
		t.Errorf("-registry +page:\n%s", d)
	}
}

// TestRuntime: the collectors of the runtime and the process are there.
func TestRuntime(t *testing.T) {
	families, err := New(full).registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"go_goroutines", "process_resident_memory_bytes", "process_open_fds"} {
		found := false
		for _, f := range families {
			found = found || f.GetName() == want
		}
		if !found {
			t.Errorf("no %s", want)
		}
	}
}

func TestHealth(t *testing.T) {
	var trouble error
	h := New(full).Handler(func() error { return trouble }, "0123456789abcdef")
	ask := func(method, path string) (int, string) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, path, nil))
		body, _ := io.ReadAll(w.Body)
		return w.Code, strings.TrimSpace(string(body))
	}
	for _, c := range []struct {
		trouble      error
		method, path string
		code         int
		body         string
	}{
		{nil, "GET", "/healthz", 200, "alive"},
		{errors.New("stopping"), "GET", "/healthz", 200, "alive"},
		{nil, "GET", "/readyz", 200, "ready"},
		{nil, "HEAD", "/readyz", 200, "ready"},
		{errors.New("stopping"), "GET", "/readyz", 503, "stopping"},
		{nil, "POST", "/readyz", 405, "Method Not Allowed"},
		{nil, "GET", "/", 404, "404 page not found"},
	} {
		trouble = c.trouble
		if code, body := ask(c.method, c.path); code != c.code || body != c.body {
			t.Errorf("%s %s: %d %q, want %d %q", c.method, c.path, code, body, c.code, c.body)
		}
	}
}

// TestGuard: with a token nobody reads the counters without it; without one, nobody by a name that is not of loopback.
func TestGuard(t *testing.T) {
	const token = "0123456789abcdef"
	for _, c := range []struct {
		token, host, authorization string
		want                       int
	}{
		{"", "127.0.0.1:9465", "", 200},
		{"", "127.9.9.9", "", 200},
		{"", "[::1]:9465", "", 200},
		{"", "[::1]", "", 200},
		{"", "LocalHost:9465", "", 200},
		{"", "rebound.example:9465", "", 403},
		{"", "localhost.example", "", 403},
		{"", "192.0.2.1:9465", "", 403},
		{"", "", "", 403},
		{token, "mx.example:9465", "Bearer " + token, 200},
		{token, "mx.example:9465", "bearer " + token, 200},
		{token, "127.0.0.1", "", 401},
		{token, "127.0.0.1", "Bearer", 401},
		{token, "127.0.0.1", "Bearer " + token[1:], 401},
		{token, "127.0.0.1", "Bearer " + token + "0", 401},
		{token, "127.0.0.1", "Basic " + token, 401},
	} {
		r := httptest.NewRequest("GET", "/metrics", nil)
		r.Host = c.host
		if c.authorization != "" {
			r.Header.Set("Authorization", c.authorization)
		}
		w := httptest.NewRecorder()
		New(full).Handler(func() error { return nil }, c.token).ServeHTTP(w, r)
		if w.Code != c.want || c.want == 401 && w.Header().Get("WWW-Authenticate") == "" || c.want != 200 && strings.Contains(w.Body.String(), "spamsim_") {
			t.Errorf("%+v: %d", c, w.Code)
		}
	}
}

// TestEveryCounterIsShown: no counter of a door is left out, whatever names its Stats have.
func TestEveryCounterIsShown(t *testing.T) {
	m := New(func(context.Context) (control.Stats, error) {
		return control.Stats{Doors: map[string]map[string]int64{"x": {"open": 1, "held": 2, "hop_failed": 3, "new_one": 4}}}, nil
	})
	got := scrape(t, m)
	for _, want := range []string{"spamsim_door_connections{door=\"x\"} 1", "spamsim_door_held_bytes{door=\"x\"} 2",
		"spamsim_next_hop_failures_total{door=\"x\"} 3", "spamsim_door_events_total{door=\"x\",event=\"new_one\"} 4"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s in %q", want, got)
		}
	}
}
