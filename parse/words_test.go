package parse

import (
	"mime"
	"testing"
)

func TestDecodeWords(t *testing.T) {
	for in, want := range map[string]string{
		"plain":                                   "plain",
		"=?utf-8?q?a_b=5F?=":                      "a b_",
		"=?UTF-8?B?w6Q=?= =?utf-8?b?w7Y=?=":       "äö",
		"=?UTF-8?B?w6Q=?= and =?utf-8?b?w7Y=?=":   "ä and ö",
		"x=?utf-8?q?y?=z":                         "xyz",
		"=?utf-8?q?=C3?=\t =?utf-8?q?=A4?=":       "ä",
		"=?utf-8?q?=C3?= =?utf-8?b?pA==?=":        "ä",
		"=?iso-8859-1?q?=E4?= =?utf-8?q?=C3=B6?=": "äö",
		"=?utf-8*de?q?=C3=A4?=":                   "ä",
		"=?utf-8?q?with spaces inside?= after":    "with spaces inside after",
		"=?utf-8?x?what?=":                        "=?utf-8?x?what?=",
		"=?utf-8?q?cut o":                         "cut o",
		"=?":                                      "=?",
		"=??q?x?=":                                "=??q?x?=",
		"a =?utf-8?q??= b":                        "a  b",
		"=?gb2312?B?xOO6ww==?=":                   "你好",
		"=?iso-2022-jp?B?GyRCJDMbKEI=?= =?iso-2022-jp?B?GyRCJHMbKEI=?=": "こん",
		"=?x-martian?q?=C3=A4?=": "ä",
		"caf\xe9":                "café",
		"\xf0\xd2\xc9 x":         "При x",
	} {
		hint := ""
		if in[0] == 0xf0 {
			hint = "koi8-r"
		}
		if got := decodeWords(in, hint); got != want {
			t.Errorf("%q: got %q", in, got)
		}
	}
}

// TestWordsAgree compares with the standard library on what its encoder writes.
func TestWordsAgree(t *testing.T) {
	for _, in := range []string{"Grüße", "日本語の件名がとても長いので二つに分かれるはずです、そうですね、はい、そうです", "a ü b ü c"} {
		for _, e := range []mime.WordEncoder{mime.BEncoding, mime.QEncoding} {
			enc := e.Encode("utf-8", in)
			want, err := new(mime.WordDecoder).DecodeHeader(enc)
			if got := decodeWords(enc, ""); err != nil || got != want || got != in {
				t.Errorf("%s: got %q", enc, got)
			}
		}
	}
}
