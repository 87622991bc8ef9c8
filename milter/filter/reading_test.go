package filter

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spamsim/parse"
)

// TestReadAheadIsTheSame reads a stream ahead and judges it after: the judgements are those of judging each as it comes,
// and the evidence is that of the verdict.
func TestReadAheadIsTheSame(t *testing.T) {
	one, ahead := newFilter(t), newFilter(t)
	var readings []*Reading
	var want []Judgement
	for n := range 12 {
		env, raw := copyOf(1 + n/2) // each comes twice
		if n == 7 {
			env, raw = &Envelope{Time: time.Unix(1e9, 0)}, []byte("short")
		}
		want = append(want, one.Check(context.Background(), env, raw))
		readings = append(readings, ahead.Read(env, raw))
	}
	bulk := 0
	for n, r := range readings {
		got, ev := ahead.CheckReading(r)
		if d := cmp.Diff(want[n], got); d != "" {
			t.Errorf("message %d: -one by one, +read ahead:\n%s", n, d)
		}
		if v := got.Verdict; ev.Sigma != v.Sigma || ev.Abstain != v.Reason || v.Copies > 0 && ev.Cluster != v.Cluster {
			t.Errorf("message %d: verdict %+v of evidence %+v", n, v, ev)
		}
		if got.Verdict.Kind == Bulk {
			bulk++
		}
	}
	if bulk == 0 {
		t.Error("nothing was bulk")
	}
}

// TestReadPanics gives a message that cannot be read the verdict error, and no evidence.
func TestReadPanics(t *testing.T) {
	f := newFilter(t)
	r := f.Read(nil, []byte("x")) // no envelope: reading panics
	if j, ev := f.CheckReading(r); j.Verdict.Kind != Error || j.Verdict.Reason != "panic" || ev.Copies != 0 {
		t.Errorf("%+v, %+v", j, ev)
	}
	r = &Reading{env: &Envelope{}, message: &parse.Message{}} // no trace: judging panics
	if j, ev := f.CheckReading(r); j.Verdict.Kind != Error || ev.Cluster != "" {
		t.Errorf("%+v, %+v", j, ev)
	}
}
