package parse

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// TestTagIn: what is read from the raw tag is what the tokenizer says its name is.
func TestTagIn(t *testing.T) {
	for _, name := range []string{
		"p", "P", "td", "BlockQuote", "o:p", "xmp", "no-such", "a\x00b", "p\x00", "blockquoteblockquote", "h1", "é", "p\xff", strings.Repeat("A", 15),
		strings.Repeat("A", 16), strings.Repeat("A", 17),
	} {
		for _, end := range []string{">", " x=y>", "/>", "\nx>", "\t>", "\r>", "\f>", ""} {
			for _, begin := range []string{"<", "</"} {
				a, b := html.NewTokenizer(strings.NewReader(begin+name+end)), html.NewTokenizer(strings.NewReader(begin+name+end))
				switch typ := a.Next(); typ {
				case html.StartTagToken, html.SelfClosingTagToken, html.EndTagToken:
					b.Next()
					want, _ := b.TagName()
					if got := tagIn(a); got != tagOf(want) {
						t.Errorf("%q: tag %d, want %d", begin+name+end, got, tagOf(want))
					}
				}
			}
		}
	}
}
