package parse

import (
	"math"
	"strings"
	"unicode/utf8"
)

// cutBlocks cuts a plain text into blocks of one kind each. Joined they are the text, line by line.
func cutBlocks(plain string) []Block {
	return cutLines(plain, splitLines(plain))
}

// recut cuts the Body of what was read from HTML in the same way, and leaves the quotes.
func recut(blocks []Block) []Block {
	var all strings.Builder
	ends := make([]int, len(blocks))
	for i, b := range blocks {
		all.WriteString(b.Text)
		ends[i] = all.Len()
	}
	lines := splitLines(all.String())
	b := 0
	for i := range lines {
		for lines[i].start >= ends[b] {
			b++
		}
		lines[i].kind = blocks[b].Kind
	}
	return cutLines(all.String(), lines)
}

func cutLines(s string, lines []line) []Block {
	markQuotes(lines)
	markArmour(lines)
	markFooters(lines)
	markSignatures(lines)
	markSentFrom(lines)
	markClosings(lines)
	return joinLines(s, lines)
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

// settleKinds makes Body of what the kinds would hide: a sender can write "> " or "-- " before any text.
// Too little Body is fewer than 12 words, or fewer than a tenth of all that is compared; how is how the message says that it
// answers another one.
//
//   - Quotes of 40 words or more, with their headers, become Body where there is no other, or too little in a message that does
//     not say to be an answer, or fewer than 5 words in one that says so by its subject alone, above a quote without marks
//     ("Fwd: x", "fyi"; while "+1" to a long announcement is not that announcement). The footers that end them stay footers.
//   - Signatures of 40 words or more become Body where Body, with the quotes that have become Body, is
//     too little beside them; and so do footers, but for what is plainly a legal notice: many a letter of
//     three words has one below; and the headers of quotes, unless fields say that it is an answer, and it says anything.
//
// So a one-line reply above a long quote stays what it is, and a list's footer below a mere "Thanks!"
// is not taken for what it says. A character of an unspaced script is a word.
func settleKinds(blocks []Block, how answer) []Block {
	n := wordsOf(blocks)
	if max(n[Quote]+n[Head], n[Signature], n[Footer]) < worthHiding {
		return blocks
	}
	body := bodyWords(blocks, n)
	if n[Quote]+n[Head] >= worthHiding && (body == 0 || body < 5 && how != byFields && !marked(blocks) || how == noAnswer && little(body, n[Quote])) {
		blocks = quotesBecome(blocks)
		n = wordsOf(blocks)
		body = bodyWords(blocks, n)
	}
	for _, k := range [...]Kind{Signature, Footer, Head} {
		if n[k] >= worthHiding && little(body, n[k]) && (k != Head || how != byFields || body == 0) {
			become(blocks, k)
		}
	}
	return blocks
}

// wordsOf counts the words of each kind that a sender could hide in: not Body, nor what is plainly a legal notice.
func wordsOf(blocks []Block) (n [Head + 1]int) {
	for _, b := range blocks {
		if b.Kind != Body && (b.Kind != Footer || !plainly(b.Text)) {
			n[b.Kind] += countWords(b.Text, math.MaxInt)
		}
	}
	return n
}

// bodyWords counts the words of Body, or as many as all others together.
func bodyWords(blocks []Block, n [Head + 1]int) (body int) {
	for _, b := range blocks {
		if b.Kind == Body {
			body += countWords(b.Text, n[Quote]+n[Signature]+n[Footer]+n[Head])
		}
	}
	return body
}

// worthHiding is the number of words from which a text can be judged, so that a sender may gain from hiding it.
const worthHiding = 40

func little(body, rest int) bool { return body < fewWords || body*10 < body+rest }

// become makes Body of the blocks of one kind.
func become(blocks []Block, k Kind) {
	for i := range blocks {
		if blocks[i].Kind == k {
			blocks[i].Kind = Body
		}
	}
}

// quotesBecome makes Body of the quotes, but for the footers that end them: the list's is below each letter that is answered on it.
func quotesBecome(blocks []Block) []Block {
	out := make([]Block, 0, len(blocks))
	for _, b := range blocks {
		if b.Kind != Quote {
			out = append(out, b)
			continue
		}
		lines := splitLines(b.Text)
		for i := range lines {
			lines[i].text = strings.TrimLeft(lines[i].text, "> ")
		}
		markFooters(lines)
		out = append(out, joinLines(b.Text, lines)...)
	}
	return out
}

// countWords counts, up to a limit, what white space separates and holds a letter or digit, so that an
// address is one word; each character of an unspaced script is one.
func countWords(s string, limit int) int {
	n, in := 0, false
	for i := 0; i < len(s) && n < limit; {
		if s[i] < utf8.RuneSelf {
			if s[i] <= ' ' {
				in = false
			} else if !in && alnum(s[i]|0x20) {
				n++
				in = true
			}
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if wordRune(r) && (!in || unspaced(r)) {
			n++
			in = true
		}
		i += size
	}
	return n
}
