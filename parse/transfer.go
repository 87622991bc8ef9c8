package parse

import (
	"bytes"
	"encoding/base64"
	"strings"
)

// encodingName reduces a Content-Transfer-Encoding field to its name: comments, quotes and what follows go.
func encodingName(v string) string {
	v = strings.ToLower(strings.Trim(dropComments(v), " \t\"'"))
	if i := strings.IndexAny(v, "; \t"); i > 0 {
		v = v[:i]
	}
	return v
}

// decodeTransfer undoes a transfer encoding, into at most limit octets. It never loses a body: what is not what it is
// declared to be stays as it is. text says that the body is to be read by people.
func decodeTransfer(b []byte, encoding string, text bool, limit int) (out []byte, flaw string) {
	switch encodingName(encoding) {
	case "", "7bit", "8bit", "binary":
		out = b
	case "quoted-printable", "quoted":
		out = decodeQP(b[:min(len(b), 3*limit+1024)])
	case "base64", "base-64", "x-base64":
		b = b[:min(len(b), 2*limit+1024)]
		if text {
			out, flaw = decodeBase64Text(b)
		} else {
			out, flaw = decodeBase64(b)
		}
	default:
		out, flaw = b, defectEncoding
	}
	if len(out) > limit {
		return out[:limit], defectDecoded
	}
	return out, flaw
}

// decodeQP decodes quoted-printable (RFC 2045, 6.7). An equals sign that encodes nothing is kept.
func decodeQP(b []byte) []byte {
	i := bytes.IndexByte(b, '=')
	if i < 0 {
		return b
	}
	out := make([]byte, 0, len(b))
	for i >= 0 {
		out = append(out, b[:i]...)
		b = b[i+1:]
		switch n := softBreak(b); {
		case n > 0 || len(b) == 0:
			b = b[n:]
		case len(b) > 1 && unhex(b[0]) >= 0 && unhex(b[1]) >= 0:
			out = append(out, byte(unhex(b[0])<<4|unhex(b[1])))
			b = b[2:]
		default:
			out = append(out, '=')
		}
		i = bytes.IndexByte(b, '=')
	}
	return append(out, b...)
}

// softBreak returns the length of the white space and line end with which b begins, 0 where it begins otherwise.
func softBreak(b []byte) int {
	n := 0
	for n < len(b) && n < 1000 && (b[n] == ' ' || b[n] == '\t' || b[n] == '\r') {
		n++
	}
	if n < len(b) && b[n] == '\n' {
		return n + 1
	}
	if n == len(b) || n > 0 && b[n-1] == '\r' {
		return n
	}
	return 0
}

// unhex returns the value of a hexadecimal digit, -1 for another character.
func unhex(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'A' <= c && c <= 'F':
		return int(c - 'A' + 10)
	case 'a' <= c && c <= 'f':
		return int(c - 'a' + 10)
	}
	return -1
}

// decodeBase64 decodes base64 (RFC 2045, 6.8). The standard decoder does the sound ones, the lenient one the others.
func decodeBase64(b []byte) (out []byte, flaw string) {
	out = make([]byte, base64.StdEncoding.DecodedLen(len(b)))
	n, err := base64.StdEncoding.Decode(out, b)
	if err == nil {
		return out[:n], ""
	}
	return lenientBase64(out[:0], b), defectBase64
}

// lenientBase64 skips what is not base64, takes padding as the end of a group, not of the text, and uses the whole
// octets of an unfinished group.
func lenientBase64(out, b []byte) []byte {
	var acc uint32
	bits := 0
	for _, c := range b {
		v := sextet[c]
		if v < 64 {
			acc = acc<<6 | uint32(v)
			bits += 6
			if bits >= 8 {
				bits -= 8
				out = append(out, byte(acc>>bits))
			}
		} else if c == '=' {
			acc, bits = 0, 0
		}
	}
	return out
}

// sextet is the value of each character of base64, and of its variant for file names (RFC 4648, 5); 255 for others.
var sextet = func() (t [256]byte) {
	for i := range t {
		t[i] = 255
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		t[c] = byte(i)
	}
	t['-'], t['_'] = 62, 63
	return t
}()

// decodeBase64Text is decodeBase64 for a body that people read. Plain text may stand in place of base64, or follow
// it, as a list's footer does: a stretch from a line with foreign characters on that decodes to noise is plain text.
func decodeBase64Text(b []byte) (out []byte, flaw string) {
	out, flaw = decodeBase64(b)
	if flaw == "" {
		return out, ""
	}
	i := foreignLine(b)
	if i < 0 || !noise(lenientBase64(nil, b[i:])) {
		return out, flaw
	}
	head := lenientBase64(nil, b[:i])
	if noise(head) {
		return b, defectNotBase64
	}
	if len(head) > 0 {
		head = append(head, '\n')
	}
	return append(head, b[i:]...), defectNotBase64
}

// foreignLine returns the start of the first line that holds a character foreign to base64, -1 where none does.
func foreignLine(b []byte) int {
	start := 0
	for i, c := range b {
		switch {
		case c == '\n':
			start = i + 1
		case sextet[c] == 255 && c != '=' && c != '\r':
			return start
		}
	}
	return -1
}

// noise reports whether more than a fiftieth of b is control characters: text in no charset but UTF-16 has as
// many, and plain text that was taken for base64 turns into a tenth of them.
func noise(b []byte) bool {
	n := 0
	for _, c := range b {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0x7f {
			n++
		}
	}
	return n*50 > len(b)
}
