package filter

import (
	"bytes"
	"strings"
	"testing"
)

// TestSubject: the prefix stands before what the sender wrote, which stays as it is; nothing else changes.
func TestSubject(t *testing.T) {
	long := strings.Repeat("x", 61)
	for raw, want := range map[string]string{
		"Subject: pears\r\n\r\nSubject: b\r\n":          "Subject: [bulk] pears\r\n\r\nSubject: b\r\n",
		"A: b\nsubject:pears\nB: c\n\n":                 "A: b\nsubject: [bulk] pears\nB: c\n\n",
		"SUBJECT : \t pears\r\n\r\n":                    "SUBJECT : [bulk] pears\r\n\r\n",
		"Subject: a\r\n b\r\n\tc\r\nSubject: d\r\n\r\n": "Subject: [bulk] a\r\n b\r\n\tc\r\nSubject: d\r\n\r\n", // readers show the first
		"Subject:\r\n =?utf-8?q?a?=\r\n\r\n":            "Subject: [bulk]\r\n =?utf-8?q?a?=\r\n\r\n",
		"Subject:\r\n\r\n":                              "Subject: [bulk]\r\n\r\n",
		"Subject: [bulk] a\r\n\r\n":                     "Subject: [bulk] a\r\n\r\n",
		"Subject: [bulk]\r\n a\r\n\r\n":                 "Subject: [bulk]\r\n a\r\n\r\n",
		"Subject: " + long[1:] + "\r\n\r\n":             "Subject: [bulk] " + long[1:] + "\r\n\r\n", // 76 characters
		"Subject: " + long + "\r\n\r\n":                 "Subject: [bulk]\r\n " + long + "\r\n\r\n",
		"Subject: " + long + "\n b\n\n":                 "Subject: [bulk]\n " + long + "\n b\n\n",
		"Subject: a":                                    "Subject: [bulk] a",
		"A: b\r\n\r\nSubject: of the body\r\n":          "Subject: [bulk]\r\nA: b\r\n\r\nSubject: of the body\r\n",
		"\r\nbody":                                      "Subject: [bulk]\r\n\r\nbody",
		"no header, but\r\nSubject: x\r\n":              "Subject: [bulk]\r\n\r\nno header, but\r\nSubject: x\r\n",
		" folded first\r\nSubject: x\r\n\r\n":           "Subject: [bulk]\r\n\r\n folded first\r\nSubject: x\r\n\r\n",
		"Subject: =?utf-8?q?=C3=BC?= \r\n\r\n":          "Subject: [bulk] =?utf-8?q?=C3=BC?= \r\n\r\n",
		"Subject: \xfcber \x00\r\n\r\n":                 "Subject: [bulk] \xfcber \x00\r\n\r\n",
		"Subjects: x\r\n\r\n":                           "Subject: [bulk]\r\nSubjects: x\r\n\r\n",
	} {
		if got := string(Apply([]byte(raw), Judgement{Subject: "[bulk]"})); got != want {
			t.Errorf("%q:\n%q, want\n%q", raw, got, want)
		}
	}
}

// TestRedirect: the field of the judgement is the only one of its name.
func TestRedirect(t *testing.T) {
	j := Pass("mx", Clean, "").WithRedirect("spam@site.example")
	raw := "X-Spamsim-Redirect: victim@x.example\r\nSubject: a\r\nx-spamsim-redirect :\r\n v@x.example\r\n\r\n"
	if got, want := string(Apply([]byte(raw), j)), "X-Spamsim: clean; id=mx\r\nX-Spamsim-Redirect: spam@site.example\r\nSubject: a\r\n\r\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := string(Apply([]byte(raw), Pass("mx", Clean, ""))), "X-Spamsim: clean; id=mx\r\nSubject: a\r\n\r\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// FuzzSubject: what is read as the Subject afterwards begins with the prefix and ends as it did; the rest of the message is as
// it was, and a second time changes nothing.
func FuzzSubject(f *testing.F) {
	for _, raw := range []string{"Subject: a\r\n b\r\n\r\nbody", "A: b\nsubject:\n\n", "Subject:\r\r\n\r\n", "Subject: [p]\n", " Subject: x\n", "\n", ""} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		const prefix = "[p]"
		before, had := SubjectOf(raw)
		out := Apply(raw, Judgement{Subject: prefix})
		after, ok := SubjectOf(out)
		if !ok || !strings.HasPrefix(strings.TrimLeft(after, " \t"), prefix) {
			t.Fatalf("%q became %q with the Subject %q", raw, out, after)
		}
		if !strings.HasSuffix(after, strings.TrimLeft(before, " \t")) {
			t.Fatalf("the Subject %q became %q", before, after)
		}
		if again := Apply(out, Judgement{Subject: prefix}); !bytes.Equal(again, out) {
			t.Fatalf("the second time %q became %q", out, again)
		}
		if !had {
			if !bytes.HasSuffix(out, raw) {
				t.Fatalf("%q became %q", raw, out)
			}
			return
		}
		from, to := subjectAt(raw)
		if !bytes.HasPrefix(out, raw[:from]) || !bytes.HasSuffix(out, raw[to:]) {
			t.Fatalf("%q became %q", raw, out)
		}
	})
}
