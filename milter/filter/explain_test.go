package filter

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spamsim/store"
)

// TestExplainAgreesWithPeek explains the copies of a campaign before they are judged: the verdict is that of Peek, whatever
// rules and labels say.
func TestExplainAgreesWithPeek(t *testing.T) {
	s, err := store.Open("", store.Options{Key: []byte("k")})
	if err != nil {
		t.Fatal(err)
	}
	rules := []Rule{{Name: "third", Sender: "s3@example.com"}, {Name: "also", Recipient: "r3@example.net"}}
	f := New(s, Config{ID: "mx", Threshold: 2.5, BulkCount: 4, Rules: rules})
	kinds := map[Kind]int{}
	for n := 1; n <= 9; n++ {
		env, raw := copyOf(n)
		env.Authenticated = n == 8
		if n == 7 {
			if _, err := f.Train(env, raw, Ham); err != nil {
				t.Fatal(err)
			}
			env, raw = copyOf(70)
		}
		hits := f.Hits()["third"]
		e, err := f.Explain(env, raw)
		if err != nil || f.Hits()["third"] != hits {
			t.Fatalf("%v; rule hits %v", err, f.Hits())
		}
		if d := cmp.Diff(f.Peek(context.Background(), env, raw).Verdict, e.Verdict); d != "" {
			t.Errorf("copy %d: -peek +explain:\n%s", n, d)
		}
		kinds[e.Verdict.Kind]++
		if want := map[int]string{3: "third also", 8: "outbound"}[n]; strings.Join(e.Rules, " ") != want {
			t.Errorf("copy %d meets %q", n, e.Rules)
		}
		if e.Threshold != 2.5 || e.BulkCount != 4 || e.Sender != env.Sender || e.Network != network(env.ClientAddr) || e.Recipients != 1 {
			t.Errorf("copy %d: %+v", n, e)
		}
		f.Check(context.Background(), env, raw)
	}
	if kinds[Clean] == 0 || kinds[Bulk] == 0 || kinds[Exempt] < 2 {
		t.Errorf("kinds of verdict: %v", kinds)
	}
}

// TestExplainText quotes what was hashed, and tells what was not.
func TestExplainText(t *testing.T) {
	raw := "From: a@example.com\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n> what do you say?\r\n\r\nÄPFEL and Pears " + strings.Repeat("груша ", ExplainText) +
		"\r\n\r\n-- \r\nAnn\r\n"
	e, err := newFilter(t).Explain(&Envelope{}, []byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(e.Text, "pears груша груша") || strings.Contains(e.Text, "say") || len(e.Text) > ExplainText || len(e.Text) < ExplainText-2 {
		t.Errorf("%d octets: %.60q", len(e.Text), e.Text)
	}
	if e.Apart.Quote == 0 || e.Apart.Signature == 0 || e.Apart.Footer+e.Apart.Hidden != 0 {
		t.Errorf("%+v", e.Apart)
	}
	if e.Words != ExplainText+3 || e.Script != "other" || len(e.Nilsimsa) != 64 || len(e.SimHash) != 16 {
		t.Errorf("%d words, %s, %s, %s", e.Words, e.Script, e.Nilsimsa, e.SimHash)
	}
}

func TestExplainPanics(t *testing.T) {
	if _, err := newFilter(t).Explain(nil, nil); !errors.Is(err, ErrExplain) {
		t.Errorf("%v", err)
	}
}
