package parse

import (
	"slices"
	"strings"
	"testing"
)

func TestAppendTokens(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"don't stop", "dont stop"},
		{"don’t stop", "dont stop"},
		{"V1@gra", "viagra"},
		{"he11o |ove", "heiio iove"},
		{"$ave 7he wor|d", "save the worid"},
		{"$50 is 100 fine!", "50 is 100 fine"},
		{"c++ wan+ ca$h!!!", "c want cash"},
		{"a-b c_d", "a b c d"},
		{"see http://User@Www.Example.com:80/a?b=c now", "see www.example.com now"},
		{"(www.example.com)", "www.example.com"},
		{"mail bob.smith+x@mail.example.com, now", "maii bob.smith+x@mail.example.com now"},
		{"中文字 报", "中文 文字 字报"},
		{"报", "报"},
		{"привет мир", "привет мир"},
		{"http://", ""},
		{"@ $ ! | + '", ""},
	} {
		got := AppendTokens(nil, Fold(c.in))
		want := strings.Fields(c.want)
		for i, w := range want {
			if !strings.ContainsAny(w, ".@") && strings.ContainsAny(w, "abcdefghijklmnopqrstuvwxyz") {
				want[i] = strings.ReplaceAll(w, "l", "i")
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("tokens of %q: %q, want %q", c.in, got, want)
		}
	}
}
