package parse

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"
)

// A berWriter wraps as those do who sign: with lengths, or without, in pieces of so many octets.
type berWriter struct{ piece int }

func (w berWriter) element(id byte, contents []byte) []byte {
	if w.piece > 0 && id&berConstructed != 0 {
		return append(append([]byte{id, berIndefinite}, contents...), 0, 0)
	}
	n := len(contents)
	return append([]byte{id, berIndefinite + 4, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}, contents...)
}

func (w berWriter) octets(content []byte) []byte {
	if w.piece == 0 {
		return w.element(berOctets, content)
	}
	var all []byte
	for len(content) > 0 {
		n := min(len(content), w.piece)
		all, content = append(all, w.element(berOctets, content[:n])...), content[n:]
	}
	return w.element(berManyOctets, all)
}

// signed is SignedData of the content, in front of what stands for certificates and signers.
func (w berWriter) signed(content []byte) []byte {
	data := w.element(berOID, []byte{0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x07, 0x01})
	if content != nil {
		data = append(data, w.element(berExplicit0, w.octets(content))...)
	}
	all := append(w.element(berInteger, []byte{1}), w.element(berSet, nil)...)
	all = append(all, w.element(berSequence, data)...)
	all = append(all, w.element(berExplicit0, w.element(berOctets, bytes.Repeat([]byte("certificates"), 50)))...)
	info := append(w.element(berOID, signedData), w.element(berExplicit0, w.element(berSequence, all))...)
	return w.element(berSequence, info)
}

// opaqueMail is a message of that name and those octets.
func opaqueMail(typ, name string, data []byte) []byte {
	return []byte("Content-Type: " + typ + "; name=\"" + name + "\"\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
		base64.StdEncoding.EncodeToString(data) + "\r\n")
}

// TestOpaque: what is read of a file is what was signed in it, a message or a document, and not the signature.
func TestOpaque(t *testing.T) {
	entity := []byte("Content-Type: text/plain\r\n\r\nThe rooms are ready on Monday.\r\n")
	multi := []byte("Content-Type: multipart/alternative; boundary=b\r\n\r\n--b\r\n\r\nThe rooms\r\n--b\r\nContent-Type: text/html\r\n\r\n<p>are ready\r\n--b--\r\n")
	document := []byte("<?xml version=\"1.0\"?><invoice>17</invoice>")
	for _, c := range []struct {
		typ, name  string
		data       []byte
		text, file string
	}{
		{"application/pkcs7-mime", "smime.p7m", berWriter{}.signed(entity), "the rooms are ready on monday.", ""},
		{"application/pkcs7-mime", "", berWriter{piece: 7}.signed(entity), "the rooms are ready on monday.", ""},
		{"application/x-pkcs7-mime", "SMIME.P7M", berWriter{piece: 7}.signed(multi), "are ready", ""},
		{"application/octet-stream", "letter.p7m", berWriter{}.signed(entity), "the rooms are ready on monday.", ""},
		{"application/pkcs7-mime", "smime.p7m", berWriter{}.signed(opaqueMail("application/pkcs7-mime", "smime.p7m", berWriter{piece: 9}.signed(entity))),
			"the rooms are ready on monday.", ""},
		{"application/pkcs7-mime", "17.xml.p7m", berWriter{piece: 7}.signed(document), "", string(document)},
		{"application/pkcs7-mime", "smime.p7c", berWriter{}.signed(nil), "", "empty"},
		{"application/octet-stream", "smime.p7s", berWriter{}.signed(nil), "", "empty"},
		{"application/pkcs7-mime", "smime.p7m", berWriter{}.element(berSequence, signedData), "", "as it is"},
	} {
		m := Parse(opaqueMail(c.typ, c.name, c.data), Limits{})
		if got := m.Text(); got != c.text {
			t.Errorf("%s %s: text %q, want %q", c.typ, c.name, got, c.text)
		}
		if c.file == "" {
			if len(m.Attachments) > 0 {
				t.Errorf("%s %s: %d attachments", c.typ, c.name, len(m.Attachments))
			}
			continue
		}
		want := map[string][]byte{"empty": nil, "as it is": c.data, string(document): document}[c.file]
		if len(m.Attachments) != 1 || !bytes.Equal(m.Attachments[0].Data, want) {
			t.Errorf("%s %s: attachments %+v, want %q", c.typ, c.name, m.Attachments, want)
		}
	}
}

// TestOpaqueDeep: signatures in signatures end where the limit says.
func TestOpaqueDeep(t *testing.T) {
	raw := []byte("Content-Type: text/plain\r\n\r\nthe innermost\r\n")
	for range 8 {
		raw = opaqueMail("application/pkcs7-mime", "smime.p7m", berWriter{}.signed(raw))
	}
	if got := Parse(raw, Limits{Depth: 8}).Text(); got != "the innermost" {
		t.Errorf("%q", got)
	}
	m := Parse(raw, Limits{Depth: 7})
	if len(m.Defects) != 1 || m.Defects[0].What != defectDepth || !strings.HasPrefix(m.Text(), "content-type") {
		t.Errorf("%q, %q", m.Defects, m.Text())
	}
}

// FuzzSigned: no panic; no more comes out than went in; what was wrapped comes out as it was.
func FuzzSigned(f *testing.F) {
	f.Add([]byte("Content-Type: text/plain\r\n\r\nhello\r\n"), uint8(3))
	f.Add(berWriter{}.signed([]byte("hello")), uint8(0))
	f.Add(berWriter{piece: 2}.signed([]byte("hello")), uint8(1))
	f.Add(bytes.Repeat([]byte{berSequence, berIndefinite}, 100), uint8(0))
	f.Fuzz(func(t *testing.T, data []byte, piece uint8) {
		before := string(data)
		if content, ok := signedContent(data); len(content) > len(data) || !ok && content != nil {
			t.Errorf("%d octets of %d, %v", len(content), len(data), ok)
		}
		if content, ok := signedContent(berWriter{int(piece)}.signed(data)); !ok || !bytes.Equal(content, data) {
			t.Errorf("%q, %v of %q", content, ok, data)
		}
		if string(data) != before {
			t.Error("the input was changed")
		}
	})
}
