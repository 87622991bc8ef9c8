package parse

import (
	"strings"
	"unicode/utf8"
)

// cutBlocks cuts a plain text into blocks of one kind each. Joined they are the text, line by line.
func cutBlocks(plain string) []Block {
	lines := splitLines(plain)
	markQuotes(lines)
	markArmour(lines)
	markFooters(lines)
	markSignatures(lines)
	return joinLines(plain, lines)
}

// A line of a plain text: what it says without the white space around it, where it begins, and what it was taken for.
type line struct {
	text  string
	start int
	kind  Kind
}

func splitLines(s string) []line {
	lines := make([]line, 0, strings.Count(s, "\n")+1)
	for at := 0; at < len(s); {
		n := strings.IndexByte(s[at:], '\n') + 1
		if n == 0 {
			n = len(s) - at
		}
		lines = append(lines, line{strings.TrimSpace(s[at : at+n]), at, Body})
		at += n
	}
	return lines
}

// joinLines makes blocks of neighbouring lines of the same kind; an empty line goes with the line before it.
func joinLines(s string, lines []line) []Block {
	var blocks []Block
	from, kind := 0, Body
	for i, l := range lines {
		if l.text == "" || l.kind == kind {
			continue
		}
		if strings.TrimSpace(s[from:l.start]) != "" {
			blocks = append(blocks, Block{kind, s[from:l.start]})
			from = l.start
		}
		kind = lines[i].kind
	}
	if strings.TrimSpace(s[from:]) != "" {
		blocks = append(blocks, Block{kind, s[from:]})
	}
	return blocks
}

// settleKinds makes Body of everything where the kinds would hide what a message says: a sender can
// write "> " or "-- " before any text. All blocks become Body where at least 40 words are not Body and
//   - Body has fewer than 5 words; or
//   - Body has fewer than 12 words, or fewer than a tenth of all, and no quote is introduced as one
//     ("On Monday, Bob wrote:", "-----Original Message-----").
//
// So a one-line reply above a long quote stays what it is, and fewer than 40 words of signature
// and footers below a mere "Thanks!" are not taken for what it says. A character of an unspaced script is a word.
func settleKinds(blocks []Block) []Block {
	body, rest, introduced := 0, 0, false
	for _, b := range blocks {
		n := countWords(b.Text)
		if b.Kind == Body {
			body += n
			continue
		}
		rest += n
		introduced = introduced || b.Kind == Quote && introduction(b.Text)
	}
	if rest < 40 || body >= 5 && (introduced || body >= 12 && body*10 >= body+rest) {
		return blocks
	}
	for i := range blocks {
		blocks[i].Kind = Body
	}
	return blocks
}

// countWords counts runs of letters and digits; each character of an unspaced script is one.
func countWords(s string) int {
	n, in := 0, false
	for i := 0; i < len(s); {
		c := rune(s[i])
		size := 1
		if c >= utf8.RuneSelf {
			c, size = utf8.DecodeRuneInString(s[i:])
		}
		i += size
		word := c < utf8.RuneSelf && alnum(byte(c)|0x20) || c >= utf8.RuneSelf && wordRune(c)
		if word && (!in || unspaced(c)) {
			n++
		}
		in = word
	}
	return n
}
