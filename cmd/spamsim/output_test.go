package main

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPrintable(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"Grüße, 你好", "Grüße, 你好"},
		{"a\tb\r\nc", "a b  c"},
		{"\x1b[2J\x1b]0;title\x07", "\ufffd[2J\ufffd]0;title\ufffd"},
		{"invoice\u202efdp.exe", "invoice\ufffdfdp.exe"},
		{"\u2066a\u2069\u200f", "\ufffda\ufffd\ufffd"},
		{"\u0085\u009b31m", "\ufffd\ufffd31m"},
		{"caf\xe9", "caf\ufffd"},
	} {
		if got := printable(c.in); got != c.want {
			t.Errorf("%q is shown as %q, want %q", c.in, got, c.want)
		}
	}
	if got := shorten("abcdef", 4); got != "abc…" {
		t.Errorf("%q", got)
	}
	if got := shorten("你好你好", 4); got != "你好你好" {
		t.Errorf("%q", got)
	}
}

// FuzzPrintable shows any text: what comes out is one line of UTF-8 without a control character.
func FuzzPrintable(f *testing.F) {
	f.Add("\x1b[31m\u202e")
	f.Add("\xff\xfe\u2028")
	f.Fuzz(func(t *testing.T, s string) {
		p := printable(s)
		if !utf8.ValidString(p) {
			t.Fatalf("%q is no UTF-8", p)
		}
		for _, r := range p {
			if r < ' ' || r >= 0x7f && r < 0xa0 || strings.ContainsRune("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c\u2028\u2029", r) {
				t.Fatalf("%q holds %U", p, r)
			}
		}
		if printable(p) != p {
			t.Fatalf("%q is shown as %q the second time", p, printable(p))
		}
	})
}

// TestWarn keeps text of others from writing lines of its own, or to the terminal.
func TestWarn(t *testing.T) {
	var b bytes.Buffer
	a := &app{stderr: &b}
	a.warn("%s: no such file", "x\x1b[2J\rspamsim: all is well")
	a.quiet = true
	a.note("nobody asked")
	if got := b.String(); got != "spamsim: x\ufffd[2J spamsim: all is well: no such file\n" {
		t.Errorf("%q", got)
	}
}
