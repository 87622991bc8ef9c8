package parse

import (
	"slices"
	"strings"
)

// markQuotes marks what was quoted from other messages: lines behind a quote mark, the line that
// introduces them, and all below the header of a message that is passed on, or below a line that introduces
// what has no marks.
func markQuotes(lines []line) {
	for i := range lines {
		if from := quotesRest(lines, i); from < len(lines) {
			for j := from; j < len(lines); j++ {
				lines[j].kind = Quote
			}
			break
		}
		switch quoteMark(lines[i].text) {
		case '>':
			lines[i].kind = Quote
		case ':', '|':
			if neighbour(lines, i, lines[i].text[0]) {
				lines[i].kind = Quote
			}
		}
	}
	for i := range lines {
		if lines[i].kind == Quote && (i == 0 || lines[i-1].kind != Quote) {
			markIntroduction(lines, i)
		}
	}
	markHeads(lines)
	markTraces(lines)
}

// quoteMark is '>' for a line behind "> ", ">>" or the initials of a writer ("AB> "), ':' or '|' for
// a line behind one of these and a space, else 0. ">From " is mbox's escape and ">> BUY NOW <<" an ornament.
func quoteMark(s string) byte {
	if s == "" {
		return 0
	}
	if s[0] == ':' || s[0] == '|' {
		if len(s) > 1 && (s[1] != ' ' || s[len(s)-1] == '|') { // the latter is a box
			return 0
		}
		return s[0]
	}
	n := 0
	for n < len(s) && n < 4 && alnum(s[n]|0x20) {
		n++
	}
	if n == len(s) || s[n] != '>' || n > 0 && n+1 < len(s) && s[n+1] != ' ' && s[n+1] != '>' {
		return 0
	}
	if strings.HasPrefix(s, ">From ") || strings.HasSuffix(s, "<<") {
		return 0
	}
	return '>'
}

// neighbour tells whether a line next to i has the same mark; ":" and "|" alone also begin lines of
// lists and tables.
func neighbour(lines []line, i int, mark byte) bool {
	return i > 0 && quoteMark(lines[i-1].text) == mark || i+1 < len(lines) && quoteMark(lines[i+1].text) == mark
}

// markIntroduction marks the line above a quote that begins at i, if it says who wrote it; it may be
// wrapped once, and one empty line may follow it.
func markIntroduction(lines []line, i int) {
	j := i - 1
	if j >= 0 && lines[j].text == "" {
		j--
	}
	if j < 0 || !introduces(lines[j].text) {
		return
	}
	lines[j].kind = Quote
	if j > 0 && !opensIntroduction(lines[j].text) && opensIntroduction(lines[j-1].text) {
		lines[j-1].kind = Quote
	}
}

// wrote are the words with which mail programs end the line that introduces a quote.
var wrote = []string{"wrote", "writes", "said", "says", "mentioned", "schrieb", "schreef", "skrev", "skreiv", "crit", "escribió", "escribio",
	"scritto", "scrisse", "escreveu", "napisał", "napisała", "napsal", "kirjoitti", "пишет", "писал", "написал", "yazdı", "írta",
	"写道", "寫道", "提到", "說", "included", "quoting", "once upon a time", "a écrit", "wrote on"}

// quotesRest is the line from which on all is quoted, where line i says so, else len(lines).
func quotesRest(lines []line, i int) int {
	if passedOn(lines, i) {
		return i
	}
	s := lines[i].text
	if len(s) < 2 || len(s) > 240 || s[len(s)-1] != ':' && !strings.HasSuffix(s, " ----") || markedBelow(lines, i) {
		return len(lines)
	}
	from := i
	if i > 0 && !opensIntroduction(s) && opensIntroduction(lines[i-1].text) { // it is wrapped
		from, s = i-1, lines[i-1].text+" "+s
	}
	if !introducesRest(s) || !says(lines[:from]) {
		return len(lines)
	}
	return from
}

// introducesRest tells whether a line says who wrote what follows in the words of a program, with the address of the writer or the
// time: Yahoo's, Zoho's and many telephones' programs put no marks before what they quote.
func introducesRest(s string) bool {
	return hasAny(strings.ToLower(s), programWrote) && (angled(s) || opensIntroduction(s) && hasTime(s))
}

// says tells whether lines are not all empty. Who quotes first answers below, and where is not to be seen without marks.
func says(lines []line) bool {
	return slices.ContainsFunc(lines, func(l line) bool { return l.text != "" })
}

// programWrote are the words of programs among wrote.
var programWrote = []string{"wrote", "schrieb", "schreef", "skrev", "skreiv", "a écrit", "escribió", "ha scritto", "escreveu", "napisał", "napsal",
	"kirjoitti", "пишет", "написал", "yazdı", "írta", "写道", "寫道"}

// markedBelow tells whether the next line that says anything is behind a quote mark.
func markedBelow(lines []line, i int) bool {
	for _, l := range lines[i+1:] {
		if l.text != "" {
			return quoteMark(l.text) != 0
		}
	}
	return true
}

// hasTime tells whether a line holds a time of day.
func hasTime(s string) bool {
	for i := 1; i+2 < len(s); i++ {
		if s[i] == ':' && digit(s[i-1]) && digit(s[i+1]) && digit(s[i+2]) {
			return true
		}
	}
	return false
}

// introduces tells whether a line says that what follows was written by somebody.
func introduces(s string) bool {
	if len(s) == 0 || len(s) > 240 {
		return false
	}
	end := strings.TrimRight(s, " ]】\u200e\u200f\u202a\u202b\u202c") // marks of direction, in Hebrew and Arabic
	if !strings.HasSuffix(end, ":") && !strings.HasSuffix(end, "：") && !strings.HasSuffix(end, "wrote") {
		return false
	}
	return hasAny(strings.ToLower(s), wrote) || strings.ContainsAny(s, "0123456789") && (opensIntroduction(s) || angled(s))
}

// angled tells whether a line holds an address in angle brackets: with a date, and a colon at its end, it says in any language
// who wrote what follows.
func angled(s string) bool {
	_, s, _ = strings.Cut(s, "<")
	s, _, ok := strings.Cut(s, ">")
	return ok && strings.Contains(s, "@") && !strings.Contains(s, " ")
}

// opensIntroduction tells whether a line begins as one that introduces a quote.
func opensIntroduction(s string) bool {
	for _, p := range [...]string{"On ", "At ", "Am ", "Le ", "El ", "Il ", "Op ", "Em ", "Den ", "Dnia ", "Quoting ", "In article ", "In message ", "* "} {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}

func hasAny(s string, words []string) bool {
	for _, w := range words {
		if strings.Contains(s, w) {
			return true
		}
	}
	return false
}

// marked tells whether the lines of a quote are behind quote marks: one of its first three, above which may be who wrote it.
func marked(blocks []Block) bool {
	return slices.ContainsFunc(blocks, func(b Block) bool {
		if b.Kind != Quote {
			return false
		}
		lines := slices.DeleteFunc(splitLines(b.Text[:min(len(b.Text), 2000)]), func(l line) bool { return l.text == "" })
		return slices.ContainsFunc(lines[:min(len(lines), 3)], func(l line) bool { return quoteMark(l.text) != 0 })
	})
}
