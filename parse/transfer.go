package parse

import (
	"bytes"
	"strings"
)

// encodingName reduces a Content-Transfer-Encoding field to its name: comments, quotes and what follows go.
func encodingName(v string) string {
	v, _, _ = strings.Cut(dropComments(v), ";")
	return strings.ToLower(strings.Trim(v, " \t\"'"))
}

// decodeTransfer undoes a transfer encoding, into at most limit octets. It never loses a body: what is not what it is
// declared to be stays as it is. text says that the body is to be read by people.
func decodeTransfer(b []byte, encoding string, text bool, limit int) (out []byte, flaw string) {
	switch encodingName(encoding) {
	case "", "7bit", "8bit", "binary":
		out = b
	case "quoted-printable", "quoted":
		out, flaw = decodeQP(b[:min(len(b), 3*limit+1024)])
	case "base64", "base-64", "x-base64":
		b = b[:min(len(b), 2*limit+1024)]
		if text {
			out, flaw = decodeBase64Text(b)
		} else {
			out, flaw = decodeBase64(b)
		}
	case "x-uuencode", "x-uue", "uuencode":
		if out = decodeUU(b); out == nil {
			out, flaw = b, defectEncoding
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
func decodeQP(b []byte) (out []byte, flaw string) {
	i := bytes.IndexByte(b, '=')
	if i < 0 {
		return b, ""
	}
	out = make([]byte, 0, len(b))
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
			out, flaw = append(out, '='), defectQP
		}
		i = bytes.IndexByte(b, '=')
	}
	return append(out, b...), flaw
}

// softBreak returns the length of the white space and line end with which b begins, 0 where it begins otherwise.
func softBreak(b []byte) int {
	n := 0
	for n < len(b) && (b[n] == ' ' || b[n] == '\t' || b[n] == '\r') {
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

// decodeUU decodes the first uuencoded file in b (POSIX, uuencode), text around it kept; nil where there is none.
func decodeUU(b []byte) (out []byte) {
	i := bytes.Index(b, []byte("begin "))
	if i < 0 || i > 0 && b[i-1] != '\n' {
		return nil
	}
	out = append(make([]byte, 0, len(b)), b[:i]...)
	_, b, _ = bytes.Cut(b[i:], []byte("\n"))
	for len(b) > 0 {
		line, rest, _ := bytes.Cut(b, []byte("\n"))
		line = bytes.TrimRight(line, "\r")
		if bytes.Equal(line, []byte("end")) {
			if !bytes.HasSuffix(out, []byte("\n")) && len(rest) > 0 {
				out = append(out, '\n')
			}
			return append(out, rest...)
		}
		if !isUU(line) {
			return append(out, b...)
		}
		out = appendUU(out, line)
		b = rest
	}
	return out
}

// isUU reports whether a line holds as many characters as its first one says, all of them of uuencode.
func isUU(line []byte) bool {
	if len(line) == 0 {
		return true
	}
	for _, c := range line {
		if c < ' ' || c > '`' {
			return false
		}
	}
	octets := int(line[0]-' ') & 63
	return len(line)-1 <= (octets+2)/3*4+2
}

// appendUU appends what a line decodes to; spaces at its end may have been cut off.
func appendUU(out, line []byte) []byte {
	if len(line) == 0 {
		return out
	}
	octets := int(line[0]-' ') & 63
	var acc uint32
	bits := 0
	for i := 1; octets > 0; i++ {
		var v uint32
		if i < len(line) {
			v = uint32(line[i]-' ') & 63
		}
		acc = acc<<6 | v
		if bits += 6; bits >= 8 {
			bits -= 8
			out = append(out, byte(acc>>bits))
			octets--
		}
	}
	return out
}
