package filter

import (
	"context"
	"testing"
)

// TestOutboundIsCountedApart: mail of the site's own users is judged, and is no copy of what arrives, whatever rule it meets;
// Hits tells how much there was.
func TestOutboundIsCountedApart(t *testing.T) {
	f := newFilter(t)
	f.rules = New(f.store, Config{Rules: []Rule{{Name: "office", Sender: "s9@example.com"}}}).rules
	if hits := f.Hits(); len(hits) != 1 {
		t.Errorf("before there was any: %v", hits)
	}
	check := func(n int, own bool) Verdict {
		env, raw := copyOf(n)
		env.Authenticated = own
		return f.Check(context.Background(), env, raw).Verdict
	}
	for n := 1; n <= 9; n++ {
		want := outbound
		if n == 9 {
			want = "office"
		}
		if v := check(n, true); v.Kind != Exempt || v.Reason != want || v.Would != Clean || v.Copies != 0 {
			t.Errorf("message %d of our users: %+v", n, v)
		}
	}
	if got := f.store.Stats().Messages; got != 0 {
		t.Errorf("the store counted %d", got)
	}
	for n := 11; n <= 15; n++ {
		if v := check(n, false); n < 15 && v.Kind != Clean || n == 15 && (v.Kind != Bulk || v.Copies != 5) {
			t.Errorf("copy %d that arrives: %+v", n-10, v)
		}
	}
	if v := check(16, true); v.Would != Bulk || v.Copies != 6 {
		t.Errorf("our user sends it on: %+v", v)
	}
	if hits := f.Hits(); hits[outbound] != 9 || hits["office"] != 1 {
		t.Errorf("hits %v", hits)
	}
}
