package parse

import (
	"math/rand/v2"
	"testing"
	"unicode"
)

func TestFold(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{" Hello,\r\n\tWORLD  ", "hello, world"},
		{"v\u200bi\u00ada\u2060g\ufeffr\u200da", "viagra"},
		{"раураl", "paypal"},
		{"ＦＲＥＥ 𝐦𝐨𝐧𝐞𝐲 ﬁne", "free money fine"},
		{"ᴠɪᴀɢʀᴀ", "viagra"},
		{"🅵🆁🅴🅴 ⓕⓡⓔⓔ", "free free"},
		{"please call the сор now", "please call the cop now"},
		{"Это сор и тот век", "это сор и тот век"},
		{"v\u0336i\u0336a\u0336", "via"},
		{"café Ünter \u1ec7", "cafe unter e"},
		{"мой ёж", "мой ёж"},
		{"a\u00a0\u3000b\u2003c", "a b c"},
		{"a\xffb", "a\ufffdb"},
		{"（ＯＫ）…　！Ａ\u0301", "(ok)... !a"},
		{"\u202eabc\u202c", "cba"},
		{"buy \u202eargaiv\u202c now,\n\u202earg\naiv \u202dxy\u202c", "buy viagra now, gra aiv xy"},
		{"\u202eab\u202ecd", "badc"},
		{"한국어 ㈱", "한국어 (株)"},
	} {
		if got := Fold(c.in); got != c.want {
			t.Errorf("Fold(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

// Each character alone, and beside a Latin letter and a mark, folds once for all.
func TestFoldTwice(t *testing.T) {
	for r := rune(0); r < 0x20000; r++ {
		if r == 0x4E80 {
			r = 0xD780 // Han and Hangul are all of one kind
		}
		for _, s := range []string{string(r), "a" + string(r) + "\u0301", string(r) + "\u3099 abc"} {
			if once := Fold(s); Fold(once) != once {
				t.Errorf("Fold(%q) = %q, folded again %q", s, once, Fold(once))
			}
		}
	}
}

// TestFoldASCII: eight octets at once are folded as each by itself.
func TestFoldASCII(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 20_000 {
		text := make([]byte, r.IntN(600))
		want, gap := []byte{}, false
		for j := range text {
			c := byte(r.IntN(128))
			if r.IntN(20) < i%20 {
				c = "aZ @[`{\x7f\n09"[r.IntN(11)]
			}
			if text[j] = c; c <= ' ' || c == 0x7f {
				gap = len(want) > 0
				continue
			}
			if gap {
				want, gap = append(want, ' '), false
			}
			want = append(want, byte(unicode.ToLower(rune(c))))
		}
		if got := Fold(string(text)); got != string(want) {
			t.Fatalf("Fold(%q) = %q, want %q", text, got, want)
		}
	}
}

func FuzzFold(f *testing.F) {
	f.Add("раураl сор Η η")
	f.Add("v\u0336i\u200ba")
	f.Add("Ƞ")
	f.Fuzz(func(t *testing.T, s string) {
		once := Fold(s)
		if twice := Fold(once); twice != once {
			t.Errorf("Fold(%q) = %q, folded again %q", s, once, twice)
		}
	})
}

func TestText(t *testing.T) {
	m := Message{Blocks: []Block{{Body, "The Author's\n"}, {Quote, "no\n"}, {Body, "WORDS"}, {Footer, "no"}, {Signature, "no"}}}
	if got, want := m.Text(), "the author's words"; got != want {
		t.Errorf("text is %q, want %q", got, want)
	}
}

func TestScriptOf(t *testing.T) {
	for s, want := range map[string]Script{"": Other, "123 !": Other, "hello мир": Latin, "hi 委员会开会": CJK, "привет": Other, "สวัสดี": CJK, "안녕 hi": Latin} {
		if got := ScriptOf(Fold(s)); got != want {
			t.Errorf("script of %q is %d, want %d", s, got, want)
		}
	}
}
