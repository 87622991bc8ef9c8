package filter

import (
	"bytes"
	"strings"
	"testing"
)

var tagged = Judgement{Add: []Field{{"X-Spamsim", " bulk;\n\tid=mx"}}, Strip: []string{"X-Spamsim"}}

func TestApply(t *testing.T) {
	for raw, want := range map[string]string{
		"Subject: a\r\n\r\nbody\r\n":                               "X-Spamsim: bulk;\r\n\tid=mx\r\nSubject: a\r\n\r\nbody\r\n",
		"Subject: a\n\nbody":                                       "X-Spamsim: bulk;\n\tid=mx\nSubject: a\n\nbody",
		"x-spamsim: clean;\r\n\tid=mx\r\nA: b\r\n\r\nX-Spamsim: c": "X-Spamsim: bulk;\r\n\tid=mx\r\nA: b\r\n\r\nX-Spamsim: c",
		"A: b\r\nX-SPAMSIM : clean\r\n c\r\n d\r\nB: c\r\n":        "X-Spamsim: bulk;\r\n\tid=mx\r\nA: b\r\nB: c\r\n",
		"no header here\r\nbut text":                               "X-Spamsim: bulk;\r\n\tid=mx\r\n\r\nno header here\r\nbut text",
		"\r\nbody only":                                            "X-Spamsim: bulk;\r\n\tid=mx\r\n\r\nbody only",
		"":                                                         "X-Spamsim: bulk;\r\n\tid=mx\r\n\r\n",
		"A: \x00b\r\n\r\n\x00\r\r\n":                               "X-Spamsim: bulk;\r\n\tid=mx\r\nA: \x00b\r\n\r\n\x00\r\r\n",
		"A: b\r\nno field\r\nX-Spamsim: c\r\n d\r\nB: c\r\n\r\nX-Spamsim: e\r\n": "X-Spamsim: bulk;\r\n\tid=mx\r\nA: b\r\nno field\r\nB: c\r\n\r\nX-Spamsim: e\r\n",
		"From a@b Thu Jan  1 00:00:00 2026\r\nX-Spamsim: c\r\nA: b\r\n\r\nbody": "X-Spamsim: bulk;\r\n\tid=mx\r\n" +
			"X-Mailbox-Line: From a@b Thu Jan  1 00:00:00 2026\r\nA: b\r\n\r\nbody",
		">From a@b 2026\nA: b\n\n":      "X-Spamsim: bulk;\n\tid=mx\nX-Mailbox-Line: >From a@b 2026\nA: b\n\n",
		"From : a@b\r\nA: b\r\n\r\n":    "X-Spamsim: bulk;\r\n\tid=mx\r\nFrom : a@b\r\nA: b\r\n\r\n",
		"From now on\r\nwe write\r\n":   "X-Spamsim: bulk;\r\n\tid=mx\r\n\r\nFrom now on\r\nwe write\r\n",
		"X-Spamsim-Other: kept\r\n\r\n": "X-Spamsim: bulk;\r\n\tid=mx\r\nX-Spamsim-Other: kept\r\n\r\n",
	} {
		if got := string(Apply([]byte(raw), tagged)); got != want {
			t.Errorf("%q:\n%q, want\n%q", raw, got, want)
		}
		if got := Apply([]byte(raw), Judgement{}); string(got) != raw {
			t.Errorf("%q: nothing to do, but %q", raw, got)
		}
	}
}

func FuzzApply(f *testing.F) {
	f.Add([]byte("A: b\r\nX-Spamsim: c\r\n d\r\n\r\nbody"))
	f.Add([]byte(" X-Spamsim: a\n\n"))
	f.Fuzz(func(t *testing.T, head []byte) {
		const body = "\nX-Spamsim: in the body\n"
		raw := append(bytes.Clone(head), "\n"+body...)
		got := Apply(raw, tagged)
		if !bytes.HasPrefix(got, []byte("X-Spamsim: bulk;")) {
			t.Fatalf("%q is not on top", got)
		}
		_, rest, _ := bytes.Cut(got, []byte("id=mx"))
		rest = bytes.TrimLeft(rest, "\r")[1:]
		if !bytes.HasSuffix(got, []byte(body)) {
			t.Fatalf("%q has lost the body of %q", got, raw)
		}
		for _, line := range strings.Split(string(rest), "\n") {
			line = strings.TrimRight(line, "\r")
			if line == "" {
				break
			}
			if strings.EqualFold(fieldName([]byte(line)), "X-Spamsim") {
				t.Fatalf("forged field left in %q", got)
			}
		}
	})
}
