package console

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func textOf(lines ...string) (out [][]word) {
	for _, l := range lines {
		out = append(out, textWords([]byte("Content-Type: text/plain; charset=utf-8\r\n\r\n"+l+"\r\n")))
	}
	return out
}

// shown writes a template as text: [variants].
func shown(spans []span) string {
	var parts []string
	for _, s := range spans {
		if s.Constant {
			parts = append(parts, s.Text)
			continue
		}
		text := strings.Join(s.Variants, "|")
		if s.More > 0 {
			text += fmt.Sprintf("|+%d", s.More)
		}
		parts = append(parts, "["+text+"]")
	}
	return strings.Join(parts, " ")
}

func TestTemplate(t *testing.T) {
	for _, c := range []struct {
		copies []string
		want   string
	}{
		{[]string{"only one copy"}, ""},
		{[]string{"the very same words", "the very same words"}, "the very same words"},
		{[]string{"dear anna you won a prize", "dear bela you won a prize", "dear zoe you won a prize"}, "dear [anna|bela|zoe] you won a prize"},
		{[]string{"you won a prize", "you won a big prize"}, "you won a [|big] prize"},
		{[]string{"one two three", "four five six"}, "[one two three|four five six]"},
		{[]string{"a b c d e", "a b c d e", "a b c d e", "quite another text"}, "a b c d e"},
		{[]string{"buy now 1", "buy now 2", "buy now 3", "buy now 4", "buy now 5", "buy now 6", "buy now 6"}, "buy now [1|2|3|4|+2]"},
		{[]string{"start one the two end", "start three the four end"}, "start [one the two|three the four] end"},
		{[]string{"今日は晴れです", "今日は雨です"}, "今日は [晴れ|雨] です"},
	} {
		if got := shown(templateOf(textOf(c.copies...))); got != c.want {
			t.Errorf("%q:\ngot  %s\nwant %s", c.copies, got, c.want)
		}
	}
}

// FuzzTemplate: what is constant is in the first copy in this order, and copies that are all alike have nothing that varies.
func FuzzTemplate(f *testing.F) {
	f.Add("dear anna you won", "dear bela you won", "dear you")
	f.Add("", "a", "a a a b")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		copies := textOf(a, b, c)
		rest := copies[0]
		for _, s := range templateOf(copies) {
			if !s.Constant {
				continue
			}
			for _, w := range textLike(s.Text, copies[0]) {
				i := slices.IndexFunc(rest, func(x word) bool { return x.text == w })
				if i < 0 {
					t.Fatalf("%q is not in what is left of the first copy", w)
				}
				rest = rest[i+1:]
			}
		}
		for _, s := range templateOf([][]word{copies[0], copies[0], copies[0]}) {
			if !s.Constant {
				t.Fatalf("copies that are alike vary: %+v", s)
			}
		}
	})
}

// textLike cuts a constant run into the words of a text again.
func textLike(run string, words []word) (out []string) {
	for run = strings.TrimSpace(run); run != ""; run = strings.TrimPrefix(run, " ") {
		longest := ""
		for _, w := range words {
			if len(w.text) > len(longest) && strings.HasPrefix(run, w.text) {
				longest = w.text
			}
		}
		if longest == "" {
			return append(out, run)
		}
		out, run = append(out, longest), run[len(longest):]
	}
	return out
}
