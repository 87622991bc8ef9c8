package parse

import (
	"bytes"
	"encoding/base64"
	"unicode/utf8"
)

// decodeBase64 decodes base64 (RFC 2045, 6.8). The standard decoder does the sound ones, the lenient one the others.
func decodeBase64(b []byte) (out []byte, flaw string) {
	out = make([]byte, base64.StdEncoding.DecodedLen(len(b)))
	n, err := base64.StdEncoding.Decode(out, b)
	if err == nil {
		return out[:n], ""
	}
	return lenientBase64(out[:0], b), defectBase64
}

// lenientBase64 appends what b decodes to. It skips what is not base64, takes padding as the end of a group, not of the
// text, and uses the whole octets of an unfinished group.
func lenientBase64(out, b []byte) []byte {
	var acc uint32
	bits := 0
	for _, c := range b {
		switch v := sextet[c]; v {
		default:
			acc = acc<<6 | uint32(v)
			if bits += 6; bits >= 8 {
				bits -= 8
				out = append(out, byte(acc>>bits))
			}
		case padding:
			acc, bits = 0, 0
		case blank, foreign:
		}
	}
	return out
}

// What a character is that stands for no sextet.
const (
	padding = 64 + iota
	blank   // the line ends and white space that mail puts into base64
	foreign
)

// sextet is the value of each character of base64.
var sextet = func() (t [256]byte) {
	for i := range t {
		t[i] = foreign
	}
	for i, c := range []byte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/") {
		t[c] = byte(i)
	}
	t['='], t['\r'], t['\n'] = padding, blank, blank
	return t
}()

// decodeBase64Text is decodeBase64 for a body that people read. Plain text may stand in place of base64, or before or
// after it, as the footers of lists do: lines with characters foreign to base64 that decode to noise are plain text.
func decodeBase64Text(b []byte) (out []byte, flaw string) {
	out, flaw = decodeBase64(b)
	if flaw == "" {
		return out, ""
	}
	var encoded []byte
	result, plain := make([]byte, 0, len(b)), false
	flush := func() {
		n := len(result)
		if result = lenientBase64(result, encoded); noise(result[n:], false) {
			result, plain = append(result[:n], encoded...), true
		}
		encoded = encoded[:0]
	}
	for len(b) > 0 {
		n, isForeign := sameLines(b)
		if isForeign && noise(lenientBase64(nil, b[:n]), true) {
			flush()
			if plain = true; len(result) > 0 && result[len(result)-1] != '\n' {
				result = append(result, '\n')
			}
			result = append(result, b[:n]...)
		} else {
			encoded = append(encoded, b[:n]...)
		}
		b = b[n:]
	}
	flush()
	if plain {
		return result, defectNotBase64
	}
	return result, flaw
}

// sameLines returns the size of the lines with which b begins that all hold foreign characters, or all hold none.
// Empty lines go with those before them.
func sameLines(b []byte) (n int, isForeign bool) {
	for n < len(b) {
		i := bytes.IndexByte(b[n:], '\n') + 1
		if i == 0 {
			i = len(b) - n
		}
		line := bytes.Trim(b[n:n+i], " \t\r\n")
		if f := hasForeign(line); n == 0 {
			isForeign = f
		} else if f != isForeign && len(line) > 0 {
			return n, isForeign
		}
		n += i
	}
	return n, isForeign
}

func hasForeign(line []byte) bool {
	for _, c := range line {
		if sextet[c] == foreign {
			return true
		}
	}
	return false
}

// noise reports whether more than a fiftieth of b is control characters: text in no charset but UTF-16, known by its
// many NULs, has as many, and plain text that was taken for base64 turns into a tenth of them. Less than 64 octets may
// have none by chance: those are noise, where small says so, as soon as they are not UTF-8.
func noise(b []byte, small bool) bool {
	n := 0
	for _, c := range b {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != 0x1b || c == 0x7f {
			n++
		}
	}
	if nuls := bytes.Count(b, []byte{0}); nuls*8 > len(b) {
		n -= nuls
	}
	return n*50 > len(b) || small && len(b) < 64 && !utf8.Valid(b)
}
