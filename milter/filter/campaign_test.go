package filter

import (
	"context"
	"fmt"
	"html"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// A language makes up texts whose words are as frequent as those of a language are.
type language struct {
	*rand.Rand
	zipf *rand.Zipf
}

func newLanguage() *language {
	r := rand.New(rand.NewPCG(11, 13))
	return &language{r, rand.NewZipf(r, 1.15, 4, 30_000)}
}

func (l *language) word() string {
	var b strings.Builder
	for n := l.zipf.Uint64() + 20; n > 0; n /= 100 {
		b.WriteByte("bcdfghjklmnpqrstvwxz"[n/5%20])
		b.WriteByte("aeiou"[n%5])
	}
	return b.String()
}

func (l *language) text(words int) []string {
	out := make([]string, words)
	for i := range out {
		out[i] = l.word()
		if i%9 == 8 {
			out[i] += "."
		}
	}
	return out
}

// each changes a part of the words.
func (l *language) each(words []string, part float64, change func(string) string) []string {
	out := slices.Clone(words)
	for i, w := range out {
		if l.Float64() < part {
			out[i] = change(w)
		}
	}
	return out
}

// letters changes a fifth of a word's letters that are in the table.
func (l *language) letters(w string, table map[rune]string) string {
	var b strings.Builder
	for _, r := range w {
		if s := table[r]; s != "" && l.Float64() < 0.2 {
			b.WriteString(s)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

var (
	lookAlikes = map[rune]string{'a': "а", 'c': "с", 'e': "е", 'o': "о", 'p': "р", 'x': "х"}
	digits     = map[rune]string{'a': "4", 'e': "3", 'i': "1", 'o': "0", 't': "7", 's': "5"}
	unseen     = map[rune]string{'a': "a\u200b", 'e': "e\u00ad", 'o': "o\u2060", 'r': "r\u200d"}
)

// attacks change a template for one copy.
func (l *language) attacks() map[string]func([]string) []string {
	mark := func(table map[rune]string) func([]string) []string {
		return func(w []string) []string {
			return l.each(w, 1, func(x string) string { return l.letters(x, table) })
		}
	}
	return map[string]func([]string) []string{
		"personal": func(w []string) []string {
			return append(append([]string{"Dear", l.word()}, w...), fmt.Sprint("http://x.example/", l.Uint64()))
		},
		"append 100 %": func(w []string) []string { return append(slices.Clone(w), l.text(len(w))...) },
		"insert 20 %":  func(w []string) []string { return l.each(w, .2, func(x string) string { return x + " " + l.word() }) },
		"exchange 10 %": func(w []string) []string {
			return l.each(w, .1, func(string) string { return l.word() })
		},
		"mistype 25 %": func(w []string) []string {
			return l.each(w, .25, func(x string) string {
				i := l.IntN(len(x))
				return x[:i] + string(rune('a'+l.IntN(26))) + x[i+l.IntN(2):]
			})
		},
		"look-alikes": mark(lookAlikes), "digits": mark(digits), "unseen characters": mark(unseen),
		"shuffle": func(w []string) []string {
			s := strings.SplitAfter(strings.Join(w, " "), ". ")
			l.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
			return strings.Fields(strings.Join(s, " "))
		},
		"hidden text": func(w []string) []string { return w }, // see message
	}
}

// message is a message of this text; under hidden text it is HTML with as many words that nobody sees.
func (l *language) message(n int, attack string, words []string) []byte {
	kind, body := "plain", strings.Join(words, " ")
	if attack == "hidden text" {
		kind = "html"
		body = "<p>" + html.EscapeString(body) + `</p><div style="display:none">` + strings.Join(l.text(len(words)), " ") + "</div>"
	}
	return []byte(fmt.Sprintf("From: <s%d@example.com>\r\nMessage-ID: <%d@example.com>\r\nSubject: %s\r\nContent-Type: text/%s; charset=utf-8\r\n\r\n%s\r\n",
		n, n, l.word(), kind, body))
}

// TestDetection holds the shipped thresholds to what they must find and must not: a stream of unrelated mail in which each
// attack hides two campaigns of 12 copies.
func TestDetection(t *testing.T) {
	l, f := newLanguage(), newFilter(t)
	type mail struct {
		attack   string // "" for unrelated mail
		campaign int
		raw      []byte
	}
	var stream []mail
	for range 400 {
		stream = append(stream, mail{raw: l.message(len(stream), "", l.text(30+l.IntN(300)))})
	}
	attacks := l.attacks()
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range attacks {
			if !yield(name) {
				return
			}
		}
	})
	for i := range 2 * len(names) {
		name, template := names[i/2], l.text(70+l.IntN(200))
		for range 12 {
			stream = append(stream, mail{name, i, l.message(len(stream), name, attacks[name](template))})
		}
	}
	l.Shuffle(len(stream), func(i, j int) { stream[i], stream[j] = stream[j], stream[i] })
	copies, hits, of, falseCalls := map[int]int{}, map[string]int{}, map[string]int{}, 0
	for i, m := range stream {
		env := &Envelope{ClientAddr: fmt.Sprintf("10.%d.%d.1", i>>8, i&255), Sender: fmt.Sprintf("s%d@example.com", i),
			Recipients: []string{fmt.Sprintf("r%d@example.net", i%50)}, Time: time.Unix(1e9+int64(i), 0)}
		bulk := f.Check(context.Background(), env, m.raw).Verdict.Kind == Bulk
		switch {
		case m.attack == "" && bulk:
			falseCalls++
		case m.attack != "":
			if copies[m.campaign]++; copies[m.campaign] >= 5 {
				of[m.attack]++
				if bulk {
					hits[m.attack]++
				}
			}
		}
	}
	mean := 0.0
	for _, name := range names {
		recall := float64(hits[name]) / float64(of[name])
		mean += recall / float64(len(names))
		t.Logf("%-18s recall %.2f", name, recall)
		if recall < 0.6 {
			t.Errorf("%s: recall %.2f, at least 0.60 is wanted", name, recall)
		}
	}
	t.Logf("mean %.3f, %d of 400 unrelated called bulk", mean, falseCalls)
	if mean < 0.92 || falseCalls > 0 {
		t.Errorf("mean recall %.3f (0.92 is wanted), %d false calls (none is wanted)", mean, falseCalls)
	}
}
