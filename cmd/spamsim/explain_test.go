package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"spamsim/milter/filter"
	"spamsim/store"
)

// letterOf is copy n of a letter with its envelope.
func letterOf(n int) (*filter.Envelope, []byte) {
	env := &filter.Envelope{Sender: fmt.Sprintf("s%d@x.example", n), ClientAddr: fmt.Sprintf("198.18.%d.1", n), Time: time.Unix(1e9, 0)}
	return env, fmt.Appendf(nil, "Subject: pears\r\nMessage-ID: <%d@x.example>\r\n\r\nNumber %d. The cooperative has brought in ninety crates of "+
		"early pears, and every member may fetch two of them from the barn beside the mill before Sunday evening.\r\n", n, n)
}

// TestChangeComesTrue does what an explanation says would change the verdict, and looks whether it does.
func TestChangeComesTrue(t *testing.T) {
	s, err := store.Open("", store.Options{Key: scratchKey})
	if err != nil {
		t.Fatal(err)
	}
	explain := func(c filter.Config, n int) *filter.Explanation {
		env, raw := letterOf(n)
		e, err := filter.New(s, c).Explain(env, raw)
		if err != nil {
			t.Fatal(err)
		}
		return &e
	}
	count := func(n int) { env, raw := letterOf(n); filter.New(s, filter.Config{}).Check(t.Context(), env, raw) }

	if got := change(explain(filter.Config{BulkCount: 4}, 9)); len(got) != 1 || !strings.Contains(got[0], "The 4th copy of it would be bulk") {
		t.Errorf("of a first copy: %q", got)
	}
	count(1)
	e := explain(filter.Config{BulkCount: 4}, 9)
	if got := change(e); e.Verdict.Kind != filter.Clean || len(got) != 1 || got[0] != "2 more copies: it is the 2nd, and the 4th is bulk." {
		t.Errorf("%+v: %q", e.Verdict, got)
	}
	count(2)
	count(3)
	if e = explain(filter.Config{BulkCount: 4}, 9); e.Verdict.Kind != filter.Bulk {
		t.Errorf("two copies later: %+v", e.Verdict)
	}

	high := filter.Config{BulkCount: 4, Threshold: e.Verdict.Sigma + 0.01}
	got := change(explain(high, 9))
	if len(got) != 1 || !strings.HasPrefix(got[0], fmt.Sprintf("Sigma is %.2f and needs %.2f: with cluster %s a score of ", e.Verdict.Sigma, high.Threshold, e.Verdict.Cluster)) {
		t.Errorf("under the threshold: %q", got)
	}
	if m := explain(high, 9).Store.Matches[0]; m.Needed <= m.Score {
		t.Errorf("a score of %v is said to take %v", m.Score, m.Needed)
	}
	said := change(e)[0]
	for _, c := range []filter.Config{high, {BulkCount: e.Verdict.Copies + 1}} {
		if k := explain(c, 9).Verdict.Kind; k != filter.Clean {
			t.Errorf("%q, but with %+v it is %v", said, c, k)
		}
	}

	env, raw := letterOf(3)
	if _, err := filter.New(s, filter.Config{}).Train(env, raw, filter.Ham); err != nil {
		t.Fatal(err)
	}
	if e := explain(filter.Config{}, 9); e.Verdict.Kind != filter.Exempt || !strings.Contains(change(e)[0], "is labelled ham") {
		t.Errorf("%+v: %q", e.Verdict, change(e))
	}
}

// TestChangeWords has the sentences that the others do not come by.
func TestChangeWords(t *testing.T) {
	near := store.Explanation{CopyFrom: 25, MinWords: 12, Matches: []store.Match{{Cluster: "7f", Score: 18, Needed: 31.5}}}
	for want, e := range map[string]filter.Explanation{
		"It has 7 words; a text is judged from 12 on, or where an attachment speaks for it.": {
			Verdict: filter.Verdict{Kind: filter.Abstain, Reason: "short"}, Words: 7, Store: store.Explanation{MinWords: 12, Spoken: -1}},
		"It is no copy of anything: its score with cluster 7f is 18.0, and a copy has 25.|Sigma is 2.40 and needs 3.00: with cluster 7f a score of 31.5 in place of 18.0.": {
			Verdict: filter.Verdict{Judged: true, Sigma: 2.4}, Threshold: 3, BulkCount: 5, Store: near},
		`Without the exempt rule "letter" it would be clean.`: {
			Verdict: filter.Verdict{Kind: filter.Exempt, Reason: "letter", Would: filter.Clean}, Rules: []string{"letter", "outbound"}},
		"It is mail of this site's own users; else it would be bulk.": {
			Verdict: filter.Verdict{Kind: filter.Exempt, Reason: "outbound", Would: filter.Bulk}, Rules: []string{"outbound"}},
	} {
		if got := strings.Join(change(&e), "|"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestNth(t *testing.T) {
	for n, want := range map[int]string{1: "1st", 2: "2nd", 3: "3rd", 4: "4th", 10: "10th", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 112: "112th", 1003: "1003rd"} {
		if got := nth(n); got != want {
			t.Errorf("%d: %q", n, got)
		}
	}
}

// TestExplainTextIsSafe prints what a sender can write: no control character, no bidirectional control and no line of his
// own making reaches the terminal.
func TestExplainTextIsSafe(t *testing.T) {
	const bad = "\x1b[2J\u202egnp\u2028\x00"
	e := filter.Explanation{
		Verdict: filter.Verdict{Judged: true, Cluster: "7f", Copies: 2, Sigma: 4}, Threshold: 3, BulkCount: 5, Rules: []string{"a" + bad, "b"},
		Sender: "a" + bad + "@x", Text: "pears" + bad, Apart: filter.Apart{Quote: 10, Hidden: 3},
		Store: store.Explanation{
			Evidence: store.Evidence{Cluster: "7f", Copies: 2, Known: true, Member: true}, Held: 3,
			Matches: []store.Match{{Cluster: "7f", Sample: "Subject" + bad}, {Cluster: "80"}},
			Spans:   []store.Span{{Mark: store.Both, Text: "pears" + bad}, {Mark: store.Differs, Text: "apples"}, {Text: "and"}},
			Telling: []store.Shared{{Text: "pears" + bad, Weight: 6.5}}, Files: store.Overlap{Message: 4, Shared: 2}, Left: 7,
		},
	}
	got := explainText("file"+bad, &e)
	for _, r := range got {
		if r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' {
			t.Errorf("%U in\n%s", r, got)
		}
	}
	for _, want := range []string{
		"counted before", "3 more copies", " -> 7f ", "    80 ", "10 octets of quotes, 3 octets of hidden text", "and 2 of 4 of attachments", "[pears", "{apples} and\n",
		"... and 7 words more", "of which the first counts: a",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", []string{""}},
		{"one two", []string{"one two"}},
		{"one two three", []string{"one two", "three"}},
		{"one\n\ntwo\tthree ", []string{"one", "two", "three"}},
		{"abcdefghijklmnop", []string{"abcdefgh", "ijklmnop"}},
		{"x abcdefghijk y", []string{"x", "abcdefgh", "ijk y"}},
		{"飞机场附近飞机场附近 x", []string{"飞机场附", "近飞机场", "附近 x"}},
	} {
		if d := cmp.Diff(c.want, wrap(c.text, 8)); d != "" {
			t.Errorf("%q: -want +got:\n%s", c.text, d)
		}
	}
}

// FuzzWrap wraps any text: no line is too long or holds a control character, and no character is lost but for spaces.
func FuzzWrap(f *testing.F) {
	f.Add("one two\nthree", 8)
	f.Add("飞机场附近飞机场附近 x\x1b", 3)
	f.Add("\v", -20)
	f.Fuzz(func(t *testing.T, text string, width int) {
		width = 2 + int(uint(width)%200)
		lines := wrap(text, width)
		for _, l := range lines {
			if columns(l) > width || strings.IndexFunc(l, unicode.IsControl) >= 0 {
				t.Fatalf("%q of %q, %d wide", l, text, width)
			}
		}
		if got, want := strings.Join(strings.Fields(strings.Join(lines, "")), ""), strings.Join(strings.Fields(printable(text)), ""); got != want {
			t.Fatalf("%q became %q", want, got)
		}
	})
}
