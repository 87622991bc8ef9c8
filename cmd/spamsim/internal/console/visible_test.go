package console

import (
	"html"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestVisible(t *testing.T) {
	m := func(s string) string { return `<span class="mark">` + s + `</span>` }
	for in, want := range map[string]string{
		"":                   "",
		"Grüße, 你好 👍":        "Grüße, 你好 👍",
		"<b>&\"'":            "&lt;b&gt;&amp;&#34;&#39;",
		"a\tb\r\nc\u00a0d":   "a b  c d",
		"\x1b[31m":           m("U+001B") + "[31m",
		"\u202egnp.exe":      m("U+202E") + "gnp.exe",
		"fr\u200bee\ufeff":   "fr" + m("U+200B") + "ee" + m("U+FEFF"),
		"\u2066x\u2069":      m("U+2066") + "x" + m("U+2069"),
		"so\u00adft":         "so" + m("U+00AD") + "ft",
		"\u3164\u034f\u2800": m("U+3164") + m("U+034F") + m("U+2800"),
		"\xff\u0085\ue000":   m(`\xff`) + m("U+0085") + m("U+E000"),
		"\U000e0041":         m("U+E0041"),
	} {
		if got := string(visible(in)); got != "<bdi>"+want+"</bdi>" {
			t.Errorf("%q: %s", in, got)
		}
	}
	if got := clipped(3, "a<c\u202ed"); got != "<bdi>a&lt;c</bdi>…" {
		t.Errorf("clipped: %s", got)
	}
	if got := clipped(4, "abcd"); got != "<bdi>abcd</bdi>" {
		t.Errorf("not clipped: %s", got)
	}
}

var markElement = regexp.MustCompile(`<span class="mark">(U\+[0-9A-F]{4,6}|\\x[0-9a-f]{2})</span>`)

// FuzzVisible: beside its marks the result is text alone, nothing in it is hidden, and none of the visible text is lost.
func FuzzVisible(f *testing.F) {
	for _, s := range []string{"", "<script>", "\u202e\u200b\x00\xff", `<span class="mark">U+0000</span>`, "שלום a", "&lt;"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		out := strings.TrimSuffix(strings.TrimPrefix(string(visible(text)), "<bdi>"), "</bdi>")
		out = markElement.ReplaceAllString(out, "")
		if strings.ContainsAny(out, "<>\"'") || !utf8.ValidString(out) {
			t.Fatalf("%q gives %q", text, out)
		}
		kept := strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) || hides(r) || r == utf8.RuneError {
				return -1
			}
			return r
		}, text)
		if got := strings.ReplaceAll(strings.ReplaceAll(html.UnescapeString(out), " ", ""), "\ufffd", ""); got != kept {
			t.Fatalf("%q is shown as %q, of it %q", text, out, kept)
		}
	})
}
