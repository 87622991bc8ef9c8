package filter

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzApplyKeeps: what is added is on top; of the rest only fields of the stripped name are gone; the body is as it was;
// doing it again changes nothing.
func FuzzApplyKeeps(f *testing.F) {
	for _, raw := range []string{
		"A: b\r\nX-Spamsim: c\r\n\td\r\n\r\nbody", "X-spamsim: a\nA: b\n\nX-Spamsim: c\n", "no header\n", "", "\n", " a\nX-Spamsim: b\n\n",
		"X-Spamsim:\x00\r\r\n\r\n\x00", "X-Spamsim\t : a\n b\nc", "\r\r\nX-Spamsim: a\n",
		"From a\nX-Spamsim: b\nA: b\n\nc", ">From a\nA: b\n\n", "From a\n\n",
		"A: b\nno field\nX-Spamsim: c\n d\n\nX-Spamsim: e\n", "A: b\nX-Spamsim",
	} {
		f.Add([]byte(raw))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		before := bytes.Clone(raw)
		out := Apply(raw, tagged)
		if !bytes.Equal(raw, before) {
			t.Fatal("the message itself was changed")
		}
		eol := lineEnd(raw)
		rest, ok := bytes.CutPrefix(out, []byte("X-Spamsim: bulk;"+eol+"\tid=mx"+eol))
		if !ok {
			t.Fatalf("not on top: %q", out)
		}
		if startsMailbox(raw) {
			raw = append([]byte("X-Mailbox-Line: "), raw...)
		}
		head, body := cutHeader(raw)
		if !bytes.HasSuffix(rest, body) {
			t.Fatalf("body %q, in %q", body, rest)
		}
		rest = rest[:len(rest)-len(body)]
		if want := without(head); string(rest) != want && string(rest) != eol {
			t.Fatalf("header %q, want %q", rest, want)
		}
		if again := Apply(out, tagged); !bytes.Equal(again, out) {
			t.Fatalf("the second time %q became %q", out, again)
		}
	})
}

// cutHeader splits a message where its header ends: at the first empty line, or at once where it begins with what is no field.
func cutHeader(raw []byte) (head, body []byte) {
	at := 0
	for _, line := range bytes.SplitAfter(raw, []byte("\n")) {
		if text := bytes.TrimRight(line, "\r\n"); len(text) == 0 || at == 0 && fieldName(text) == "" {
			break
		}
		at += len(line)
	}
	return raw[:at], raw[at:]
}

// without returns the header without its forged fields, by another way than strip: fields as whole strings.
func without(head []byte) string {
	var fields []string
	for line := range strings.SplitAfterSeq(string(head), "\n") {
		if len(fields) > 0 && line != "" && (line[0] == ' ' || line[0] == '\t') {
			fields[len(fields)-1] += line
		} else {
			fields = append(fields, line)
		}
	}
	kept := ""
	for _, f := range fields {
		if name, _, ok := strings.Cut(f, ":"); !ok || !strings.EqualFold(strings.TrimRight(name, " \t"), HeaderName) {
			kept += f
		}
	}
	return kept
}
