package source

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// FuzzMbox writes messages as mboxrd and reads them again: the same bytes must come back, but for a last line end,
// which an mbox cannot do without. Then it reads the raw input itself: no message may be over the limit, none may hold
// more than the input, and the envelope can be guessed of each.
func FuzzMbox(f *testing.F) {
	f.Add([]byte("Subject: a\n\nFrom here\n>From there\n"), []byte("x"))
	f.Add([]byte(""), []byte("\n\n\nFrom a Mon Jan  1 00:00:00 2001\n"))
	f.Add([]byte(box), []byte("\x1f\x8b"))
	f.Add([]byte("a\r\nFrom \r\n\r"), []byte(">>>From x\n>"))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var in bytes.Buffer
		for _, raw := range [][]byte{a, b} {
			writeRD(&in, raw)
		}
		got := read(t, in.Bytes(), 1<<20)
		if len(got) != 2 {
			t.Fatalf("2 messages became %d", len(got))
		}
		for i, want := range [][]byte{a, b} {
			if !bytes.Equal(got[i], ended(want)) {
				t.Fatalf("message %d was %q, is %q", i, want, got[i])
			}
		}
		total := 0
		for _, raw := range read(t, a, 64) {
			total += len(raw)
			if len(raw) > 64 {
				t.Fatalf("%d octets, limit 64", len(raw))
			}
			env := ReadHeader(raw).Envelope(trusted)
			if strings.ContainsAny(env.ClientAddr, "[]() \n") {
				t.Fatalf("client %q", env.ClientAddr)
			}
			ReadHeader(raw).Dates()
		}
		if total > len(a) && !bytes.HasPrefix(a, []byte{0x1f, 0x8b}) {
			t.Fatalf("%d octets out of %d", total, len(a))
		}
	})
}

// read returns the messages that can be read.
func read(t *testing.T, in []byte, limit int64) [][]byte {
	t.Helper()
	var out [][]byte
	for m := range Read(nil, Options{Stdin: bytes.NewReader(in), Limit: limit}) {
		if (m.Err == nil) != (m.Raw != nil) {
			t.Fatalf("error %v with %q", m.Err, m.Raw)
		}
		if m.Err == nil {
			out = append(out, m.Raw)
		}
	}
	return out
}

// writeRD appends a message to an mbox, quoted as mboxrd wants it.
func writeRD(w *bytes.Buffer, raw []byte) {
	w.WriteString("From a@b " + time.Unix(1e9, 0).UTC().Format(time.ANSIC) + "\n")
	for line := range bytes.Lines(ended(raw)) {
		if bytes.HasPrefix(bytes.TrimLeft(line, ">"), from) {
			w.WriteByte('>')
		}
		w.Write(line)
	}
	w.WriteByte('\n')
}

// ended is a message with a line end at its end, unless it is empty.
func ended(raw []byte) []byte {
	if len(raw) == 0 || raw[len(raw)-1] == '\n' {
		return raw
	}
	return append(bytes.Clone(raw), '\n')
}
