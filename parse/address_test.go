package parse

import (
	"strings"
	"testing"
)

func TestFirstAddress(t *testing.T) {
	for in, want := range map[string]string{
		"ann@example.org":                           "ann@example.org",
		" Ann <Ann@Example.ORG>":                    "ann@example.org",
		`"a@b.example" <c@d.example>`:               "c@d.example",
		`"x \" <a@b.example>" <c@d.example>`:        "c@d.example",
		"a@b.example (Ann <c@d.example>)":           "a@b.example",
		"<a@b.example>, <c@d.example>":              "a@b.example",
		"group: a@b.example, c@d.example;":          "a@b.example",
		`"Ann.B"@example.org`:                       `"ann.b"@example.org`,
		"=?utf-8?q?a=40b?= <c@d.example>":           "c@d.example",
		"Ann <no address>":                          "",
		"undisclosed-recipients:;":                  "",
		"":                                          "",
		"@":                                         "",
		`"never closed <a@b.example>`:               "a@b.example",
		"spam@us.example, more of it <c@d.example>": "c@d.example",
	} {
		if got := firstAddress(in); got != want {
			t.Errorf("%s: got %q", in, got)
		}
	}
}

func TestMessageID(t *testing.T) {
	for in, want := range map[string]string{
		"<1@a.example>": "1@a.example", " 1@a.example ": "1@a.example", "x <1@a.example> y": "1@a.example",
		"<1@a.example": "1@a.example", "": "", "<>": "",
	} {
		if got := messageID(in); got != want {
			t.Errorf("%s: got %q", in, got)
		}
	}
}

func TestPlainLinks(t *testing.T) {
	in := "see http://a.example/x?y=z, (HTTPS://B.example/), <https://c.example/a.b>; ftp://d.example/ :// http:// xhttp://e.example."
	want := []string{"http://a.example/x?y=z", "HTTPS://B.example/", "https://c.example/a.b", "http://e.example"}
	got := plainLinks(in)
	if len(got) != len(want) {
		t.Fatalf("got %q", got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
}

// TestPeople: whom a message is from and to, as the first fields say and their beginning.
func TestPeople(t *testing.T) {
	for header, want := range map[string]string{
		"From: =?utf-8?q?J=C3=B6rg?=\r\n Maier <j@a.example>\r\nCc: c@a.example\r\nto: b@b.example\r\nReply-To: \"R\" <r@b.example>\r\n": `Jörg Maier <j@a.example> b@b.example "R" <r@b.example>`,
		"Subject: none\r\n":                          "",
		strings.Repeat("To: a\r\n", 9):               "a a a a",
		"To: " + strings.Repeat("a", 1<<10) + "\r\n": strings.Repeat("a", maxNamed-1),
	} {
		if m := Parse([]byte(header+"\r\nJörg"), Limits{}); strings.TrimSpace(m.People) != want {
			t.Errorf("%.60q: %q", header, m.People)
		}
	}
}
