package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"spamsim/parse"
)

// fromHouse is a message of somebody of a house.
func fromHouse(n int, house string) *Transaction {
	x := from(n)
	x.Sender = fmt.Sprintf("p%d@%s", n%4, house)
	return x
}

// TestLettersOfAHouse: people of one house write letters above one notice, which is longer than they are or shorter; hardly
// one is taken for one of a campaign. Letters of ten houses that have that notice are one: only the house tells.
func TestLettersOfAHouse(t *testing.T) {
	for _, c := range []struct{ letter, notice int }{{8, 15}, {8, 60}, {20, 60}, {60, 60}, {200, 60}, {15, 150}} {
		house, strangers := scratchStore(t), scratchStore(t)
		w := newWriter(61)
		notice := w.text(c.notice)
		bulk, found := 0, 0
		for i := range 30 {
			letter := traceOf(slices.Concat([]string{"hello"}, w.text(c.letter), notice))
			if ev := house.Count(letter, fromHouse(i, "house.example")); ev.Copies >= 5 && ev.Sigma >= 3 {
				bulk++
			}
			if ev := strangers.Count(letter, fromHouse(i, fmt.Sprintf("domain%d.example", i%10))); ev.Copies >= 5 && ev.Sigma >= 3 {
				found++
			}
		}
		if bulk > 1 {
			t.Errorf("letters of %d words of a house above %d: %d bulk", c.letter, c.notice, bulk)
		}
		if c.letter <= c.notice && found < 20 {
			t.Errorf("letters of %d words of strangers above %d: %d found", c.letter, c.notice, found)
		}
	}
}

// TestCampaignOfAHouse: what one house sends in many copies is found, with a name in front, a tenth or a quarter changed, or words behind.
func TestCampaignOfAHouse(t *testing.T) {
	for name, change := range map[string]func(w *writer, text []string) []string{
		"the same":       func(_ *writer, text []string) []string { return text },
		"a name":         func(w *writer, text []string) []string { return slices.Concat([]string{"dear"}, w.text(1), text) },
		"a tenth":        func(w *writer, text []string) []string { return w.changed(text, 0.1) },
		"a quarter":      func(w *writer, text []string) []string { return w.changed(text, 0.25) },
		"as much behind": func(w *writer, text []string) []string { return slices.Concat(text, w.text(len(text))) },
	} {
		for _, words := range []int{30, 100, 400} {
			s, w := scratchStore(t), newWriter(62)
			text, found := w.text(words), 0
			for i := range 30 {
				if ev := s.Count(traceOf(change(w, text)), fromHouse(i, "house.example")); ev.Copies >= 5 && ev.Sigma >= 3 {
					found++
				}
			}
			if found < 20 {
				t.Errorf("%s, %d words: %d of 26 found", name, words, found)
			}
		}
	}
}

// TestCampaignOfAHouseWithNames: names of whom a copy is to, and a number, do not make letters of copies.
func TestCampaignOfAHouseWithNames(t *testing.T) {
	for _, words := range []int{40, 120} {
		s, w := scratchStore(t), newWriter(66)
		text, found := w.text(words), 0
		for i := range 30 {
			to, number := w.text(3), fmt.Sprint(700_000+7*i)
			m := parse.Message{
				People: to[2] + ", " + strings.Join(to[:2], " ") + " <p@site.example>",
				Blocks: []parse.Block{{Text: strings.Join(slices.Concat([]string{"dear"}, to, []string{"reference", number}, text), " ")}},
			}
			if ev := s.Count(NewTrace(&m), fromHouse(i, "house.example")); ev.Copies >= 5 && ev.Sigma >= 3 {
				found++
			}
		}
		if found < 20 {
			t.Errorf("%d words: %d of 26 found", words, found)
		}
	}
}

// TestHouseAmongOthers: a text that another house sent too does not make a campaign of the letters of either.
func TestHouseAmongOthers(t *testing.T) {
	s, w := scratchStore(t), newWriter(63)
	notice, text := w.text(60), w.text(40)
	s.Count(traceOf(slices.Concat(text, notice)), fromHouse(0, "house.example"))
	if ev := s.Count(traceOf(text), fromHouse(1, "other.example")); ev.Copies != 2 {
		t.Fatalf("%+v", ev)
	}
	for i := range 20 {
		if ev := s.Count(traceOf(slices.Concat(w.text(20), notice)), fromHouse(2+i, "house.example")); ev.Copies >= 5 {
			t.Errorf("letter %d: %d copies", i, ev.Copies)
		}
	}
}

// TestForgetSenderOfOld: a sender who was counted by the hash of his whole address is forgotten as well.
func TestForgetSenderOfOld(t *testing.T) {
	s, x := scratchStore(t), from(0)
	q := s.memory.query(traceOf(newWriter(64).text(60)))
	j, _ := s.judge(q, x)
	q.sender = s.hash(x.Sender)
	s.count(j, x, None)
	if f, err := s.ForgetPerson(Sender, x.Sender); err != nil || f.Messages != 1 || f.Dropped != 1 {
		t.Errorf("%+v, %v", f, err)
	}
}

// TestLettersFromAnybody: people who have their mail of one provider are no house; each of them is one.
func TestLettersFromAnybody(t *testing.T) {
	for people, want := range map[int]bool{1: false, 100: true} {
		s, w := scratchStore(t), newWriter(65)
		notice, found := w.text(40), 0
		for i := range 20 {
			x := from(i)
			x.Sender = fmt.Sprintf("p%d@yahoo.co.uk", i%people)
			if ev := s.Count(traceOf(slices.Concat(w.text(15), notice)), x); ev.Copies >= 5 && ev.Sigma >= 3 {
				found++
			}
		}
		if found > 10 != want {
			t.Errorf("%d people: %d bulk", people, found)
		}
	}
}

// TestAnybodys: providers of mail are known by their domains, not by parts of them.
func TestAnybodys(t *testing.T) {
	for domain, want := range map[string]bool{
		"gmail.com": true, "yahoo.co.uk": true, "gmx.de": true, "qq.com": true, "zoho.com": true,
		"mygmail.com": false, "gmail": false, "yahoo": false, "mail.yahoo.example": false, "gmx.a.b.c": false, "com": false, "": false, "*": false,
	} {
		if anybodys(domain) != want {
			t.Errorf("%q: not %v", domain, want)
		}
	}
}

// TestSenderHasItsDomain: senders of one domain differ, and have the domain's half in common.
func TestSenderHasItsDomain(t *testing.T) {
	s := scratchStore(t)
	a, b, other := s.sender("a@x.example"), s.sender("b@x.example"), s.sender("a@y.example")
	if a == b || a>>32 != b>>32 || a>>32 == other>>32 || a&person32 == other&person32 || s.sender("") != 0 {
		t.Errorf("%x %x %x", a, b, other)
	}
}

// TestLetterhead: what stands in front says more the longer it is, and the less of what follows is its own; a few features of
// a long text are few words.
func TestLetterhead(t *testing.T) {
	for _, c := range []struct {
		front, behind string // repeated
		n, tokens     int    // times that the front is
		want          bool
	}{
		{"o", "s", 20, 60, true},
		{"o", "os", 30, 60, true},
		{"o", "os", 8, 60, false},
		{"o", "s", 3, 60, false},
		{"oooos", "s", 8, 60, true},
		{"os", "os", 30, 60, false},
		{"so", "s", 20, 60, false},
		{"s", "o", 60, 60, false},
		{"o", "sssso", 5, 2000, false},
		{"o", "sssso", 30, 2000, true},
	} {
		what := strings.Repeat(c.front, c.n)
		what += strings.Repeat(c.behind, 128/len(c.behind))[:128-len(what)]
		q, shared := query{t: &Trace{Tokens: c.tokens}, text: len(what)}, hits{}
		for i := range what {
			q.features = append(q.features, queried{place: uint8(i * places / len(what)), w: 5})
			if what[i] == 's' {
				shared.add(i)
			}
		}
		if got := q.letterhead(&shared, 0); got != c.want {
			t.Errorf("%d times %q above %q, %d words: %v", c.n, c.front, c.behind, c.tokens, got)
		}
	}
}
