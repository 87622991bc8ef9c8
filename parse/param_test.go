package parse

import (
	"reflect"
	"strings"
	"testing"
)

func TestParseParams(t *testing.T) {
	for in, want := range map[string][]string{
		`text/plain; charset=utf-8`:                         {"text/plain", "charset", "utf-8"},
		`Text/HTML;CHARSET="UTF-8";format=flowed`:           {"text/html", "charset", "UTF-8", "format", "flowed"},
		`text/plain charset=a`:                              {"text/plain", "charset", "a"},
		`text/plain;; ; charset = "a" ;`:                    {"text/plain", "charset", "a"},
		`text/plain; charset="a" boundary="b;c"`:            {"text/plain", "charset", "a", "boundary", "b;c"},
		`text/plain; name="a\"b\\c\d"`:                      {"text/plain", "name", `a"b\c\d`},
		`text/plain; name="never closed; x=y`:               {"text/plain", "name", "never closed; x=y"},
		`attachment; filename=my file (1).txt; size=3`:      {"attachment", "filename", "my file .txt", "size", "3"},
		`(c) text/plain (a (nested) one); charset=(x)utf-8`: {"text/plain", "charset", "utf-8"},
		`text/plain (c); name="a\"(b)"`:                     {"text/plain", "name", `a"(b)`},
		`text/plain; name="(kept)"`:                         {"text/plain", "name", "(kept)"},
		`text/plain; name=a(b`:                              {"text/plain", "name", "a(b"},
		`text/plain; flag; charset='x'`:                     {"text/plain", "charset", "x"},
		`multipart/mixed; boundary=----=_Part=1`:            {"multipart/mixed", "boundary", "----=_Part=1"},
		`"text/html"`:                                       {"text/html"},
		``:                                                  {""},
	} {
		first, ps := parseParams(in)
		got := []string{first}
		for _, p := range ps {
			got = append(got, p.name, p.value)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %q", in, got)
		}
	}
}

func TestParamGet(t *testing.T) {
	for in, want := range map[string]string{
		`a; filename=x.txt`: "x.txt",
		`a; filename*=UTF-8'en'%e2%82%ac%20rates; filename=e`:    "€ rates",
		`a; filename*=iso-8859-1''%A3`:                           "£",
		`a; filename*1=b; filename*0=a; filename*2=c`:            "abc",
		`a; filename*0*=utf-8''%C3; filename*1*=%A4; filename=y`: "ä",
		`a; filename*0="a"; filename*0="b"`:                      "a",
		`a; filename*x=1; filename*=x`:                           "x",
		`a; filename*=plain'`:                                    "plain",
		`a; filename*=%zz%4`:                                     "%zz%4",
		`a; filename="=?utf-8?b?w6Q=?="`:                         "ä",
		`a; filenames=x`:                                         "",
		"a; filename=\xc3\xa4":                                   "ä",
	} {
		if _, ps := parseParams(in); ps.get("filename") != want {
			t.Errorf("%s: got %q", in, ps.get("filename"))
		}
	}
}

// TestParamRaw: a boundary that looks like an encoded word is none.
func TestParamRaw(t *testing.T) {
	_, ps := parseParams(`a; boundary="=?utf-8?q?x?="; boundary=y; b*0=1; b*1=2`)
	if got := ps.raw("boundary"); got != "=?utf-8?q?x?=" {
		t.Errorf("got %q", got)
	}
	if got := ps.raw("b"); got != "12" {
		t.Errorf("got %q", got)
	}
}

func TestMediaType(t *testing.T) {
	for in, want := range map[string]string{
		"": "text/plain", "Text/HTML; charset=x": "text/html", "text": "text/plain", "html": "text/html",
		"/": "text/plain", "image/": "text/plain", "a/b/c": "a/b/c", "multipart/mixed;": "multipart/mixed",
		strings.Repeat("x", 10): "text/plain",
	} {
		if got := mediaType(in); got != want {
			t.Errorf("%s: got %s", in, got)
		}
	}
}
