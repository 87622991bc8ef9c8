package parse

// What an element does to the text around it.
const (
	breaks uint8 = 1 << iota // begins and ends a line
	gaps                     // stands apart from what precedes it
	void                     // has no content
	dead                     // its content is never shown
	pre                      // keeps white space
	ends                     // its start closes an open paragraph
)

// elements are the elements that are not plain inline ones (HTML Living Standard, sections 13.1.2,
// 13.2.6.4.7 and 15.3).
var elements = map[string]uint8{
	"br": breaks | void, "hr": breaks | void | ends, "wbr": void, "img": void, "input": void, "meta": void, "link": void,
	"base": void, "area": void, "col": void, "embed": void, "param": void, "source": void, "track": void,

	"script": dead, "style": dead, "title": dead, "template": dead, "iframe": dead, "noframes": dead, "noembed": dead,

	"td": gaps, "th": gaps, "option": gaps, "tr": breaks, "table": breaks, "caption": breaks, "body": breaks, "legend": breaks,
	"p": breaks | ends, "div": breaks | ends, "blockquote": breaks | ends, "center": breaks | ends, "li": breaks | ends,
	"ul": breaks | ends, "ol": breaks | ends, "dl": breaks | ends, "dt": breaks | ends, "dd": breaks | ends,
	"h1": breaks | ends, "h2": breaks | ends, "h3": breaks | ends, "h4": breaks | ends, "h5": breaks | ends, "h6": breaks | ends,
	"address": breaks | ends, "article": breaks | ends, "aside": breaks | ends, "details": breaks | ends, "dir": breaks | ends,
	"fieldset": breaks | ends, "figure": breaks | ends, "footer": breaks | ends, "form": breaks | ends, "header": breaks | ends,
	"main": breaks | ends, "menu": breaks | ends, "nav": breaks | ends, "section": breaks | ends, "summary": breaks | ends,
	"figcaption": breaks | ends, "hgroup": breaks | ends, "search": breaks | ends,
	"pre": breaks | ends | pre, "listing": breaks | ends | pre, "plaintext": breaks | ends | pre, "xmp": breaks | ends | pre,
	"textarea": pre | gaps,
}
