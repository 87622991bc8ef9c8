package parse

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
)

const multi = "Content-Type: multipart/mixed; boundary="

// bombs are messages of about n octets that are made to cost more than their size.
var bombs = map[string]func(n int) string{
	"nested multiparts": func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, multi+"%d\n\n--%d\n", i, i)
		}
		return b.String() + "\nthe end"
	},
	"nested multiparts of one boundary": func(n int) string { return times(multi+"x\n\n--x\n", n) + "\nthe end" },
	"nested alternatives": func(n int) string {
		var b strings.Builder
		for i := 0; b.Len() < n; i++ {
			fmt.Fprintf(&b, "Content-Type: multipart/alternative; boundary=%d\n\n--%d\n\n.\n--%d\n", i, i, i)
		}
		return b.String() + "\nthe end"
	},
	"nested messages":         func(n int) string { return times("Content-Type: message/rfc822\n\n", n) + "\nthe end" },
	"nested encoded messages": nestedEncoded,
	"parts":                   func(n int) string { return multi + "x\n\n" + times("--x\n\npart\n", n) + "--x--\n" },
	"parts of HTML that hides": func(n int) string {
		return multi + "x\n\n" + times("--x\nContent-Type: text/html\n\n<!--"+strings.Repeat("x", 5000)+"-->a\n", n)
	},
	"nothing but delimiters": func(n int) string { return multi + "x\n\n" + times("--x\n", n) },
	"nearly delimiters":      func(n int) string { return multi + "x\n\n" + times("--x--x", n) + "\n--x\n\ntext" },
	"a boundary of hyphens": func(n int) string {
		return multi + strings.Repeat("-", n/2) + "\n\n" + strings.Repeat("-", n/2)
	},
	"no delimiter found":       func(n int) string { return "Content-Type: multipart/mixed\n\n" + times("--x\n\n", n) },
	"header of fields":         func(n int) string { return times("a: b\n", n) + "Subject: s\n\ntext" },
	"header of short fields":   func(n int) string { return "X-A: b\n" + times("a:\n", n) + "\ntext" },
	"header of one field":      func(n int) string { return "Subject: " + times("x", n) + "\n\ntext" },
	"header of folds":          func(n int) string { return "Subject: x" + times("\r\n x", n) + "\n\ntext" },
	"header of content fields": func(n int) string { return times("Content-Type: text/plain\n", n) + "\ntext" },
	"header of parameters":     func(n int) string { return "Content-Type: text/plain" + times("; a=b", n) + "\n\ntext" },
	"header of continuations": func(n int) string {
		return "Content-Type: text/plain" + times("; charset*1=b", n) + "\n\ntext"
	},
	"header of comments": func(n int) string {
		return "From: " + times("(", n) + "\nContent-Type: text/plain" + times("(", n/2) + times(")", n/2) + "\n\ntext"
	},
	"header of quotes":      func(n int) string { return "From: " + times(`"\"`, n) + "\n\ntext" },
	"header of words":       func(n int) string { return "Subject: " + times("=?utf-8?q?", n) + "\n\ntext" },
	"header of charsets":    func(n int) string { return "Subject: " + times("=?big5?q?=A7A?= =?x?q?a?= ", n) + "\n\ntext" },
	"base64":                func(n int) string { return b64Head + times("aGVsbG8gd29ybGQsIGFnYWlu\n", n) },
	"base64 with junk":      func(n int) string { return b64Head + times("aGVsbG8gd29ybGQsIGFnYWlu*\n", n) },
	"base64 and plain":      func(n int) string { return b64Head + times("aGVsbG8gd29ybGQsIGFnYWlu\nplain, for once\n", n) },
	"base64 of padding":     func(n int) string { return b64Head + times("=", n) },
	"base64 of empty lines": func(n int) string { return b64Head + times("\n", n) + "*" },
	"quoted-printable":      func(n int) string { return qpHead + times("=41=42=\n", n) },
	"equals signs":          func(n int) string { return qpHead + times("=", n) },
	"equals and spaces":     func(n int) string { return qpHead + times("=   ", n) },
	"uuencode": func(n int) string {
		return "Content-Transfer-Encoding: uuencode\n\nbegin 644 a\n" + times("#0V%T\n", n)
	},
	"UTF-7":                func(n int) string { return "Content-Type: text/plain; charset=utf-7\n\n" + times("+", n) },
	"stray octets":         func(n int) string { return "Subject: x\n\n" + times("\xe9a", n) },
	"carriage returns":     func(n int) string { return "Subject: x\n\n" + times("\r", n) },
	"links":                func(n int) string { return "Subject: x\n\n" + times("http://", n) },
	"HTML of open tags":    func(n int) string { return htmlHead + times("<b>", n) + "the end" },
	"HTML of hiding tags":  func(n int) string { return htmlHead + times(`<div style="display:none">`, n) + "the end" },
	"HTML of quotes":       func(n int) string { return htmlHead + times("<blockquote>x", n) + "the end" },
	"HTML of tables":       func(n int) string { return htmlHead + times("<table><tr><td>", n) + "the end" },
	"HTML of closing tags": func(n int) string { return htmlHead + times("</b>", n) + "the end" },
	"HTML of unclosed tags and their ends": func(n int) string {
		return htmlHead + times("<i>", n/2) + times("</u>", n/2) + "the end"
	},
	"HTML of attributes":        func(n int) string { return htmlHead + "<a" + times(" x=y", n) + ">the end</a>" },
	"HTML of one tag":           func(n int) string { return htmlHead + "<" + times("a", n) + ">the end" },
	"HTML of comments":          func(n int) string { return htmlHead + times("<!-- -->", n) + "the end" },
	"HTML of open comments":     func(n int) string { return htmlHead + times("<!--", n) + "the end" },
	"HTML of entities":          func(n int) string { return htmlHead + times("&eacute;", n) + "the end" },
	"HTML of half entities":     func(n int) string { return htmlHead + times("&#x", n) + "the end" },
	"HTML of a style sheet":     func(n int) string { return htmlHead + "<style>" + times(".a{display:none}", n) + "</style>the end" },
	"HTML of many style sheets": func(n int) string { return htmlHead + times("<style>.a{color:red}</style><p class=a>x", n) },
	"HTML of rules": func(n int) string {
		return htmlHead + "<style>" + strings.Join(numbered(n/15), "{color:red}.c") + "</style>the end"
	},
	"HTML of selectors": func(n int) string {
		return htmlHead + "<style>" + times("a [", n/2) + times("(,", n/2) + "{}</style>the end"
	},
	"HTML of classes": func(n int) string {
		return htmlHead + `<style>.a{color:red}</style><p class="` + times("a ", n) + `">the end`
	},
	"CSS of comments":           func(n int) string { return htmlHead + "<style>" + times("/**/a", n) + "</style>the end" },
	"CSS of slashes":            func(n int) string { return htmlHead + "<style>/**/" + times("/", n) + "</style>the end" },
	"CSS of groups":             func(n int) string { return htmlHead + "<style>" + times("@media x{", n) + "</style>the end" },
	"CSS of quotes":             func(n int) string { return htmlHead + `<p style="` + times("';", n) + `">the end` },
	"CSS of brackets":           func(n int) string { return htmlHead + `<p style="` + times("a(;", n) + `">the end` },
	"HTML of options":           func(n int) string { return htmlHead + "<select>" + times("<option>a", n) + "the end" },
	"HTML of cells without row": func(n int) string { return htmlHead + times("<table><b><td><b><tr>", n) + "the end" },
	"HTML of links":             func(n int) string { return htmlHead + times("<a href=http://x>", n) + "the end" },
	"attached texts": func(n int) string {
		return multi + "x\n\n" + times("--x\nContent-Disposition: attachment; filename=x\n\n.\n", n)
	},
}

const (
	b64Head  = "Content-Transfer-Encoding: base64\n\n"
	htmlHead = "Content-Type: text/html\n\n"
	qpHead   = "Content-Transfer-Encoding: quoted-printable\n\n"
)

func numbered(n int) []string {
	s := make([]string, n)
	for i := range s {
		s[i] = fmt.Sprint(i)
	}
	return s
}

func times(s string, n int) string { return strings.Repeat(s, n/len(s)+1) }

// nestedEncoded puts messages into each other, each of them quoted-printable and never the same octets.
func nestedEncoded(n int) string {
	s := "\n" + times("the end =3D ", n/2)
	for range 15 {
		s = "Content-Type: message/rfc822\nContent-Transfer-Encoding: quoted-printable\n\n" + strings.ReplaceAll(s, "=", "=3D")
	}
	return s
}

// TestBombs parses each bomb of a megabyte and of two, and counts the octets allocated: twice the size takes at most 2.2 times as
// many (2.02 is the most there is now). What is quadratic in any part of the work that allocates takes four times as much, and
// what is quadratic in the rest takes minutes for these sizes and ends by the timeout of the test; BenchmarkBombs tells what
// each takes.
func TestBombs(t *testing.T) {
	for name, bomb := range bombs {
		t.Run(name, func(t *testing.T) {
			one, two := []byte(bomb(1<<20)), []byte(bomb(2<<20))
			a, b := allocated(one), allocated(two)
			if most := uint64(16*len(one)) + 4<<20; a > most {
				t.Errorf("%d octets cost %d, more than %d", len(one), a, most)
			}
			if ratio := float64(b) / float64(a); ratio > 2.2 {
				t.Errorf("%d octets cost %d, %d cost %d", len(one), a, len(two), b)
			}
		})
	}
}

// allocated returns how many octets Parse allocates for a message.
func allocated(raw []byte) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	Parse(raw, Limits{})
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// BenchmarkBombs parses each bomb of a megabyte, and half of one: what is linear has the same MB/s for both.
func BenchmarkBombs(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(bombs)) {
		for _, size := range []int{1 << 19, 1 << 20} {
			b.Run(fmt.Sprintf("%s/%dKB", name, size>>10), func(b *testing.B) {
				raw := []byte(bombs[name](size))
				b.SetBytes(int64(len(raw)))
				b.ReportAllocs()
				for b.Loop() {
					Parse(raw, Limits{}).Text()
				}
			})
		}
	}
}

// TestBigBombs parses the sizes that have broken other parsers.
func TestBigBombs(t *testing.T) {
	if testing.Short() {
		t.Skip("200 MB of input")
	}
	for name, size := range map[string]int{
		"nested multiparts": 100_000 * 45, "nested messages": 100_000 * 30, "parts": 10_000 * 10,
		"HTML of open tags": 3_000_000, "header of fields": 50 << 20, "header of one field": 50 << 20, "header of content fields": 50 << 20,
		"base64": 16 << 20, "base64 and plain": 16 << 20, "quoted-printable": 16 << 20,
	} {
		raw := []byte(bombs[name](size))
		if got, most := allocated(raw), uint64(perOctet*len(raw))+4<<20; got > most {
			t.Errorf("%s: %d octets cost %d", name, len(raw), got)
		}
	}
}
