package bench

import (
	"bytes"
	netmail "net/mail"
	"slices"
	"strings"
	"testing"

	"spamsim/parse"
)

// The same seed gives the same mail, another one other mail.
func TestWriterRepeats(t *testing.T) {
	a, b, c := newWriter(1), newWriter(1), newWriter(2)
	for range 50 {
		x, y, z := a.mail(), b.mail(), c.mail()
		if !bytes.Equal(x.raw, y.raw) || bytes.Equal(x.raw, z.raw) {
			t.Fatalf("%s\n%s\n%s", x.raw, y.raw, z.raw)
		}
	}
}

// TestMail reads messages as others do: they are mail, parse finds nothing wrong with them and all words of them.
func TestMail(t *testing.T) {
	w := newWriter(4)
	ids := map[string]bool{}
	html := 0
	for range 300 {
		m := w.mail()
		got, err := netmail.ReadMessage(bytes.NewReader(m.raw))
		if err != nil {
			t.Fatalf("%v in\n%s", err, m.raw)
		}
		if ids[m.id] || got.Header.Get("Message-ID") != "<"+m.id+">" || got.Header.Get("From") != "<"+m.sender+">" {
			t.Errorf("header %v of %s from %s", got.Header, m.id, m.sender)
		}
		ids[m.id] = true
		parsed := parse.Parse(m.raw, parse.Limits{})
		if len(parsed.Defects) > 0 || len(strings.Fields(parsed.Text())) < 12 {
			t.Errorf("defects %v, text %q", parsed.Defects, parsed.Text())
		}
		if parsed.Type == "multipart/alternative" {
			html++
		}
		for line := range bytes.Lines(m.raw) {
			if !bytes.HasSuffix(line, []byte("\r\n")) || len(line) > 998 { // RFC 5322 section 2.1.1
				t.Fatalf("line %q", line)
			}
		}
	}
	if html < 80 || html > 160 {
		t.Errorf("%d of 300 have HTML, want two of five", html)
	}
}

// TestRank looks at the law of the words: the part of all words that are among the first k is as its formula has it, whole
// numbers apart, and the last word can be reached.
func TestRank(t *testing.T) {
	if rank(0) != 0 || rank(0.9999999) < vocabulary-2 {
		t.Errorf("from %d to %d", rank(0), rank(0.9999999))
	}
	const n = 100_000
	ranks := make([]int, n)
	for i := range ranks {
		ranks[i] = rank((float64(i) + 0.5) / n)
	}
	if !slices.IsSorted(ranks) {
		t.Error("ranks do not rise")
	}
	var counts [vocabulary]int
	for _, r := range ranks {
		counts[r]++
	}
	// The density falls as (k + offset)^-exponent, so from word 2 to word 92 by 10^-1.1 = 1/12.6.
	if got := float64(counts[2]) / float64(counts[92]); got < 11 || got > 13.5 {
		t.Errorf("word 2 is %.1f times as frequent as word 92", got)
	}
}

// One message in five is a copy, and the store knows nearly all of them for what they are, and nothing else.
func TestCampaigns(t *testing.T) {
	m, err := newMemory(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer m.store.Close()
	const n = 2000
	copies := 0
	for i := range n {
		r := m.read(i)
		if m.store.Count(r.trace, r.from).Copies > 1 {
			copies++
		}
	}
	if copies < n/8 || copies > n/4 {
		t.Errorf("%d of %d messages are copies, want about a fifth", copies, n)
	}
}

// TestSkew holds the made-up mail against real mail: each part is common to within a factor of three.
func TestSkew(t *testing.T) {
	got := skewOf(newWriter(skewSeed), realMessages)
	for kind, c := range map[string][2][3]float64{"words": {got.Words, realMail.Words}, "pairs": {got.Pairs, realMail.Pairs}} {
		for i := range c[0] {
			if ratio := c[0][i] / c[1][i]; ratio < 1.0/3.01 || ratio > 3 {
				t.Errorf("%s: %v, of real mail %v", kind, c[0], c[1])
			}
		}
	}
}

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		part float64
		want int
	}{{0, 1}, {0.1, 1}, {0.5, 5}, {0.9, 9}, {1, 11}} {
		if got := quantile([]int{11, 1, 9, 5, 3, 8, 2, 6, 9, 4, 1}, c.part); got != c.want {
			t.Errorf("quantile %v is %d, want %d", c.part, got, c.want)
		}
	}
}
