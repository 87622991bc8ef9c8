package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spamsim/milter/filter"
)

// TestReport prints what people read of a backtest: the verdicts, and the campaigns with text from them made safe.
func TestReport(t *testing.T) {
	r := &report{}
	at := time.Date(2002, 8, 22, 10, 0, 0, 0, time.UTC)
	add := func(v filter.Verdict, given filter.Label, subject string) {
		at = at.Add(time.Hour)
		j := judged{verdict: v, arrival: arrival{at: at, given: given}}
		j.Name, j.Raw = "box\x07#1", []byte("Subject: "+subject+"\r\n\r\nx\r\n")
		if v.Cluster == "7f3a19c2" {
			j.evidence.Sample, j.evidence.First = "Buy \x1b[31mnow\u202e", time.Date(2002, 8, 22, 3, 4, 0, 0, time.UTC)
		}
		if err := r.add(j); err != nil {
			t.Fatal(err)
		}
	}
	add(filter.Verdict{Kind: filter.Clean}, filter.Spam, "")
	add(filter.Verdict{Kind: filter.Abstain, Reason: "short"}, filter.Ham, "")
	add(filter.Verdict{Kind: filter.Abstain, Reason: "short"}, filter.None, "")
	add(filter.Verdict{Kind: filter.Abstain, Reason: "dsn"}, filter.None, "")
	add(filter.Verdict{Kind: filter.Bulk, Sigma: 4.6, Cluster: "7f3a19c2", Copies: 5, Senders: filter.Count{N: 5}, Nets: filter.Count{N: 2}}, filter.Spam, "Buy 5")
	add(filter.Verdict{Kind: filter.Bulk, Sigma: 3.9, Cluster: "7f3a19c2", Copies: 6, Senders: filter.Count{N: 6}, Nets: filter.Count{N: 3}}, filter.Spam, "Buy 6")
	add(filter.Verdict{Kind: filter.Bulk, Sigma: 6, Cluster: "00000001", Copies: 900, Senders: filter.Count{N: 70, Approx: true}}, filter.Ham, "Letter \x1b2J")
	var out bytes.Buffer
	if err := r.write(&app{stdout: &out}); err != nil {
		t.Fatal(err)
	}
	const want = `7 messages, 2002-08-22 11:00 to 2002-08-22 17:00

abstain         3   42.9 %   dsn 1, short 2
bulk            3   42.9 %
clean           1   14.3 %

spam found  2 of 3, 66.7 % (20.8 to 93.9)
ham lost    1 of 2, 50.0 % (9.5 to 90.5)
with 95 % intervals; the first copies of a campaign count as not found

2 campaigns, biggest first. "bulk" are the copies called so, the first ones of a campaign are not.

CLUSTER   COPIES  BULK  SENDERS  NETS  SIGMA  FIRST COPY        LAST BULK         SUBJECT OF THE FIRST COPY
00000001  900     1     ~70      0     6.0    2002-08-22 17:00  2002-08-22 17:00  Letter ` + "\ufffd" + `2J
7f3a19c2  6       2     6        3     3.9    2002-08-22 03:04  2002-08-22 16:00  Buy ` + "\ufffd[31mnow\ufffd" + `

1 of the ham were called bulk. "spamsim train --ham" exempts mail like one of them, an [[exempt]] rule its sender.

MESSAGE  TIME              CLUSTER   COPIES  SIGMA  SUBJECT
box` + "\ufffd" + `#1   2002-08-22 17:00  00000001  900     6.0    Letter ` + "\ufffd" + `2J
`
	if d := cmp.Diff(want, out.String()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestReportOfNothing(t *testing.T) {
	var out bytes.Buffer
	if err := (&report{}).write(&app{stdout: &out}); err != nil || out.String() != "0 messages\n\n\nNo campaign was found.\n" {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// TestLine is what backtest --json prints: null where there is no cluster and no sigma.
func TestLine(t *testing.T) {
	for _, c := range []struct {
		v    filter.Verdict
		want string
	}{
		{filter.Verdict{Kind: filter.Bulk, Judged: true, Sigma: 4.6, Cluster: "7f3a", Copies: 7},
			`{"index":1,"message_id":"<a&b>","verdict":"bulk","bulk":true,"cluster":"7f3a","copies":7,"sigma":4.6,"reason":""}`},
		{filter.Verdict{Kind: filter.Abstain, Reason: "short"},
			`{"index":1,"message_id":"<a&b>","verdict":"abstain","bulk":false,"cluster":null,"copies":0,"sigma":null,"reason":"short"}`},
	} {
		j := judged{id: "<a&b>", verdict: c.v}
		j.index = 1
		var out bytes.Buffer
		if err := (&app{stdout: &out}).json(j.line()); err != nil || out.String() != c.want+"\n" {
			t.Errorf("%s, %v", out.String(), err)
		}
	}
}

// TestUnread names the first bad files and counts the rest.
func TestUnread(t *testing.T) {
	var out bytes.Buffer
	u := &unread{app: &app{stderr: &out}}
	if err := u.err(); err != nil {
		t.Error(err)
	}
	for range maxNamed + 5 {
		u.add(errUsage)
	}
	if err := u.err(); (&app{}).finish(nil, err) != statusUsage {
		t.Errorf("%v", err)
	}
	if n := bytes.Count(out.Bytes(), []byte("\n")); n != maxNamed+1 {
		t.Errorf("%d lines:\n%s", n, out.String())
	}
}

// TestProgress writes no line and no control code where standard error is no terminal and the work is quick.
func TestProgress(t *testing.T) {
	var out bytes.Buffer
	a := &app{stderr: &out}
	p := a.progress("replayed", 100)
	p.add(50)
	if out.Len() != 0 {
		t.Errorf("%q", out.String())
	}
	p.told = p.told.Add(-tellEvery)
	p.begun = p.begun.Add(-10 * time.Second)
	p.add(30)
	if got := out.String(); got != "spamsim: replayed 2 messages, 80 %, about 3s left\n" && got != "spamsim: replayed 2 messages, 80 %, about 2s left\n" {
		t.Errorf("%q", got)
	}
	a.quiet = true
	p.told = p.told.Add(-tellEvery)
	p.add(1)
	p.done()
	if bytes.Count(out.Bytes(), []byte("\n")) != 1 {
		t.Errorf("%q", out.String())
	}
}
