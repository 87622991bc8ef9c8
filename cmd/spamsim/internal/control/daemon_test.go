package control

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spamsim/milter/filter"
)

func (r *record) Judge(_ context.Context, env *filter.Envelope, raw []byte, count bool) (filter.Judgement, error) {
	r.env = *env
	return judgement, r.note("judge %q %v", raw, count)
}

func (r *record) Upgrade(context.Context) (Upgraded, error) {
	return Upgraded{"9", 7, "8"}, r.note("upgrade")
}

func (r *record) Handled(_ context.Context, h Handled) error { return r.note("handled %+v", h) }

// TestDaemonCalls makes the calls that only a daemon answers: the envelope comes through as it is, and so does a message of any
// octets.
func TestDaemonCalls(t *testing.T) {
	r := &record{}
	c := dial(t, serve(t, r, 100))
	env := filter.Envelope{ClientAddr: "::1", Helo: "h\n", Sender: "a\"@x", Recipients: []string{strings.Repeat("b", 100_000), "c@x"}, QueueID: "q",
		Door: "milter", Authenticated: true, Time: time.Unix(1e9, 5).UTC()}
	for _, raw := range []string{"", "\n", "{}\n\x00\xff\r\n"} {
		for _, count := range []bool{true, false} {
			r.env = filter.Envelope{}
			j, err := c.Judge(t.Context(), &env, []byte(raw), count)
			if d := cmp.Diff(judgement, j) + cmp.Diff(env, r.env); d != "" || err != nil {
				t.Errorf("%q: %v\n%s", raw, err, d)
			}
		}
	}
	if u, err := c.Upgrade(t.Context()); err != nil || u != (Upgraded{"9", 7, "8"}) {
		t.Errorf("%+v, %v", u, err)
	}
	if err := c.Handled(t.Context(), Handled{"released", "n", "a@x", 2, 1, "q", "m@x"}); err != nil {
		t.Error(err)
	}
	if err := c.Handled(t.Context(), Handled{What: "eaten"}); err == nil {
		t.Error("nothing else is done with a message")
	}
	want := []string{`judge "" true`, `judge "" false`, `judge "\n" true`, `judge "\n" false`, `judge "{}\n\x00\xff\r\n" true`, `judge "{}\n\x00\xff\r\n" false`, "upgrade", "handled {What:released Name:n Sender:a@x Done:2 Left:1 ID:q MessageID:m@x}"}
	if d := cmp.Diff(want, r.calls); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	r.err = errors.New("no such program")
	if _, err := c.Upgrade(t.Context()); err == nil || err.Error() != "the daemon says: no such program" {
		t.Error(err)
	}
}

// TestWrongJudgeRequests: without an envelope and without the word whether to count nothing is judged; a Service that is no
// daemon does not know the calls.
func TestWrongJudgeRequests(t *testing.T) {
	ask := func(s Service, target, body string) int {
		w := httptest.NewRecorder()
		Handler(s, 64).ServeHTTP(w, httptest.NewRequest("POST", target, strings.NewReader(body)))
		return w.Code
	}
	r := &record{}
	for _, c := range [][2]string{{"/v1/judge", "{}\nx"}, {"/v1/judge?count=x", "{}\nx"}, {"/v1/judge?count=true", "{}"}, {"/v1/judge?count=true", "x\nx"}} {
		if code := ask(r, c[0], c[1]); code != http.StatusBadRequest {
			t.Errorf("%q: %d", c, code)
		}
	}
	if code := ask(r, "/v1/judge?count=true", string(bytes.Repeat([]byte("x"), maxEnvelope+65))); code != http.StatusRequestEntityTooLarge {
		t.Errorf("too large: %d", code)
	}
	if r.calls != nil {
		t.Errorf("%q", r.calls)
	}
	for _, target := range []string{"/v1/judge?count=true", "/v1/upgrade"} {
		if code := ask(struct{ Service }{r}, target, "{}\nx"); code != http.StatusNotFound {
			t.Errorf("%s: %d", target, code)
		}
	}
}
