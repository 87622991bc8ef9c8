package store

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"spamsim/parse"
)

// A file is a reproducible attachment of n octets, of which a part differs from copy to copy.
func file(seed uint64, n int, part float64, copy uint64) parse.Attachment {
	r, c := rand.New(rand.NewPCG(seed, 1)), rand.New(rand.NewPCG(copy, 2))
	data := make([]byte, n)
	for i := range data {
		if data[i] = byte(r.Uint32()); c.Float64() < part {
			data[i] = byte(c.Uint32())
		}
	}
	return parse.Attachment{Type: "application/pdf", Data: data}
}

func withFiles(words []string, files ...parse.Attachment) *Trace {
	return NewTrace(&parse.Message{Blocks: []parse.Block{{Text: strings.Join(words, " ")}}, Attachments: files})
}

// TestAttachments: copies of which only an attachment is the same, or nearly, are a campaign; messages with nothing but
// the frame of a document format in common are not.
func TestAttachments(t *testing.T) {
	frame := []byte(strings.Repeat("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] >>\nendobj\n", 40))
	for _, c := range []struct {
		name   string
		words  int // of each its own, or, less than 0, so many that are all the same
		file   func(n uint64) parse.Attachment
		copies int // the least that the sixth is told, 0 where it must not be a copy
	}{
		{"the same under other text", 120, func(uint64) parse.Attachment { return file(1, 9000, 0, 0) }, 6},
		{"3 % apart under other text", 120, func(n uint64) parse.Attachment { return file(1, 30_000, 0.03, n) }, 6},
		{"the same without text", 0, func(uint64) parse.Attachment { return file(1, 9000, 0, 0) }, 6},
		{"others without text", 0, func(n uint64) parse.Attachment { return file(n, 9000, 0, 0) }, 0},
		{"others in one frame", 120, func(n uint64) parse.Attachment {
			a := file(n, 9000, 0, 0)
			a.Data = slices.Concat(frame, a.Data, frame)
			return a
		}, 0},
		{"one letterhead", 120, func(uint64) parse.Attachment {
			a := file(1, 20_000, 0, 0)
			a.Type, a.Inline = "image/png", true
			return a
		}, 0},
		{"one picture in place of text", 4, func(uint64) parse.Attachment {
			a := file(1, 20_000, 0, 0)
			a.Type, a.Inline = "image/png", true
			return a
		}, 6},
		{"one logo below a line", 4, func(uint64) parse.Attachment {
			a := file(1, 6000, 0, 0)
			a.Type, a.Inline = "image/png", true
			return a
		}, 0},
		{"others under a few words", -8, func(n uint64) parse.Attachment { return file(n, 9000, 0, 0) }, 0},
		{"the same under a few words", -8, func(uint64) parse.Attachment { return file(1, 9000, 0, 0) }, 6},
		{"a spacer", 120, func(uint64) parse.Attachment { return file(1, 60, 0, 0) }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := scratchStore(t)
			w := newWriter(53)
			for i := range 60 {
				s.Count(traceOf(w.text(100)), from(1000+i))
			}
			var ev Evidence
			same := w.text(max(-c.words, 0))
			for n := range 6 {
				ev = s.Count(withFiles(append(w.text(max(c.words, 0)), same...), c.file(uint64(n))), from(n))
			}
			if ev.Member != (c.copies > 0) || ev.Copies < c.copies || ev.Member && ev.Sigma < 3 {
				t.Errorf("the sixth: %+v", ev)
			}
		})
	}
}

// TestAttachmentOfOneSender: what one person encloses in all mail makes no campaign of it.
func TestAttachmentOfOneSender(t *testing.T) {
	s := scratchStore(t)
	w := newWriter(54)
	for n := range 8 {
		x := from(n)
		x.Sender = "one@example.com"
		if ev := s.Count(withFiles(w.text(100), file(1, 9000, 0, 0)), x); ev.Member {
			t.Fatalf("message %d: %+v", n, ev)
		}
	}
}

// TestFramesOfFiles: what programs and mail programs put into all files of a kind makes no campaign of those who enclose them.
func TestFramesOfFiles(t *testing.T) {
	frame := file(9, 6000, 0, 0).Data
	member := func(name string, data []byte) []byte {
		head := make([]byte, zipName)
		copy(head, "PK\x03\x04")
		head[zipNameLen] = byte(len(name))
		return slices.Concat(head, []byte(name), data)
	}
	tags := "<" + strings.Join(newWriter(55).text(500), "/><") + "/>"
	own := func(n uint64) []byte { return file(n, 2000, 0, 0).Data }
	for name, c := range map[string]struct {
		typ, file string
		data      func(n uint64) []byte
		bulk      bool
	}{
		"certificates":                            {"application/pkcs7-signature", "smime.p7s", func(n uint64) []byte { return slices.Concat(frame, own(n)) }, false},
		"certificates without a name":             {"application/x-pkcs7-signature", "", func(n uint64) []byte { return slices.Concat(frame, own(n)) }, false},
		"something under the type of a signature": {"application/pkcs7-signature", "invoice.exe", func(uint64) []byte { return frame }, true},
		"cards": {"text/vcard", "me.vcf", func(n uint64) []byte { return slices.Concat(frame, own(n)) }, false},
		"letters of one program": {"application/zip", "a.docx", func(n uint64) []byte {
			return slices.Concat(member("word/document.xml", own(n)), member("word/theme/theme1.xml", frame), []byte("PK\x01\x02"), frame)
		}, false},
		"the list of what is in a letter": {"application/zip", "a.docx", func(n uint64) []byte {
			return slices.Concat(member("word/theme/theme1.xml", frame[:99]), member("word/document.xml", own(n)), []byte("PK\x01\x02"), frame)
		}, false},
		"one macro in letters": {"application/zip", "a.docm", func(n uint64) []byte {
			return slices.Concat(member("word/styles.xml", frame[:99]), member("word/document.xml", own(n)), member("word/vbaProject.bin", frame))
		}, true},
		"nothing but what is for the program": {"application/zip", "a.docx", func(uint64) []byte { return member("word/theme/theme1.xml", frame) }, true},
		"invoices in XML": {"application/xml", "a.xml", func(n uint64) []byte {
			return []byte("<?xml version=\"1.0\"?>" + tags + strings.Join(newWriter(n).text(150), " ") + tags + "<open")
		}, false},
		"invoices behind a byte order mark": {"application/xml", "a.xml", func(n uint64) []byte {
			return []byte("\ufeff\r\n<?xml version=\"1.0\"?>" + tags + strings.Join(newWriter(n).text(150), " ") + tags)
		}, false},
	} {
		s := scratchStore(t)
		w := newWriter(56)
		var ev Evidence
		for n := range uint64(6) {
			ev = s.Count(withFiles(w.text(100), parse.Attachment{Type: c.typ, Name: c.file, Data: c.data(n + 20)}), from(int(n)))
		}
		if bulk := ev.Copies >= 5 && ev.Sigma >= 3; bulk != c.bulk {
			t.Errorf("%s: the sixth: %+v", name, ev)
		}
	}
}

// TestPictureBelowAQuote: the logo of a house below a short answer is a letterhead where the answer quotes, not where a footer is below.
func TestPictureBelowAQuote(t *testing.T) {
	for _, c := range []struct {
		kind   parse.Kind
		words  int
		member bool
	}{{parse.Quote, 0, true}, {parse.Quote, 30, false}, {parse.Footer, 30, true}} {
		s := scratchStore(t)
		w := newWriter(57)
		logo := file(1, 20_000, 0, 0)
		logo.Type, logo.Inline = "image/png", true
		var ev Evidence
		for n := range 6 {
			m := &parse.Message{Attachments: []parse.Attachment{logo}, Blocks: []parse.Block{
				{Text: strings.Join(w.text(3), " ")}, {Kind: c.kind, Text: strings.Join(w.text(c.words), " ")},
			}}
			ev = s.Count(NewTrace(m), from(n))
		}
		if ev.Member != c.member {
			t.Errorf("%d words of kind %v: %+v", c.words, c.kind, ev)
		}
	}
}

// TestLowest: the sketch is that of the set of windows, whatever their order and number, and is small.
func TestLowest(t *testing.T) {
	a, b := file(1, 5000, 0, 0).Data, file(2, 5000, 0, 0).Data
	ab, ba := lowest(slices.Concat(a, b)), lowest(slices.Concat(b, b, a))
	shared := 0
	for _, h := range ab {
		if slices.Contains(ba, h) {
			shared++
		}
	}
	if len(ab) != octetSketch || !slices.IsSorted(ab) || shared < octetSketch-1 {
		t.Errorf("%d of %d in common", shared, len(ab))
	}
	for _, few := range [][]byte{nil, []byte("short"), bytes.Repeat([]byte{0}, 5000)} {
		if n := len(lowest(few)); n > 1 {
			t.Errorf("%d windows of %d octets", n, len(few))
		}
	}
	if n := len(lowest([]byte(strings.Repeat("all of it is plain text ", 40)))); n == 0 {
		t.Error("a file of text has no sketch")
	}
}
