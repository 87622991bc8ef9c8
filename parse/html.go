package parse

import (
	"bytes"
	"slices"
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
// font-size, no room, text that is transparent or in the colour of its background, white where none is declared, and
// has no shadow or the like), and those that a rule of a style element hides so (one tag, class or id). Inheritance and the order of rules are followed: in a
// font of size 0 an inner element with a size of its own is visible, as newsletters use it to close gaps.
// noscript is visible, for a mail program runs no scripts. In doubt a text is visible: unseen words beside what a
// sender says blur his text, but who can make this reader take for unseen what people see can write anything.
//
// Where the visible text has fewer than 12 words and what styles hide has more, all
// of the latter counts as visible: then the styles were probably misread, and a campaign would
// otherwise escape by a trick that this reader does not know.
func htmlText(src string, answer bool) (blocks []Block, hidden string, links []string) {
	w := walk(src, nil, false, answer)
	if w.late && !w.reveal { // rules hold for what stands above them too
		w = walk(src, w.rules, false, answer)
	}
	if w.reveal || w.styled >= fewWords && w.shown < fewWords {
		w = walk(src, nil, true, answer)
	}
	w.flush()
	return recut(w.blocks), strings.TrimSpace(w.hidden.String()), w.links
}

// fewWords is the number of words below which a text is too short to be all that a mail says.
const fewWords = 12

// walk reads a document, of an answer or not; rules are those of its style elements, nil where they are not known yet.
func walk(src string, rules map[selector]style, reveal, answer bool) *walker {
	w := &walker{reveal: reveal, answer: answer, rules: rules, known: rules != nil, place: 1}
	w.stack = append(make([]element, 0, 32), element{p: -1, li: -1, cell: -1, row: -1, look: look{ground: white}})
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
	answer bool // the message says to be an answer

	stack []element          // stack[0] is the document
	open  [256]int           // elements on the stack by tag, so that an end tag without its start costs nothing
	over  int                // elements open beyond maxOpen
	rules map[selector]style // of the style elements
	known bool               // these are all
	late  bool               // a style element was met behind what it may style
	place uint32             // of the next rule in the style sheets
	memo  map[string]style   // style attributes read so far
	keys  [][]byte           // attributes of the tag that is read

	blocks  []Block
	line    strings.Builder // text of the block being read
	quote   quoting         // what that block is in
	replies bool            // a blockquote was introduced as a quote
	passed  bool            // all that follows is a message that is answered or passed on
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
	sheet struct{ off, some bool } // of a style element: it is none of CSS, it holds on some screens only
	look
	p, li, cell, row int  // innermost open p, li, td or th, tr that a new one would close, as index of the stack, or -1
	menu             int  // innermost open select that shows one option, 0 for none
	list, first      bool // of a select: it shows several options, its first one was met
	link, table      int  // innermost open a or button (in this cell), innermost open table; 0 for none
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
	if roles[e.tag]&rows != 0 && len(bytes.TrimSpace(s)) > 0 {
		e = w.beforeTable(e)
	}
	switch {
	case e.tag == tagStyle:
		if !w.known && !e.sheet.off {
			w.late = w.late || w.shown+w.styled > 0 || len(w.stack) > 4 || e.unseen() // more is open than html and head
			w.sheet(string(s), e.sheet.some)
		}
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

// beforeTable is e, which is in a table but in none of its cells, with the look that it has before that table (HTML Living
// Standard, section 13.2.6.1).
func (w *walker) beforeTable(e *element) *element {
	if e.table == 0 {
		return e
	}
	out := *e
	out.look = w.stack[e.table-1].look
	return &out
}

func (w *walker) hide(s []byte) {
	if s = bytes.TrimSpace(s); len(s) > 0 {
		w.hidden.Write(s)
		w.hidden.WriteByte('\n')
	}
}

// show writes visible text. White space collapses but in pre.
func (w *walker) show(s []byte, e *element) {
	q := e.quote
	if w.passed {
		q = quoted
	}
	if q != w.quote && len(bytes.TrimSpace(s)) > 0 {
		w.flush()
		w.quote = q
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
	if role.ofTable() && e.table == 0 && w.over == 0 {
		return // it belongs to no table and does nothing
	}
	if roles[e.tag]&rows != 0 && role&inRows == 0 {
		e = *w.beforeTable(&e)
	}
	e.tag, e.list = t, false
	e.dead = e.dead || role&dead != 0
	e.pre = e.pre || role&pre != 0
	if t == tagTable {
		e.tiny, e.front = false, 0 // neither comes into it from around it in quirks mode
	}
	if t == tagBlockquote {
		e.quote = max(e.quote, indented)
	}
	w.attributes(z, &e, role)
	if e.menu > 0 && t == tagOption { // it shows the first, whatever there is to choose from
		e.gone = e.gone || w.stack[e.menu].first
		w.stack[e.menu].first = true
	}
	if role&void != 0 {
		return
	}
	if t == tagNoscript {
		z.NextIsNotRawText()
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
	case tagLi, tagDd, tagDt:
		e.li = at
	case tagUl, tagOl:
		e.li, e.p = -1, -1
	case tagA, tagButton:
		e.link = at
	case tagSelect:
		e.menu, e.first = at, false
		if e.list {
			e.menu = 0
		}
	case tagTd, tagTh:
		e.cell, e.p, e.link = at, -1, 0
	case tagTr:
		e.row, e.cell = at, -1
	case tagTable:
		e.p, e.li, e.cell, e.row, e.link, e.table = -1, -1, -1, -1, 0, at
	}
	w.stack = append(w.stack, e)
	w.open[e.tag]++
}

// closeImplied closes what the start of an element ends without an end tag: a block ends the
// paragraph, a cell the cell before it, a link the link.
func (w *walker) closeImplied(t tag, role role) {
	if w.over > 0 {
		return
	}
	e := w.top()
	at := -1
	switch {
	case t == tagLi || t == tagDd || t == tagDt:
		at = e.li
	case role.ofTable() && e.table > 0:
		at = w.tableAt(t, e)
	case (t == tagA || t == tagButton) && e.link > 0 && w.stack[e.link].tag == t:
		if at = e.link; t == tagA && w.holdsBlock(at) {
			at, e.link = 0, 0
		}
	case role&heading != 0 && roles[e.tag]&heading != 0, t == tagOption && e.tag == t:
		at = len(w.stack) - 1
	case t == tagSelect:
		at = e.menu
	case role&ends != 0:
		at = e.p
	}
	if at > 0 {
		w.cut(at)
	}
}

// holdsBlock tells whether blocks are open in the link at index n of the stack, which stay open when another link begins
// (HTML Living Standard, section 13.2.6.4.7). Those in a link that hides them are taken to end with it.
func (w *walker) holdsBlock(n int) bool {
	blocks := slices.ContainsFunc(w.stack[n+1:], func(e element) bool { return roles[e.tag]&(ends|breaks) != 0 })
	return blocks && !w.stack[n].unseen()
}

// tableAt is the index of the stack from which the start of a row, a cell or another part of the innermost table closes elements.
func (w *walker) tableAt(t tag, e *element) int {
	switch {
	case t == tagTr && e.row > 0:
		return e.row
	case (t == tagTd || t == tagTh) && e.cell > 0:
		return e.cell
	case t != tagTr && t != tagTd && t != tagTh:
		return e.table + 1
	}
	at := len(w.stack)
	for roles[w.stack[at-1].tag]&rows == 0 {
		at--
	}
	return at
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
