package parse

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"unicode/utf8"
)

// FuzzParse: no panic, which Parse would turn into a defect; as much text as the octets can encode at most; UTF-8 in
// all that is decoded; the same answer twice; what the limits say.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.eml")
	if err != nil || len(files) == 0 {
		f.Fatalf("no seeds: %v", err)
	}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		l := Limits{HeaderBytes: 2000, Depth: 4, Parts: 10, DecodedBytes: 4000}
		before := string(raw)
		m := Parse(raw, l)
		if string(raw) != before {
			t.Fatal("the input was changed")
		}
		if !reflect.DeepEqual(m, Parse(raw, l)) {
			t.Fatal("two answers")
		}
		check(t, m, len(raw))
		if len(m.Attachments) > l.Parts+1 {
			t.Errorf("%d attachments", len(m.Attachments))
		}
	})
}

// check reports what holds for no message.
func check(t *testing.T, m *Message, size int) {
	t.Helper()
	octets := len(m.Hidden)
	if !utf8.ValidString(m.Hidden) || !utf8.ValidString(m.Subject) {
		t.Errorf("not UTF-8: %q, %q", m.Hidden, m.Subject)
	}
	for _, b := range m.Blocks {
		octets += len(b.Text)
		if !utf8.ValidString(b.Text) {
			t.Errorf("not UTF-8: %q", b.Text)
		}
	}
	// One octet of windows-1252 may take three in UTF-8, and a tag may stand for a line break.
	if octets > 4*size+16 {
		t.Errorf("%d octets of text out of %d", octets, size)
	}
	for _, a := range m.Attachments {
		if len(a.Data) > size || !utf8.ValidString(a.Name) {
			t.Errorf("attachment of %d octets, %q", len(a.Data), a.Name)
		}
	}
	for _, d := range m.Defects {
		if d.What == defectPanic || d.What == "" {
			t.Errorf("defect %q", d)
		}
	}
}
