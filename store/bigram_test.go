package store

import (
	"strings"
	"testing"
)

// lettersOf writes words in letters of another script, without spaces, a sentence of six words.
func lettersOf(words []string, abc string) string {
	to := []rune(abc)
	var b strings.Builder
	for i, w := range words {
		for _, c := range w {
			b.WriteRune(to[strings.IndexRune("bcdfghjklmnpqrstvwxzaeiou", c)])
		}
		if i%6 == 5 {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

const (
	thai     = "กขคงจชซญดตถทนบปผพฟมยรลวสห"
	hiragana = "かきくけこさしすせそたちつてとなにぬねのあいうえお"
)

// TestLettersAreNoCampaign: two texts in an alphabet that puts no spaces share most pairs of letters, and are no copies. Those that
// are copies are found, also with a word in ten exchanged.
func TestLettersAreNoCampaign(t *testing.T) {
	for name, abc := range map[string]string{"thai": thai, "hiragana": hiragana} {
		s := scratchStore(t)
		w := newWriter(51)
		for n := range 60 {
			ev := s.Count(textTrace(lettersOf(w.text(60), abc)), from(n))
			if ev.Copies >= 5 && ev.Sigma >= 3 {
				t.Fatalf("%s: message %d is copy %d of others, sigma %.1f", name, n, ev.Copies, ev.Sigma)
			}
		}
		text := w.text(60)
		for n := 1; n <= 6; n++ {
			ev := s.Count(textTrace(lettersOf(w.changed(text, 0.1), abc)), from(100+n))
			if n > 1 && (ev.Copies != n || ev.Sigma < 3) {
				t.Errorf("%s: copy %d: %d copies, sigma %.1f", name, n, ev.Copies, ev.Sigma)
			}
		}
	}
}

// TestSignsAndLetters: what two signs, a sign and a letter, and letters give.
func TestSignsAndLetters(t *testing.T) {
	for text, want := range map[string][3]int{ // singles, pairs, ends
		"漢字":          {0, 1, 0},
		"㐀㐁":          {0, 1, 0},
		"字か":          {1, 0, 0},
		"か字":          {1, 0, 0},
		"かき":          {0, 0, 0},
		"かき きく くけ":    {0, 1, 0},
		"กข ขค คง":    {0, 0, 0},
		"か字 字体":       {1, 1, 0},
		"漢字 字体 体か":    {1, 2, 1},
		"漢字 字体 体制 制度": {0, 4, 3 + 2},
		"漢字 体制":       {0, 2, 0},
	} {
		var got [3]int
		for _, f := range features(strings.Fields(text)) {
			got[f.kind]++
		}
		if got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}
