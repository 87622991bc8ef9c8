package console

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/mail"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/cmd/spamsim/internal/demo"
	"spamsim/milter/filter"
	"spamsim/store"
)

// token is that of the tests.
const token = "0123456789abcdef-token"

// A world is a store with mail in it and the console over both.
type world struct {
	t       testing.TB
	at      time.Time
	store   *store.Store
	filter  *filter.Filter
	recent  *Recent
	handler http.Handler
	log     bytes.Buffer
}

// A service is that of a daemon, as far as the console asks it.
type service struct {
	control.Service
	w *world
}

func (s service) Stats(context.Context) (control.Stats, error) {
	h, since := s.w.store.Stats(), s.w.at.Add(-3*time.Hour)
	out := control.Stats{
		Store: "/var/lib/spamsim/spamsim.db", Version: "1.2.3", Since: &since,
		Held:     control.Held{Clusters: h.Clusters, Campaigns: h.Campaigns, Messages: h.Messages, Bytes: 1 << 20, Commits: 12, Failures: 1},
		Messages: []control.VerdictStat{{Door: "smtp", Verdict: "bulk", N: 40}, {Door: "smtp", Verdict: "clean", N: 1160}},
		Exempt:   []control.RuleStat{{Rule: "our-lists", N: 3}}, Would: &control.Would{Bulk: "quarantine", Found: 40, Messages: 1200},
		Doors: map[string]map[string]int64{"smtp": {"delivered": 1200, "hop_failed": 2, "open": 3}, "milter": {"messages": 0}},
	}
	for _, c := range s.w.store.Calibrations() {
		out.Sigma = append(out.Sigma, control.ScriptStat{Script: c.Script.String(), Messages: c.Messages, Scale: c.Scale, Over: c.Over})
	}
	return out, nil
}

func (s service) Campaigns(_ context.Context, v store.View, limit int) ([]store.Campaign, error) {
	return s.w.store.Campaigns(v, limit), nil
}

func (s service) Campaign(_ context.Context, id string) (store.Detail, error) {
	return s.w.store.Campaign(id)
}

func (s service) Label(_ context.Context, id string, l filter.Label, name *string) (store.Campaign, error) {
	return s.w.store.Label(id, l, name)
}

func (s service) Drop(_ context.Context, id string) (int, error) { return s.w.store.Drop(id) }
func (s service) Sync(context.Context) error                     { return s.w.store.Sync() }

func (s service) Explain(_ context.Context, raw []byte, ask control.Ask) (filter.Explanation, error) {
	env := &filter.Envelope{Time: s.w.at, Door: "check", Recipients: ask.Recipients, ClientAddr: ask.Client}
	if ask.Sender != nil {
		env.Sender = *ask.Sender
	}
	return s.w.filter.Explain(env, raw)
}

// newWorld returns an empty one.
func newWorld(t testing.TB, token string) *world {
	t.Helper()
	s, err := store.Open(filepath.Join(t.TempDir(), "store.db"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	w := &world{t: t, at: time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC), store: s, filter: filter.New(s, filter.Config{ID: "mx.test"})}
	now := func() time.Time { return w.at }
	w.recent = NewRecent(now, token != "")
	w.handler = New(service{w: w}, Options{
		Token: token, Hosts: func() []string { return []string{"mx.test"} }, Limit: 1 << 20, Threshold: func() (float64, int) { return 3, 5 },
		Ready: func() error { return nil }, Change: func(*filter.Explanation) []string { return []string{"It would be clean with more luck."} },
		Recent: w.recent, Unrelated: s.RecentSigmas, Now: now, Log: slog.New(slog.NewTextHandler(&w.log, nil)),
	})
	return w
}

// judge judges a message as a door has it done.
func (w *world) judge(m *demo.Mail) filter.Verdict {
	w.t.Helper()
	env := &filter.Envelope{Sender: m.From, Recipients: []string{m.To}, ClientAddr: m.Client, Door: "smtp", Time: w.at}
	v := w.filter.Check(context.Background(), env, m.Raw).Verdict
	id := ""
	if read, err := mail.ReadMessage(bytes.NewReader(m.Raw)); err == nil {
		id = read.Header.Get("Message-ID")
	}
	w.recent.Note(Judged{Envelope: env, Verdict: &v, MessageID: id, Raw: m.Raw})
	return v
}

// fill judges generated mail over some hours.
func (w *world) fill(seeds int) {
	w.t.Helper()
	for seed := range seeds {
		for _, m := range demo.Stream(uint64(seed)) {
			w.at = w.at.Add(20 * time.Second)
			w.judge(&m)
		}
	}
}

// a hostile message is a campaign's, with everything in its subject and text that could do harm to who looks at it.
func (w *world) hostile() (id string) {
	w.t.Helper()
	text := strings.Repeat("Pay <script>alert(1)</script> now \u202eevil\u202c or zero\u200bwidth words \x1b[31m never stop coming to you here ", 3)
	var v filter.Verdict
	for i := range 6 {
		w.at = w.at.Add(time.Minute)
		v = w.judge(&demo.Mail{From: fmt.Sprintf("a%d@x%d.test", i, i), To: "b@site.test", Client: fmt.Sprintf("198.18.%d.1", i), Raw: fmt.Appendf(nil,
			"From: a%d@x%d.test\r\nSubject: \"><img src=x onerror=alert(2)> \u202egnp.exe\r\nMessage-ID: <%d\"'><b>@x.test>\r\nContent-Type: text/plain; charset=utf-8\r\n\r\nDear Number%d,\r\n%s\r\n",
			i, i, i, i, text)})
	}
	if v.Kind != filter.Bulk {
		w.t.Fatalf("the campaign is %v", v.Kind)
	}
	return v.Cluster
}

// get asks for a page with the token.
func (w *world) get(path string) (int, string) {
	r := httptest.NewRequest("GET", "http://127.0.0.1:9465"+path, nil)
	r.SetBasicAuth("", token)
	return w.do(r)
}

func (w *world) do(r *http.Request) (int, string) {
	w.t.Helper()
	a := httptest.NewRecorder()
	w.handler.ServeHTTP(a, r)
	body, err := io.ReadAll(a.Result().Body)
	if err != nil {
		w.t.Fatal(err)
	}
	return a.Code, string(body)
}
