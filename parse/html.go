package parse

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// maxOpen bounds the stack of open elements. What is nested deeper takes the style of its 512th
// ancestor.
const maxOpen = 512

// htmlText splits an HTML document into the text that a reader sees, in blocks of kind Body and
// Quote, and the text that the document hides from him; links are the http and https addresses that
// it points at, in order. It never fails and its time is linear in len(src).
//
// Hidden is: comments, script, style, title, template and frames that mail programs do not
// load; elements hidden by an attribute or by their own style (display, visibility, opacity,
// font-size, mso-hide, text in the colour of its background), and those that a simple rule of a
// style element (one class or id) hides so. Inheritance is followed: in a font of size 0 an
// inner element with a size of its own is visible, as newsletters use it to close gaps.
// noscript is visible, for a mail program runs no scripts.
//
// Where the visible text has fewer than 12 words and what styles hide has more, all
// of the latter counts as visible: then the styles were probably misread, and a campaign would
// otherwise escape by a trick that this reader does not know.
func htmlText(src string) (blocks []Block, hidden string, links []string) {
	w := walk(src, false)
	if w.styled >= fewWords && w.shown < fewWords {
		w = walk(src, true)
	}
	w.flush()
	return recut(w.blocks), strings.TrimSpace(w.hidden.String()), w.links
}

// fewWords is the number of words below which a text is too short to be all that a mail says.
const fewWords = 12

func walk(src string, reveal bool) *walker {
	w := &walker{reveal: reveal}
	w.stack = append(make([]element, 0, 32), element{p: -1, li: -1, cell: -1, row: -1})
	w.line.Grow(len(src) / 4)
	z := html.NewTokenizer(strings.NewReader(src))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return w
		case html.TextToken:
			w.text(z.Text())
		case html.CommentToken:
			w.hide(z.Text())
		case html.StartTagToken, html.SelfClosingTagToken:
			w.start(z)
		case html.EndTagToken:
			w.end(tagIn(z))
		}
	}
}

// A walker follows the tags of one document.
type walker struct {
	reveal bool // styles hide nothing

	stack []element        // stack[0] is the document
	open  [256]int         // elements on the stack by tag, so that an end tag without its start costs nothing
	over  int              // elements open beyond maxOpen
	rules map[string]style // of the style elements, by ".class" and "#id"
	memo  map[string]style // style attributes read so far

	blocks  []Block
	line    strings.Builder // text of the block being read
	quote   quoting         // what that block is in
	replies bool            // a blockquote was introduced as a quote
	gap     bool            // white space came, not yet written
	hidden  strings.Builder
	links   []string
	shown   int // words seen
	styled  int // words that styles hide
}

// An element is an open element with what it inherits.
type element struct {
	tag   tag
	dead  bool // content that is never shown, whatever the style
	pre   bool
	quote quoting
	look
	p, li, cell, row int // innermost open p, li, td or th, tr that a new one would close, as index of the stack, or -1
}

// quoting says how sure it is that an element holds a quote.
type quoting uint8

const (
	indented quoting = 1 + iota // a blockquote, which may be mere indentation: a quote where it is introduced as one
	quoted                      // marked as a quote by a mail program
)

func (w *walker) top() *element { return &w.stack[len(w.stack)-1] }

func (w *walker) text(s []byte) {
	e := w.top()
	switch {
	case e.tag == tagStyle:
		w.sheet(string(s))
		w.hide(s)
	case e.dead:
		w.hide(s)
	case e.unseen() && !w.reveal:
		w.styled += len(bytes.Fields(s))
		w.hide(s)
	default:
		w.show(s, e)
	}
}

func (w *walker) hide(s []byte) {
	if s = bytes.TrimSpace(s); len(s) > 0 {
		w.hidden.Write(s)
		w.hidden.WriteByte('\n')
	}
}

// show writes visible text. White space collapses but in pre.
func (w *walker) show(s []byte, e *element) {
	if e.quote != w.quote && len(bytes.TrimSpace(s)) > 0 {
		w.flush()
		w.quote = e.quote
	}
	if e.pre {
		w.shown += len(bytes.Fields(s))
		w.line.Write(s)
		return
	}
	for len(s) > 0 {
		n := 0
		for n < len(s) && !space(s[n]) {
			n++
		}
		if n > 0 {
			w.piece(s[:n])
		}
		if n < len(s) {
			w.gap = true
			n++
		}
		s = s[n:]
	}
}

// piece writes text without white space, after a space where a gap came before it.
func (w *walker) piece(s []byte) {
	if w.gap && w.line.Len() > 0 {
		w.line.WriteByte(' ')
	}
	if w.gap || w.shown == 0 {
		w.shown++
	}
	w.gap = false
	w.line.Write(s)
}

func space(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' || c == '\f' }

// newline ends a line of visible text.
func (w *walker) newline() {
	if n := w.line.Len(); n > 0 && w.line.String()[n-1] != '\n' {
		w.line.WriteByte('\n')
		w.shown++
	}
	w.gap = false
}

// flush makes a block of the text read so far.
func (w *walker) flush() {
	s := strings.TrimSpace(w.line.String())
	w.line.Reset()
	w.gap = false
	if s == "" {
		return
	}
	kind := Body
	if w.quote == quoted || w.quote == indented && w.introduced() {
		kind = Quote
	}
	w.blocks = append(w.blocks, Block{kind, s + "\n"})
}

// introduced tells whether the text read so far ends in a line that introduces a quote, or an
// earlier blockquote was introduced so: its quote may go on below a reply.
func (w *walker) introduced() bool {
	if n := len(w.blocks); n > 0 && !w.replies {
		s := strings.TrimSpace(w.blocks[n-1].Text)
		w.replies = introduces(s[strings.LastIndexByte(s, '\n')+1:])
	}
	return w.replies
}

// start opens an element.
func (w *walker) start(z *html.Tokenizer) {
	t := tagIn(z)
	role := roles[t]
	if role&breaks != 0 {
		w.newline()
	}
	if role&gaps != 0 {
		w.gap = true
	}
	w.closeImplied(t, role)
	e := *w.top()
	e.tag = t
	e.dead = e.dead || role&dead != 0
	e.pre = e.pre || role&pre != 0
	if t == tagBlockquote {
		e.quote = max(e.quote, indented)
	}
	w.attributes(z, &e)
	if role&void != 0 {
		return
	}
	w.push(e)
}

// push puts an element on the stack.
func (w *walker) push(e element) {
	if len(w.stack) >= maxOpen {
		w.over++
		return
	}
	at := len(w.stack)
	switch e.tag {
	case tagP:
		e.p = at
	case tagLi:
		e.li = at
	case tagUl, tagOl:
		e.li, e.p = -1, -1
	case tagTd, tagTh:
		e.cell, e.p = at, -1
	case tagTr:
		e.row, e.cell = at, -1
	case tagTable:
		e.p, e.li, e.cell, e.row = -1, -1, -1, -1
	}
	w.stack = append(w.stack, e)
	w.open[e.tag]++
}

// closeImplied closes what the start of an element ends without an end tag: a block ends the
// paragraph, a cell the cell before it.
func (w *walker) closeImplied(t tag, role role) {
	if w.over > 0 {
		return
	}
	e := w.top()
	at := -1
	switch {
	case t == tagLi:
		at = e.li
	case t == tagTd || t == tagTh:
		at = e.cell
	case t == tagTr:
		at = e.row
	case role&ends != 0:
		at = e.p
	}
	if at > 0 {
		w.cut(at)
	}
}

// cut closes the element at index n of the stack and all in it.
func (w *walker) cut(n int) {
	for i := len(w.stack) - 1; i >= n; i-- {
		w.open[w.stack[i].tag]--
	}
	w.stack = w.stack[:n]
}

// end closes the innermost element of that tag, if one is open. Each step of the search closes an
// element, so all searches together are linear.
func (w *walker) end(t tag) {
	if roles[t]&breaks != 0 {
		w.newline()
	}
	if w.over > 0 {
		w.over--
		return
	}
	if w.open[t] == 0 {
		return
	}
	for i := len(w.stack) - 1; i > 0; i-- {
		if w.stack[i].tag == t {
			w.cut(i)
			return
		}
	}
}
