package parse

import (
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/emersion/go-message/charset"
)

func TestDecodeCharset(t *testing.T) {
	for _, c := range []struct{ in, name, hint, want, flaw string }{
		{"abc", "", "", "abc", ""},
		{"caf\xc3\xa9", "utf-8", "", "café", ""},
		{"caf\xc3\xa9", " \"UTF8\" ", "", "café", ""},
		{"caf\xe9", "iso-8859-1", "", "café", ""},
		{"\x80", "ISO-8859-1", "", "€", ""},
		{"\xa4", "iso-8859-15", "", "€", ""},
		{"\xc4\xe3\xba\xc3", "GB2312", "", "你好", ""},
		{"\xd6\xec\xe9F\xbb\xf9", "gb2312", "", "朱镕基", ""}, // the second letter is only in GBK
		{"~{VPND~}", "hz-gb-2312", "", "中文", ""},
		{"\x1b$B$3$s\x1b(B", "iso-2022-jp", "", "こん", ""},
		{"\x82\xb1\x82\xf1", "shift_jis", "", "こん", ""},
		{"\xb3\xaa\xb4\xc2", "ks_c_5601-1987", "", "나는", ""},
		{"\xb3\xaa\xb4\xc2", "CP949", "", "나는", ""},
		{"\x82\xb1\x82\xf1", "cp932", "", "こん", ""},
		{"\xa4\xb3\xa4\xf3", "euc_jp", "", "こん", ""},
		{"\x1b$B$3$s\x1b(B", "iso-2022-jp-2", "", "こん", ""},
		{"~{VPND~}", "hz", "", "中文", ""},
		{"\xa7A", "cp950", "", "你", ""},
		{"\xe0\xb4", "cp874", "", "เด", ""},
		{"\xcf\xf0\xe8", "win-1251", "", "При", ""},
		{"\xf0\xd2\xc9", "koi8-r", "", "При", ""},
		{"\xa7A", "chinesebig5", "", "你", ""},
		{"h\x00i\x00", "utf-16", "", "hi", ""},
		{"\x00h\x00i", "utf-16", "", "hi", ""},
		{"\xff\xfeh\x00", "utf-16", "", "h", ""},
		{"\xfe\xff\x00h", "utf-16", "", "h", ""},
		{"+AGg-", "utf-7", "", "h", ""},
		{"caf\xc3\xa9", "x-martian", "", "café", defectCharset},
		{"caf\xe9", "x-martian", "", "café", defectCharset},
		{"\xf0\xd2\xc9", "x-martian", "koi8-r", "При", defectCharset},
		{"caf\xe9", "", "", "café", defectEightBit},
		{"\xf0\xd2\xc9", "", "koi8-r", "При", defectEightBit},
		{"caf\xe9 \xc3\xa9", "utf-8", "koi8-r", "café é", defectBadCharset},
		{"caf\xe9", "us-ascii", "", "café", defectBadCharset},
		{"日本語の件名です", "shift_jis", "", "日本語の件名です", defectBadCharset}, // declared by mistake
		{"\x1b$)C\na\x0e3*4B\x0fb \x0e3*\nc", "iso-2022-kr", "", "\na나는b 나\nc", ""},
	} {
		got, flaw := decodeCharset([]byte(c.in), c.name, c.hint)
		if got != c.want || flaw != c.flaw {
			t.Errorf("%q, %s, %s: got %q, %q", c.in, c.name, c.hint, got, flaw)
		}
	}
}

// TestCharsetAgrees compares the fast paths with go-message's reader, octet by octet and on plain ASCII.
func TestCharsetAgrees(t *testing.T) {
	var all []byte
	for i := range 256 {
		if i >= 0x80 && i < 0xa0 {
			continue // not in ISO 8859-1, and with five holes in windows-1252
		}
		all = append(all, byte(i))
	}
	ascii := []byte(strings.Repeat("the quick brown fox\r\n\t{|}~\\", 3))
	for _, name := range []string{"windows-1252", "iso-8859-1", "gb18030", "big5", "euc-jp", "euc-kr", "koi8-r", "shift_jis", "utf-8"} {
		in := ascii
		if strings.HasSuffix(name, "1252") || strings.HasSuffix(name, "8859-1") {
			in = all
		}
		r, err := charset.Reader(name, strings.NewReader(string(in)))
		if err != nil {
			t.Fatal(err)
		}
		want, err := io.ReadAll(r)
		if got, _ := decodeCharset(in, name, ""); err != nil || name != "shift_jis" && got != string(want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestUTF7(t *testing.T) {
	for in, want := range map[string]string{
		"A+ImIDkQ.":     "A≢Α.", // RFC 2152, page 7
		"Hi Mom +Jjo-!": "Hi Mom ☺!",
		"+ZeVnLIqe-":    "日本語",
		"1 +- 1":        "1 + 1",
		"a + b +":       "a + b +",
		"+2D3eAA":       "😀",
		"+AGg--":        "h-",
		"\xe9":          "é",
	} {
		if got := decodeUTF7([]byte(in)); got != want {
			t.Errorf("%q: got %q", in, got)
		}
	}
}

func TestUTF8Output(t *testing.T) {
	for _, name := range []string{"", "utf-8", "utf-7", "utf-16", "gb2312", "iso-2022-jp", "windows-874", "x-none"} {
		for i := 0; i < 1<<16; i += 11 {
			if got, _ := decodeCharset([]byte{byte(i >> 8), byte(i), 'x'}, name, ""); !utf8.ValidString(got) {
				t.Fatalf("%s, %x: got %q", name, i, got)
			}
		}
	}
}
