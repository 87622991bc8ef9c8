package parse

import (
	"strings"
	"unicode/utf8"
)

// url reads a URL if the word at the current place, which a colon or full stop follows, begins one.
func (t *tokenizer) url(word string) bool {
	s := t.src[t.pos+len(word):]
	switch {
	case (word == "http" || word == "https" || word == "ftp") && strings.HasPrefix(s, "://"):
		t.pos += len(word) + len("://")
	case word == "www" && s[0] == '.':
	default:
		return false
	}
	begin := t.pos
	for t.pos < len(t.src) {
		c := t.src[t.pos]
		if c <= ' ' || c >= utf8.RuneSelf || c == '<' || c == '>' || c == '"' {
			break
		}
		t.pos++
	}
	t.emit(host(t.src[begin:t.pos]))
	return true
}

// host is the host of what follows the scheme of a URL, without port, user and final dots.
func host(s string) string {
	if i := strings.IndexAny(s, "/?#\\"); i >= 0 {
		s = s[:i]
	}
	s = s[strings.LastIndexByte(s, '@')+1:]
	n := 0
	for n < len(s) && (alnum(s[n]) || s[n] == '.' || s[n] == '-') {
		n++
	}
	return strings.Trim(s[:n], ".-")
}

// address reads an e-mail address if one begins here. The local part has at most 64 octets (RFC
// 5321, section 4.5.3.1.1), which bounds how far one looks ahead.
func (t *tokenizer) address() bool {
	if t.at < t.pos {
		t.at = len(t.src)
		if i := strings.IndexByte(t.src[t.pos:], '@'); i >= 0 {
			t.at = t.pos + i
		}
	}
	if t.at-t.pos > 64 || t.at == len(t.src) {
		return false
	}
	for _, c := range []byte(t.src[t.pos:t.at]) {
		if !alnum(c) && strings.IndexByte("._+%=-", c) < 0 {
			return false
		}
	}
	n := domain(t.src[t.at+1:])
	if n == 0 {
		return false
	}
	t.emit(t.src[t.pos : t.at+1+n])
	t.pos = t.at + 1 + n
	return true
}

// domain is the length of the domain that s begins with: two labels at least, the last of letters.
// At most 255 octets (RFC 5321, section 4.5.3.1.2) are looked at.
func domain(s string) int {
	n, dot := 0, -1
	for n < len(s) && n < 255 && (alnum(s[n]) || s[n] == '.' || s[n] == '-') {
		if s[n] == '.' {
			if n == dot+1 {
				break
			}
			dot = n
		}
		n++
	}
	for n > 0 && (s[n-1] == '.' || s[n-1] == '-') {
		n--
	}
	dot = strings.LastIndexByte(s[:n], '.')
	if dot <= 0 || n-dot < 3 {
		return 0
	}
	for _, c := range []byte(s[dot+1 : n]) {
		if c < 'a' || c > 'z' {
			return 0
		}
	}
	return n
}
