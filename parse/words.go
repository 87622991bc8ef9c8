package parse

import (
	"strings"
)

// decodeWords decodes the encoded words (RFC 2047) of a header value. Adjacent words of one charset are decoded as
// one text, since mailers split characters between them; octets outside words are read as UTF-8, hint or windows-1252.
func decodeWords(v, hint string) string {
	if !strings.Contains(v, "=?") {
		text, _ := decodeCharset([]byte(v), "", hint)
		return text
	}
	var out strings.Builder
	var raw []byte
	charset := ""
	flush := func() {
		text, _ := decodeCharset(raw, charset, hint)
		out.WriteString(text)
		raw = raw[:0]
	}
	for v != "" {
		i := strings.Index(v, "=?")
		if i < 0 {
			i = len(v)
		}
		if gap := v[:i]; i == len(v) || charset == "" || strings.TrimLeft(gap, " \t") != "" {
			flush()
			raw, charset = append(raw, gap...), ""
		}
		v = v[i:]
		name, text, n := nextWord(v)
		if n == 0 {
			n = min(len(v), 2)
			text = []byte(v[:n])
		}
		if !strings.EqualFold(name, charset) {
			flush()
			charset = name
		}
		raw = append(raw, text...)
		v = v[n:]
	}
	flush()
	return out.String()
}

// nextWord reads the encoded word with which v begins and returns its length, 0 where it is none.
func nextWord(v string) (charset string, text []byte, n int) {
	if len(v) < 8 {
		return "", nil, 0
	}
	q := strings.IndexByte(v[2:min(len(v), 64)], '?') + 2
	if q < 3 || q+3 > len(v) || v[q+2] != '?' || strings.ContainsAny(v[2:q], " \t=\"") {
		return "", nil, 0
	}
	end := strings.Index(v[q+3:], "?=")
	if end < 0 {
		end = len(v) - q - 3 // cut off: take what is there
		n = len(v)
	} else {
		n = q + 3 + end + 2
	}
	payload := []byte(v[q+3 : q+3+end])
	charset, _, _ = strings.Cut(v[2:q], "*") // a language, RFC 2231, section 5
	switch v[q+1] | 0x20 {
	case 'b':
		text, _ = decodeBase64(payload)
	case 'q':
		for i, c := range payload {
			if c == '_' {
				payload[i] = ' '
			}
		}
		text, _ = decodeQP(payload)
	default:
		return "", nil, 0
	}
	return charset, text, n
}

// wordCharset returns the charset of the first encoded word in v, "" where there is none.
func wordCharset(v string) string {
	i := strings.Index(v, "=?")
	if i < 0 {
		return ""
	}
	name, _, _ := nextWord(v[i:])
	return strings.ToLower(name)
}
