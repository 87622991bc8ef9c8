package filter

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"spamsim/store"
)

const letter = "Dear customer, our warehouse has just received forty barrels of smoked herring from the northern islands, and " +
	"because the cellar is full already each household in your street may order three of them at half the usual price. " +
	"Reply before Thursday with your postal address, and the carrier will bring the fish to your kitchen door himself. "

// copyOf is copy n of the letter with its envelope.
func copyOf(n int) (*Envelope, []byte) {
	env := &Envelope{ClientAddr: fmt.Sprintf("192.0.%d.7", n), Sender: fmt.Sprintf("s%d@example.com", n),
		Recipients: []string{fmt.Sprintf("r%d@example.net", n)}, Time: time.Unix(1e9, 0)}
	return env, []byte(fmt.Sprintf("From: <s%d@example.com>\r\nMessage-ID: <%d@example.com>\r\nSubject: herring\r\n\r\nNumber %d. %s\r\n", n, n, n, letter))
}

func newFilter(t testing.TB) *Filter {
	t.Helper()
	s, err := store.Open("", store.Options{Key: []byte("k")})
	if err != nil {
		t.Fatal(err)
	}
	return New(s, Config{ID: "mx.example.net"})
}

func TestFifthCopyIsBulk(t *testing.T) {
	f := newFilter(t)
	for n := 1; n <= 6; n++ {
		env, raw := copyOf(n)
		j := f.Check(context.Background(), env, raw)
		if want := map[bool]Kind{true: Bulk}[n >= 5]; j.Verdict.Kind != want {
			t.Errorf("copy %d: %+v", n, j.Verdict)
		}
		if len(j.Add) != 1 || j.Add[0].Name != "X-Spamsim" || len(j.Strip) != 2 || j.Action != Tag {
			t.Errorf("copy %d: %+v", n, j)
		}
	}
	env, raw := copyOf(6)
	if again := f.Check(context.Background(), env, raw).Verdict; again.Copies != 6 || again.Kind != Bulk {
		t.Errorf("a retry: %+v", again)
	}
	env, raw = copyOf(7)
	for range 2 {
		if seen := f.Peek(context.Background(), env, raw).Verdict; seen.Copies != 7 || seen.Kind != Bulk {
			t.Errorf("seen only: %+v", seen)
		}
	}
	env.Authenticated = true
	if own := f.Peek(context.Background(), env, raw).Verdict; own.Kind != Exempt || own.Reason != "outbound" || own.Would != Bulk {
		t.Errorf("of our own user: %+v", own)
	}
}

func TestTrainedHamIsExempt(t *testing.T) {
	f := newFilter(t)
	env, raw := copyOf(1)
	if out, err := f.Train(env, raw, Ham); err != nil || !out.Done {
		t.Fatalf("%+v, %v", out, err)
	}
	env, raw = copyOf(2)
	j := f.Check(context.Background(), env, raw)
	if got := j.Add[0].Value; got != " exempt; reason=ham; would=bulk; id=mx.example.net;\n\tmac=1b0b3877c92fa55a" {
		t.Errorf("%q", got)
	}
	env, raw = copyOf(1)
	if out, err := f.Forget(env, raw); err != nil || !out.Done {
		t.Errorf("%+v, %v", out, err)
	}
}

func TestPanicPasses(t *testing.T) {
	f := New(nil, Config{}) // no store: every question to it panics
	env, raw := copyOf(1)
	if v := f.Check(context.Background(), env, raw).Verdict; v.Kind != Error || v.Reason != "panic" {
		t.Errorf("%+v", v)
	}
}

func TestMessageKey(t *testing.T) {
	f := newFilter(t)
	env, raw := copyOf(1)
	raw = []byte(strings.Replace(string(raw), "Message-ID: <1@example.com>\r\n", "", 1))
	f.Check(context.Background(), env, raw)
	if v := f.Check(context.Background(), env, raw).Verdict; v.Copies != 1 {
		t.Errorf("a retry without Message-ID: %+v", v)
	}
	env.Recipients = []string{"other@example.net"}
	if v := f.Check(context.Background(), env, raw).Verdict; v.Copies != 2 || v.Senders.N != 1 || v.Recipients.N != 2 {
		t.Errorf("to another recipient: %+v", v)
	}
}
