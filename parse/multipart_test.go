package parse

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestSplitParts(t *testing.T) {
	for _, c := range []struct{ in, boundary, want, flaw string }{
		{"--x\na\n--x--\n", "x", `["a"]`, ""},
		{"pre\r\n--x\r\na\r\n\r\n--x \t\r\nb\r\n--x--\r\nepi", "x", `["a\r\n" "b"]`, ""},
		{"--x\na", "x", `["a"]`, defectUnclosed},
		{"--x\n", "x", `[""]`, defectUnclosed},
		{"--x--", "x", `[]`, ""},
		{"--x\n--x--", "x", `[""]`, ""},
		{"--x\na\n--xy\nb\n--x--", "x", `["a\n--xy\nb"]`, ""},
		{"--x\na --x\n--x--", "x", `["a --x"]`, ""},
		{"--x\na\n--x--\n--x\nb\n--x--", "x", `["a" "b"]`, defectAfterEnd},
		{"--x\na\n--x-- junk\n--x--", "x", `["a\n--x-- junk"]`, ""},
		{"text", "x", `[]`, ""},
		{"--\na\n----", "", `[]`, ""},
		{"--x\na\n--x--", "x ", `["a"]`, ""},
		{"--x\n1\n--x\n2\n--x\n3\n--x\n4\n--x--", "x", `["1" "2" "3" "4\n--x--"]`, defectUnclosed},
	} {
		parts, _, flaw := splitParts([]byte(c.in), c.boundary, 3)
		if got := fmt.Sprintf("%q", parts); got != c.want || flaw != c.flaw {
			t.Errorf("%q: got %s, %q", c.in, got, flaw)
		}
	}
}

// TestBehindTheEnd: parts behind the end of a multipart are not shown, but where a text stands there alone.
func TestBehindTheEnd(t *testing.T) {
	for body, want := range map[string]string{
		"--x\n\nshown\n--x--\n--x\n\nbehind\n--x--":                       "shown",
		"--x\n\nshown\n--x\n\ntoo\n--x--\n--x\n\nbehind\n--x--\n--x\n\nb": "shown\ntoo",
		"--x\n\n.\n--x--\n--x\n\nbehind\n--x--":                           ".\nbehind",
		"--x--\n--x\n\nbehind\n--x--":                                     "behind",
		"--x\n\nshown\n--x\n\nunclosed":                                   "shown\nunclosed",
	} {
		if got := text(Parse([]byte(multi+"x\n\n"+body), Limits{})); strings.TrimSpace(got) != want {
			t.Errorf("%q: got %q", body, got)
		}
	}
}

// TestAlternativesBehindTheEnd: alternatives whose end comes first are read.
func TestAlternativesBehindTheEnd(t *testing.T) {
	m := Parse([]byte("Content-Type: multipart/alternative; boundary=x\n\n--x--\n--x\n\nplain\n--x\nContent-Type: text/html\n\nshown\n--x--\n"), Limits{})
	if got := strings.TrimSpace(text(m)); got != "shown" || !slices.Equal(m.Defects, []Defect{{"", defectAfterEnd}}) {
		t.Errorf("got %q, %v", got, m.Defects)
	}
}

func TestGuessBoundary(t *testing.T) {
	for in, want := range map[string]string{
		"pre\n--=_a\r\ncontent-type: text/plain\n": "=_a",
		"-- \nContent with the signature\n":        "",
		"--\nsig\n--b\nContent-ID: x":              "b",
		"no delimiter":                             "", "": "", "--b": "",
	} {
		if got := guessBoundary([]byte(in)); got != want {
			t.Errorf("%q: got %q", in, got)
		}
	}
}
