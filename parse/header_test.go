package parse

import (
	"reflect"
	"strings"
	"testing"
)

func TestFields(t *testing.T) {
	raw := "Received: a\r\n\tb\r\nX-Old : v\nSubject:no space\nEmpty:\r\nBytes: \xff\x00\r\n\r\nbody"
	want := []Field{{"Received", " a\r\n\tb"}, {"X-Old", " v"}, {"Subject", "no space"}, {"Empty", ""}, {"Bytes", " \xff\x00"}}
	if m := Parse([]byte(raw), Limits{}); !reflect.DeepEqual(m.Fields, want) || text(m) != "body" {
		t.Errorf("got %q, %q", m.Fields, text(m))
	}
}

func TestNextField(t *testing.T) {
	for in, want := range map[string]span{
		"a: b\n\nbody":    {1, 1, 5},
		"a : b\r\n c\nd:": {1, 2, 10},
		"a:":              {1, 1, 2},
		"a:\n\t\n b\nx":   {1, 1, 8},
		"From x: y\n":     {},
		": v\n":           {},
		" a: b\n":         {},
		"\xe4: b\n":       {},
		"a\n: b\n":        {},
		"\r\n":            {},
		"":                {},
	} {
		if got, ok := nextField([]byte(in)); got != want || ok != (want != span{}) {
			t.Errorf("%q: got %v, %v", in, got, ok)
		}
	}
}

func TestEnvelopeLine(t *testing.T) {
	for in, want := range map[string]string{
		"From a@b.example Mon\nSubject: s\n\nx":  "Subject: s\n\nx",
		">From a@b.example Mon\nSubject: s\n\nx": "Subject: s\n\nx",
		"From : a@b.example\n\nx":                "From : a@b.example\n\nx",
		"From now on\nthings are better":         "From now on\nthings are better",
		"From now on":                            "From now on",
		"\xEF\xBB\xBFSubject: s\n":               "Subject: s\n",
	} {
		if got := string(dropEnvelope([]byte(in))); got != want {
			t.Errorf("%q: got %q", in, got)
		}
	}
}

// TestHeaderLimit puts what says how to read the body below filler: the fields are cut, the text is read.
func TestHeaderLimit(t *testing.T) {
	filler := strings.Repeat("X-Filler: "+strings.Repeat("x", 90)+"\n", 100)
	raw := "Subject: s\n" + filler + "Content-Transfer-Encoding: base64\n\naGVsbG8="
	m := Parse([]byte(raw), Limits{HeaderBytes: 1000})
	if len(m.Fields) != 10 || text(m) != "hello" {
		t.Errorf("got %d fields, %q", len(m.Fields), text(m))
	}
	if want := []Defect{{"", defectHeaderSize}}; !reflect.DeepEqual(m.Defects, want) {
		t.Errorf("got %v", m.Defects)
	}
	if m := Parse([]byte(raw), Limits{}); len(m.Fields) != 102 || len(m.Defects) != 0 {
		t.Errorf("got %d fields, %v", len(m.Fields), m.Defects)
	}
}

// TestPartHeader: in a part fields above an empty line are a header that nobody sees, in a message they are one where mail has
// such fields.
func TestPartHeader(t *testing.T) {
	for part, want := range map[string]string{
		"Note: a decoy\nof lines\n\nshown":  "Note: a decoy\nof lines\n\nshown",
		"Note: a decoy\n of lines\n\nshown": "shown",
		"Note: a decoy\r\n\r\nshown":        "shown",
		"Note: not one":                     "Note: not one",
		"\nNote: not one\n\nshown":          "Note: not one\n\nshown",
	} {
		got := text(Parse([]byte(multi+"x\n\n--x\n"+part+"\n--x--\n"), Limits{}))
		if got = strings.TrimSpace(got); got != want {
			t.Errorf("%q: got %q", part, got)
		}
	}
	if got := text(Parse([]byte("Note: this\n\nis a text"), Limits{})); got != "Note: this\n\nis a text" {
		t.Errorf("got %q", got)
	}
}
