package parse

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
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
		{"'tis he'5 boys' rock’n’roll ‘x’ l’été it’中", "tis hes boys rocknroll x lete it 中"},
		{"a@b..c x@y.z a@b.c0m me@x.example.", "aab c xay z aab com me@x.example"},
		{"a-b c_d", "a b c d"},
		{"see http://User@Www.Example.com:80/a?b=c now", "see www.example.com now"},
		{"(www.example.com)", "www.example.com"},
		{"mail bob.smith+x@mail.example.com, now", "maii bob.smith+x@mail.example.com now"},
		{"中文字 报", "中文 文字 字报"},
		{"报", "报"},
		{"发*票，代 开 abc", "发票 票代 代开 abc"},
		{"buy v i a g r a now", "buy viagra now"},
		{"f.r.e.e m-o-n-e-y", "free money"},
		{"U.S.A. a b c", "u s a a b c"},
		{"w o r d_s", "word s"},
		{"a b", "a b"},
		{strings.Repeat("a ", 25), strings.Repeat("a", 24) + " a"},
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

// TestLeet replaces a fifth of the letters of English by look-alikes, as spam does: at least 97 % of
// the words must keep their token.
func TestLeet(t *testing.T) {
	alike := map[rune]string{'a': "@4", 'e': "3", 'i': "1!", 'l': "1|", 'o': "0", 's': "$5", 't': "7+", 'b': "8", 'g': "9"}
	r := rand.New(rand.NewPCG(1, 2))
	words, same := 0, 0
	for range 20 {
		for _, w := range strings.Fields(Fold(minutes)) {
			if strings.ContainsAny(w, ":<>@") {
				continue
			}
			changed := strings.Map(func(c rune) rune {
				if l := alike[c]; l != "" && r.IntN(5) == 0 {
					return rune(l[r.IntN(len(l))])
				}
				return c
			}, w)
			words++
			if slices.Equal(AppendTokens(nil, w), AppendTokens(nil, changed)) {
				same++
			}
		}
	}
	if share := float64(same) / float64(words); share < .97 {
		t.Errorf("%.3f of %d words keep their token, want at least .97", share, words)
	}
}

func TestAppendTokensAppends(t *testing.T) {
	got := AppendTokens([]string{"first"}, "second")
	if want := []string{"first", "second"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCJKBigramsAcrossSpaces(t *testing.T) {
	a, b := AppendTokens(nil, Fold("免费的手机")), AppendTokens(nil, Fold("免 费\n的* 手\u200b机"))
	if !slices.Equal(a, b) {
		t.Errorf("%q, set apart %q", a, b)
	}
}

// TestCJKBigramsAcrossLetters: a letter put between two characters hides neither; words and numbers among them stay.
func TestCJKBigramsAcrossLetters(t *testing.T) {
	for in, want := range map[string]string{
		"代x开 y发z 票": "代开 开发 发票",
		"代ж开":       "代开",
		"加qq群号":     "加 qq 群号",
		"第3章节":      "第 3 章节",
		"代x y开":     "代 x y 开",
		"t恤 票t":     "t 恤票 t",
		"代xé开":      "代 xe 开",
	} {
		if got := strings.Join(AppendTokens(nil, Fold(in)), " "); got != want {
			t.Errorf("%s: %q, want %q", in, got, want)
		}
	}
}

func FuzzTokens(f *testing.F) {
	for _, s := range []string{"he11o $50 c@$h!!! don't a@b.example www.x.example", "http://user@host.example:80/x 中 文字", "’'|+$@!", "กขค hé"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Fold(s)
		tokens := AppendTokens(nil, once)
		size := 0
		for _, w := range tokens {
			size += len(w)
			if w == "" || !utf8.ValidString(w) {
				t.Errorf("token %q of %q", w, once)
			}
		}
		if size > 2*len(once) {
			t.Errorf("%d bytes of tokens of a text of %d", size, len(once))
		}
		if again := AppendTokens(nil, Fold(once)); !slices.Equal(tokens, again) {
			t.Errorf("%q: tokens %q, folded again %q", s, tokens, again)
		}
	})
}
