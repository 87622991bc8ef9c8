package parse

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/emersion/go-message/charset"
	"golang.org/x/text/encoding/charmap"
)

// aliases are charset names that mail uses for something wider than what they say (WHATWG's table does the same), and
// names that go-message does not know.
var aliases = map[string]string{
	"gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030", "cp936": "gb18030", "936": "gb18030", "gb_2312-80": "gb18030",
	"iso-8859-1": "windows-1252", "iso8859-1": "windows-1252", "latin1": "windows-1252", "cp1252": "windows-1252",
	"iso_8859-1": "windows-1252", "utf8": "utf-8", "ascii": "us-ascii",
	"unicode-1-1-utf-7": "utf-7", "utf7": "utf-7", "x-unicode-2-0-utf-7": "utf-7",
}

// decodeCharset turns text of a charset into UTF-8. An unknown or missing charset, or one that the text contradicts,
// is UTF-8 with windows-1252 for the octets that are not UTF-8; hint is tried before that, where it is not empty.
func decodeCharset(b []byte, name, hint string) (text, flaw string) {
	name = strings.ToLower(strings.Trim(name, " \t\"'"))
	if to, ok := aliases[name]; ok {
		name = to
	}
	switch name {
	case "", "utf-8", "us-ascii":
		return decodeUTF8(b, hint, name == "")
	case "utf-7":
		return decodeUTF7(b), ""
	}
	if extendsASCII(name) && isASCII(b) {
		return string(b), ""
	}
	if name == "windows-1252" {
		return decodeMixed(b, false), ""
	}
	r, err := charset.Reader(name, bytes.NewReader(b))
	if err != nil {
		text, _ = decodeUTF8(b, hint, true)
		return text, defectCharset
	}
	out, err := io.ReadAll(r)
	bad := bytes.Count(out, []byte("\uFFFD"))
	switch {
	case err != nil || bad > 0 && utf8.Valid(b) || bad*4 > utf8.RuneCount(out):
		text, _ = decodeUTF8(b, "", true)
		return text, defectBadCharset
	case bad > 0:
		flaw = defectBadCharset
	}
	return string(out), flaw
}

// decodeUTF8 reads text that is or may be UTF-8.
func decodeUTF8(b []byte, hint string, undeclared bool) (text, flaw string) {
	if utf8.Valid(b) {
		return string(b), ""
	}
	if undeclared {
		flaw = defectEightBit
	} else {
		flaw = defectBadCharset
	}
	if hint != "" && hint != "utf-8" && hint != "us-ascii" {
		text, bad := decodeCharset(b, hint, "")
		if bad == "" {
			return text, flaw
		}
	}
	return decodeMixed(b, true), flaw
}

// decodeMixed reads each octet as windows-1252, except, where asked, those that form a character in UTF-8: so one
// stray octet does not spoil a whole text.
func decodeMixed(b []byte, utf bool) string {
	var out strings.Builder
	out.Grow(len(b) + len(b)/8)
	for len(b) > 0 {
		if b[0] < utf8.RuneSelf {
			n := 1
			for n < len(b) && b[n] < utf8.RuneSelf {
				n++
			}
			out.Write(b[:n])
			b = b[n:]
			continue
		}
		if _, n := utf8.DecodeRune(b); utf && n > 1 {
			out.Write(b[:n])
			b = b[n:]
			continue
		}
		out.WriteRune(charmap.Windows1252.DecodeByte(b[0]))
		b = b[1:]
	}
	return out.String()
}

// extendsASCII reports whether octets below 128 mean ASCII in a charset, always: not in UTF-16, EBCDIC, or a charset
// that shifts by escape sequences.
func extendsASCII(name string) bool {
	for _, p := range []string{"iso-8859-", "windows-125", "gb18030", "big5", "euc-", "koi8-", "ks_c_", "shift_jis"} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

func isASCII(b []byte) bool {
	for _, c := range b {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
