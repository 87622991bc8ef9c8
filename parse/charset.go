package parse

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/emersion/go-message/charset"
	"golang.org/x/text/encoding/charmap"
)

// aliases are charset names that mail uses for something wider than what they say (WHATWG's table does the same), and
// names that go-message does not know.
var aliases = map[string]string{
	"ascii": "us-ascii", "utf8": "utf-8", "utf_8": "utf-8", "default": "", "unknown-8bit": "", "x-unknown": "",
	"iso-8859-1": "windows-1252", "iso8859-1": "windows-1252", "iso_8859-1": "windows-1252", "latin1": "windows-1252",
	"cp1252": "windows-1252", "ansi_x3.4-1968": "us-ascii", "iso-8859-8-i": "iso-8859-8", "iso-8859-11": "windows-874",
	"gb2312": "gb18030", "gbk": "gb18030", "x-gbk": "gb18030", "cp936": "gb18030", "936": "gb18030",
	"gb_2312-80": "gb18030", "gb2312_charset": "gb18030", "chinesebig5": "big5", "ks_c_5601-1987": "euc-kr",
	"cp949": "euc-kr", "ms949": "euc-kr", "uhc": "euc-kr", "ks_c_5601": "euc-kr", "cp932": "shift_jis", "euc_jp": "euc-jp", "eucjp": "euc-jp",
	"iso-2022-jp-1": "iso-2022-jp", "iso-2022-jp-2": "iso-2022-jp", "iso-2022-jp-3": "iso-2022-jp",
	"hz": "hz-gb-2312", "big-5": "big5", "cp950": "big5", "windows-950": "big5", "cp874": "windows-874", "win-1251": "windows-1251",
	"latin-2": "iso-8859-2", "macroman": "macintosh",
	"csunicode11utf7": "utf-7", "unicode-1-1-utf-7": "utf-7", "utf7": "utf-7", "x-unicode-2-0-utf-7": "utf-7",
}

// decodeCharset turns text of a charset into UTF-8. Text in an unknown or missing charset, or one that it contradicts, is
// UTF-8, else in the charset of hint, else GBK where it looks like it, else windows-1252.
func decodeCharset(b []byte, name, hint string) (text, flaw string) {
	name = charsetName(name)
	switch name {
	case "", "utf-8", "us-ascii":
		return decodeUTF8(b, name, hint)
	case "utf-7":
		return decodeUTF7(b), ""
	case "iso-2022-kr":
		name, b = "euc-kr", eightBits(b)
	}
	if name == "utf-16" {
		name, b = byteOrder(b)
	}
	if extendsASCII(name) && isASCII(b) {
		return string(b), ""
	}
	if name == "windows-1252" {
		return decodeMixed(b, false), ""
	}
	text, sound, ok := readCharset(b, name)
	switch {
	case !ok:
		text, _ = decodeUTF8(b, "", hint)
		return text, defectCharset
	case sound:
		return text, ""
	}
	if bad := strings.Count(text, "\uFFFD"); bad*4 > utf8.RuneCountInString(text) || !isASCII(b) && utf8.Valid(b) {
		text, _ = decodeUTF8(b, "", hint)
	}
	return text, defectBadCharset
}

// byteOrder returns which UTF-16 b is in, and b without its mark. Without one it is big-endian (RFC 2781, 4.3), but
// Windows leaves the mark away and writes the other: the NULs beside ASCII, spaces at least, tell.
func byteOrder(b []byte) (name string, text []byte) {
	if rest, ok := bytes.CutPrefix(b, []byte("\xFF\xFE")); ok {
		return "utf-16le", rest
	}
	if rest, ok := bytes.CutPrefix(b, []byte("\xFE\xFF")); ok {
		return "utf-16be", rest
	}
	even, odd := 0, 0
	for i, c := range b[:min(len(b), 4096)] {
		if c == 0 && i%2 == 0 {
			even++
		} else if c == 0 {
			odd++
		}
	}
	if odd > even {
		return "utf-16le", b
	}
	return "utf-16be", b
}

// eightBits turns ISO-2022-KR (RFC 1557) into EUC-KR, of which it is the form of seven bits: what stands between SO and SI or the
// end of the line lacks the eighth.
func eightBits(b []byte) []byte {
	b = bytes.ReplaceAll(b, []byte("\x1b$)C"), nil)
	out, high := b[:0], byte(0)
	for _, c := range b {
		switch c {
		case 0x0E:
			high = 0x80
			continue
		case 0x0F, '\n':
			high = 0
		}
		if c > ' ' && c < 0x7F {
			c |= high
		}
		if c != 0x0F {
			out = append(out, c)
		}
	}
	return out
}

func charsetName(name string) string {
	name = strings.ToLower(strings.Trim(name, " \t\"'"))
	if to, ok := aliases[name]; ok {
		return to
	}
	return name
}

// readCharset decodes by go-message's tables. ok is false where they do not have the charset; sound is false where
// something in b is not of it.
func readCharset(b []byte, name string) (text string, sound, ok bool) {
	r, err := charset.Reader(name, bytes.NewReader(b))
	if err != nil {
		return "", false, false
	}
	out := bytes.NewBuffer(make([]byte, 0, len(b)+len(b)/2+bytes.MinRead))
	if _, err := out.ReadFrom(r); err != nil {
		return "", false, false
	}
	return out.String(), !bytes.Contains(out.Bytes(), []byte("\uFFFD")), true
}

// decodeUTF8 reads text that is or may be UTF-8. name is what it is declared as, "" for nothing.
func decodeUTF8(b []byte, name, hint string) (text, flaw string) {
	if utf8.Valid(b) {
		return string(b), ""
	}
	flaw = defectBadCharset
	if name == "" {
		flaw = defectEightBit
	}
	if name != "utf-8" && mostlyUTF8(b) {
		name = "utf-8"
	}
	if hint = charsetName(hint); name != "utf-8" && hint != "" && hint != "utf-8" && hint != "us-ascii" {
		if text, bad := decodeCharset(b, hint, ""); bad == "" {
			return text, flaw
		}
	}
	if name != "utf-8" && looksGBK(b) {
		if text, sound, _ := readCharset(b, "gb18030"); sound {
			return text, flaw
		}
	}
	return decodeMixed(b, true), flaw
}

// mostlyUTF8 reports whether more octets over 127 form characters of UTF-8 than not.
func mostlyUTF8(b []byte) bool {
	good, bad := 0, 0
	for len(b) > 0 {
		_, n := utf8.DecodeRune(b)
		switch {
		case n > 1:
			good += n
		case b[0] >= utf8.RuneSelf:
			bad++
		}
		b = b[n:]
	}
	return good > bad
}

// looksGBK reports whether the octets over 127 nearly all come as pairs of the common part of GB 2312, which is what
// Chinese mail without a charset is in. Western text has single ones.
func looksGBK(b []byte) bool {
	pairs, others := 0, 0
	for i := 0; i < len(b); i++ {
		switch {
		case b[i] < utf8.RuneSelf:
		case i+1 < len(b) && b[i] >= 0xA1 && b[i] <= 0xF7 && b[i+1] >= 0xA1:
			pairs++
			i++
		default:
			others++
		}
	}
	return pairs >= 4 && others*20 < pairs
}

// decodeMixed reads each octet as windows-1252, except, where utf is set, those that form a character of UTF-8: so one
// stray octet does not spoil a whole text.
func decodeMixed(b []byte, utf bool) string {
	var out strings.Builder
	out.Grow(len(b) + len(b)/8)
	for len(b) > 0 {
		n := 0
		for n < len(b) && b[n] < utf8.RuneSelf {
			n++
		}
		out.Write(b[:n])
		if b = b[n:]; len(b) == 0 {
			break
		}
		if _, n = utf8.DecodeRune(b); utf && n > 1 {
			out.Write(b[:n])
		} else {
			n = 1
			out.WriteRune(charmap.Windows1252.DecodeByte(b[0]))
		}
		b = b[n:]
	}
	return out.String()
}

// extendsASCII reports whether octets below 128 always mean ASCII in a charset: not in UTF-16, EBCDIC, or one that
// shifts by escape sequences.
func extendsASCII(name string) bool {
	for _, p := range []string{"iso-8859-", "windows-", "gb18030", "big5", "euc-", "koi8-", "ks_c_", "shift_jis"} {
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
