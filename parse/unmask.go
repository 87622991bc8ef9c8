package parse

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// unmask drops what is not seen and brings the rest into NFKC. Dropping comes first, since a hidden
// character keeps its neighbours from composing; accents are dropped last, when those that belong
// to a letter are composed with it; then what they kept apart may compose.
func unmask(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	p, steady := survey(s)
	if p&unseen != 0 {
		s = drop(turn(s), unseen)
	}
	if steady {
		return s
	}
	s = compose(s)
	if p, _ = survey(s); p&(unseen|accent) != 0 {
		s = compose(drop(s, unseen|accent))
	}
	return s
}

// turn turns round what a right-to-left override shows from its end to its beginning, up to another mark of direction or the end
// of the line (Unicode Standard Annex 9, section 2.2).
func turn(s string) string {
	const override = "\u202E"
	if !strings.Contains(s, override) {
		return s
	}
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(s, override)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		end := strings.IndexAny(rest, "\n\u202A\u202B\u202C\u202D\u202E")
		if end < 0 {
			end = len(rest)
		}
		turned := []rune(rest[:end])
		slices.Reverse(turned)
		b.WriteString(string(turned))
		s = rest[end:]
	}
}

// survey is the properties that any character of s outside ASCII has, and whether all, but for those
// that are not seen, are stable.
func survey(s string) (p property, steady bool) {
	steady = true
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		q := properties(r)
		p |= q
		steady = steady && q&(stable|unseen) != 0
		i += n
	}
	return p, steady
}

// drop removes the characters that have one of the properties.
func drop(s string, p property) string {
	var b []byte
	done := 0
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if properties(r)&p != 0 {
			b = append(b, s[done:i]...)
			done = i + n
		}
		i += n
	}
	if done == 0 {
		return s
	}
	return string(append(b, s[done:]...))
}

// compose brings s into NFKC. Stable characters stay as they are, so that the general and slow way
// is taken only for runs of others, each together with the character before it.
func compose(s string) string {
	var b []byte
	done, last := 0, 0 // written up to; the last stable character
	for i := 0; i < len(s); {
		n := stableAt(s[i:])
		if n > 0 {
			last = i
			i += n
			continue
		}
		j := i
		for j < len(s) && stableAt(s[j:]) == 0 {
			_, n := utf8.DecodeRuneInString(s[j:])
			j += n
		}
		if out, ok := widths(append(b, s[done:i]...), s[i:j]); ok {
			b = out
		} else {
			b = norm.NFKC.AppendString(append(b, s[done:last]...), s[last:j])
		}
		done, last, i = j, j, j
	}
	if done == 0 {
		return s
	}
	return string(append(b, s[done:]...))
}

// widths appends to b the ASCII of a run of full-width characters, which are most of what is not
// stable in Chinese and Japanese; it tells whether the run holds nothing else.
func widths(b []byte, run string) ([]byte, bool) {
	for _, r := range run {
		switch {
		case r >= 0xFF01 && r <= 0xFF5E:
			b = append(b, byte(r-0xFF01+'!'))
		case r == 0x3000:
			b = append(b, ' ')
		case r == 0x2026:
			b = append(b, "..."...)
		default:
			return b, false
		}
	}
	return b, true
}

// stableAt is the length of the character that s begins with if it is stable, else 0.
func stableAt(s string) int {
	if s[0] < utf8.RuneSelf {
		return 1
	}
	r, n := utf8.DecodeRuneInString(s)
	if properties(r)&stable == 0 {
		return 0
	}
	return n
}
