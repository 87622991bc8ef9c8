package store

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"spamsim/parse"
)

// A placed feature is one with the words that it was made of: the first and the last of them, which may be the same.
type placed struct {
	feature
	from, to int
}

// place finds the words of the features of a text. It makes the features of short runs of words over again, and keeps of
// each run what no shorter one has.
func place(words []string) []placed {
	var out []placed
	run := func(from, n int) []feature { return features(words[min(from, len(words)):min(from+n, len(words))]) }
	long := -1
	for i, w := range words {
		n, reach := 2, 0
		if isBigram(w) { // it stands for its first character, the next for its second
			n, reach = mostSpelt-1, 1
		}
		for n := range n {
			but := slices.Concat(run(i, n), run(i+1, n))
			out = appendPlaced(out, run(i, n+1), but, i, min(i+n+reach, len(words)-1))
		}
		if head, _ := affixes(w); reach == 0 && head != 0 && !plain(w) {
			if long >= 0 && long < i-1 {
				apart := slices.DeleteFunc(features([]string{words[long], w}), func(f feature) bool { return f.kind != ends })
				out = appendPlaced(out, apart, nil, long, i)
			}
			long = i
		}
	}
	return out
}

func appendPlaced(out []placed, fs, but []feature, from, to int) []placed {
	for _, f := range fs {
		if !slices.Contains(but, f) {
			out = append(out, placed{f, from, to})
		}
	}
	return out
}

// markWords says of each word whether a feature of it is in the cluster. Where one of two words of a feature that is not is
// known to be in the cluster, it is the other that is not. Words between two of one mark of which nothing is known have
// that mark.
func markWords(n int, all []placed, of func(feature) Mark) []Mark {
	marks := make([]Mark, n)
	for _, p := range all {
		if of(p.feature) == Both {
			marks[p.from], marks[p.to] = Both, Both
		}
	}
	for _, p := range all {
		if of(p.feature) != Differs {
			continue
		}
		from, to := marks[p.from] == Both, marks[p.to] == Both
		if !from && (to || p.from == p.to) {
			marks[p.from] = Differs
		}
		if !to && from {
			marks[p.to] = Differs
		}
	}
	fill(marks)
	return marks
}

func fill(marks []Mark) {
	last := -1
	for i, m := range marks {
		if m == Unseen {
			continue
		}
		if last >= 0 && marks[last] == m {
			for k := last + 1; k < i; k++ {
				marks[k] = m
			}
		}
		last = i
	}
}

// A unit is a stretch of the text between spaces, and the words that were made of it.
type unit struct {
	text     string
	from, to int // words [from, to)
}

// maxApart is the most stretches that one word is made of: its letters may be set apart.
const maxApart = 24

// units finds the stretches of a text that words were made of. Of scripts that write no spaces each word is a stretch of its
// own, and so are the words behind a place that cannot be found again.
func units(text string, words []string) []unit {
	fields := strings.Fields(text)
	var out []unit // in the order of the words, none without one
	at := 0
	for len(fields) > 0 && at < len(words) {
		n, made := stretch(fields, words[at:])
		if n == 0 {
			break
		}
		if slices.ContainsFunc(words[at:at+made], isBigram) {
			out = appendWords(out, words, at, at+made)
		} else if made > 0 {
			out = append(out, unit{strings.Join(fields[:n], " "), at, at + made})
		}
		fields, at = fields[n:], at+made
	}
	return appendWords(out, words, at, len(words))
}

// stretch returns how many fields make up the next words, and how many words; 0 where they do not.
func stretch(fields, words []string) (n, made int) {
	for n = 1; n <= min(maxApart, len(fields)); n++ {
		own := parse.AppendTokens(nil, strings.Join(fields[:n], " "))
		own = own[:min(len(own), len(words))]
		if slices.Equal(own, words[:len(own)]) {
			return n, len(own)
		}
	}
	return 0, 0
}

// appendWords makes units of words [from, to): of a bigram its first character, unless the next does not begin with its
// second.
func appendWords(out []unit, words []string, from, to int) []unit {
	for i := from; i < to; i++ {
		w := words[i]
		if isBigram(w) {
			_, size := utf8.DecodeRuneInString(w)
			if i+1 < len(words) && isBigram(words[i+1]) && strings.HasPrefix(words[i+1], w[size:]) {
				w = w[:size]
			}
		}
		out = append(out, unit{w, i, i + 1})
	}
	return out
}

// wide says whether the unit is of a script that writes no spaces.
func (u *unit) wide() bool {
	r, _ := utf8.DecodeRuneInString(u.text)
	return parse.ScriptOf(string(r)) == parse.CJK
}

// spansOf returns the units in runs of one mark.
func spansOf(units []unit, marks []Mark) []Span {
	var out []Span
	for i := range units {
		u := &units[i]
		mark := Unseen
		for _, m := range marks[u.from:u.to] {
			if m == Both || mark == Unseen {
				mark = m
			}
		}
		if n := len(out); n == 0 || out[n-1].Mark != mark {
			out = append(out, Span{mark, u.text})
		} else {
			space := " "
			if u.wide() && units[i-1].wide() {
				space = ""
			}
			out[n-1].Text += space + u.text
		}
	}
	return out
}

// heaviest lists the heaviest features that are shared, with the words they were made of.
func heaviest(units []unit, all []placed, weight func(feature) float64) []Shared {
	var out []Shared
	seen := map[uint64]bool{}
	for _, p := range all {
		if w := weight(p.feature); w > 0 && !seen[p.hash] {
			seen[p.hash] = true
			out = append(out, Shared{p.text(units), w})
		}
	}
	slices.SortStableFunc(out, func(a, b Shared) int { return cmp.Compare(b.Weight, a.Weight) })
	return out[:min(len(out), explainShared)]
}

// text is what people read of a feature.
func (p *placed) text(units []unit) string {
	at := func(word int) *unit {
		i, _ := slices.BinarySearchFunc(units, word, func(u unit, w int) int { return cmp.Compare(u.to-1, w) })
		return &units[i]
	}
	from, to := at(p.from), at(p.to)
	trim := func(u *unit) string {
		return strings.TrimFunc(u.text, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) })
	}
	switch {
	case from == to:
		return trim(from)
	case p.kind == ends:
		return trim(from) + " … " + trim(to)
	case from.wide() && to.wide():
		var b strings.Builder
		for i := range p.to - p.from + 1 {
			b.WriteString(trim(at(p.from + i)))
		}
		return b.String()
	}
	return trim(from) + " " + trim(to)
}
