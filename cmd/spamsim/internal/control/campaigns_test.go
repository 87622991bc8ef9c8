package control

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spamsim/milter/filter"
	"spamsim/store"
)

// TestCampaignCalls makes every call about campaigns through a socket.
func TestCampaignCalls(t *testing.T) {
	r := &record{}
	c := dial(t, serve(t, r, 100))
	ctx := t.Context()
	for _, v := range Views {
		if got, err := c.Campaigns(ctx, v, int(v)+5); err != nil || !cmp.Equal(got, []store.Campaign{campaign}) {
			t.Errorf("campaigns: %+v, %v", got, err)
		}
		if want := []string{"campaigns " + string('0'+rune(v)) + " " + string('5'+rune(v))}; !cmp.Equal(r.calls, want) {
			t.Errorf("%q, want %q", r.calls, want)
		}
		r.calls = nil
	}
	if got, err := c.Campaign(ctx, "a/b?c"); err != nil || !cmp.Equal(got, detail) {
		t.Errorf("campaign: %+v, %v", got, err)
	}
	for _, name := range []*string{nil, new(""), new("a&b=\n")} {
		if got, err := c.Label(ctx, "7f3a", filter.Ham, name); err != nil || got != campaign {
			t.Errorf("label: %+v, %v", got, err)
		}
	}
	if n, err := c.Drop(ctx, "7f3a"); n != 3 || err != nil {
		t.Errorf("drop: %d, %v", n, err)
	}
	want := []string{"campaign a/b?c", "label 7f3a ham as it is", `label 7f3a ham ""`, `label 7f3a ham "a&b=\n"`, "drop 7f3a"}
	if d := cmp.Diff(want, r.calls); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestNoCluster: that there is none is told through the socket as it is told without.
func TestNoCluster(t *testing.T) {
	c := dial(t, serve(t, &record{err: store.ErrNoCluster}, 100))
	_, e1 := c.Campaign(t.Context(), "7f3a")
	_, e2 := c.Label(t.Context(), "7f3a", filter.None, nil)
	_, e3 := c.Drop(t.Context(), "7f3a")
	for _, err := range []error{e1, e2, e3} {
		if !errors.Is(err, store.ErrNoCluster) {
			t.Error(err)
		}
	}
}

func TestWrongCampaignRequests(t *testing.T) {
	for _, target := range []string{
		"GET /v1/campaigns", "GET /v1/campaigns?view=live", "GET /v1/campaigns?view=live&limit=-1", "GET /v1/campaigns?view=x&limit=1",
		"POST /v1/campaigns/7f3a/label", "POST /v1/campaigns/7f3a/label?label=good",
	} {
		method, path, _ := strings.Cut(target, " ")
		s, w := &record{}, httptest.NewRecorder()
		Handler(s, 64).ServeHTTP(w, httptest.NewRequest(method, path, nil))
		if w.Code != http.StatusBadRequest || s.calls != nil {
			t.Errorf("%s: %d, %q", target, w.Code, s.calls)
		}
	}
}
