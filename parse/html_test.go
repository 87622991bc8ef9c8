package parse

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// long is enough visible text for styles to be believed.
const long = "one two three four five six seven eight nine ten eleven twelve thirteen"

func TestHTMLVisible(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"v<b></b>i<!-- x -->a", "via"},
		{"<p>a<p>b<br>c<div>d</div>e", "a\nb\nc\nd\ne"},
		{"<td>a</td><td>b</td>", "a b"},
		{"a&amp;b &eacute; &#x41;&nbsp;c", "a&b é A\u00a0c"},
		{"<title>t</title><style>x</style><script>y</script>z", "z"},
		{"<head>seen", "seen"},
		{"<noscript>s<b a=b></b>een</noscript>", "seen"},
		{"<pre>a  b\n c</pre>", "a  b\n c"},
	} {
		blocks, _, _ := htmlText(c.in, true)
		if got := joined(blocks); got != c.want {
			t.Errorf("text of %q is %q, want %q", c.in, got, c.want)
		}
	}
}

func joined(blocks []Block) string {
	var s []string
	for _, b := range blocks {
		s = append(s, strings.TrimSpace(b.Text))
	}
	return strings.Join(s, "|")
}

func TestHTMLHidden(t *testing.T) {
	for _, in := range []string{
		`<div style="display:none">X</div>`,
		`<div style="DISPLAY : None !important">X</div>`,
		`<div style="display:none"><p>X</p></div>`,
		`<span style="font-size:0">X</span>`,
		`<span style="font-size: 1px;">X</span>`,
		`<span style="font:0px/0px serif">X</span>`,
		`<p style="visibility: hidden">X</p>`,
		`<p hidden>X</p>`,
		`<p style="opacity:0">X</p>`,
		`<table><td bgcolor=#ffffff><font color=white>X</font></td></table>`,
		`<p style="color:#fff;background:#fefefe">X</p>`,
		`<div style="font-size:0"><p style="font-size:100%">X</p></div>`,
		`<p style="font-size:0.05em">X</p>`,
		`<p style="font-size:5%">X</p>`,
		`<p style="font-size:.1rem">X</p>`,
		`<p style="font:bold 0/0 a">X</p>`,
		`<p style="color:transparent;text-shadow:none">X</p>`,
		`<p style="font:small-caps 0/0 a">X</p>`,
		`<p style="all:initial;color:transparent">X</p>`,
		`<p style="color:transparent;background-clip:padding-box">X</p>`,
		`<p style="display:none;all:none">X</p>`,
		`<style>.q { visibility: inherit }</style><p hidden class=q>X</p>`,
		`<p style="color:rgb(9, 9, 9);background-color:#0a0a0a">X</p>`,
		`<p style="color:#999;background:#999999">X</p>`,
		`<!-- X -->`,
		`<template>X</template>`,
		`<style>.q { display: none }</style><p class="a q">X</p>`,
		`<style><!-- @import "x"; /* .n { } */ .q { display: none } --></style><p class="q">X</p>`,
		`<p style="display:none!important;display:block">X</p>`,
		`<p style="opacity:0;display:block">X</p>`,
		`<foo style="display:none">X<bar>X</foo>`,
		`<style>@media x { .b { color: red } } p#q, .z { font-size:0 }</style><p id=q>X</p>`,
		`<style>s { display: none }</style><s>X</s>`,
		`<style>p.q { display: none }</style><p class=q>X</p>`,
		`<style type=TEXT/css media=screen>.q { display: none }</style><p class=q>X</p>`,
		`<style>.q { display: none } p { display: block }</style><p class=q>X</p>`,
		`<style>p.q { display: none } .q { display: block }</style><p class=q>X</p>`,
		`<style>p#q { display: none } .a.b { display: block }</style><p class="a b" style="display:none">X</p>`,
		`<style>.a .q { display: block }</style><p class=q style="display:none">X</p>`,
		`<style>P, I { display: none }</style><i>X</i>`,
		`<style>.\71 { display: none }</style><p class=q>X</p>`,
		`<style>* { display: none }</style><p>X</p>`,
		`<style><!-- .q { display: none }</style><p class=q>X</p>`,
		`<style>.q { display: none } --></style><p class=q>X</p>`,
		`<p style="color:#fff;background:rgb(255,255,255)">X</p>`,
		`<p style="color:rgba(9,9,9,1);background:rgb(9 9 9)">X</p>`,
		`<p style="font-size:0.01in">X</p>`,
		`<style>@media screen { .q { display: none } }</style><p class=q>X</p>`,
		`<p class=q>X</p><style>.q { display: none }</style>`,
		"<style>.q { display: none }</style><p class='a\tq'>X</p>",
		`<style>.q { display: none } .q { color: red }</style><p class=q>X</p>`,
		`<style>.q { display: block } .q { display: none }</style><p class=q>X</p>`,
		`<style>#q { display: none } .b { display: block }</style><p id=q class=b>X</p>`,
		`<style>.q { display: none !important }</style><p class=q style="display:block">X</p>`,
		`<style>a:after { content: "}" } .q { display: none }</style><p class=q>X</p>`,
		`<style>@supports (a:b) { @media all { .a { color: red } } } .q { display: none }</style><p class=q>X</p>`,
		`<p style="display:/**/none">X</p>`,
		`<p style="d\isplay:\6e one">X</p>`,
		`<p style="display:none;display:bogus">X</p>`,
		`<p style="visibility:hidden;visibility:bogus">X</p>`,
		`<div style="visibility:hidden"><p style="visibility:inherit">X</p></div>`,
		`<p style="font-size:0;font-size:bogus">X</p>`,
		`<p style="opacity:0%">X</p>`,
		`<p style="color:transparent">X</p>`,
		`<p style="color:rgba(0,0,0,0)">X</p>`,
		`<p style="color:#fff0">X</p>`,
		`<p style="color:#12345600">X</p>`,
		`<p style="color:#ffff;background:#ffffffff">X</p>`,
		`<p style="color:rgb(255 255 255);background:#fff none">X</p>`,
		`<div style="color:#fff;background:#fff"><p style="color:inherit;background:transparent">X</p></div>`,
		`<div style="color:#fff;background:#fff"><a name=a>X</a></div>`,
		`<select><option>one<option>X</select>`,
		`<select size=1><option>one</option><option>X</option></select>`,
		`<noscript><p style="display:none">X</p></noscript>`,
		`<style>u { display: inline-block; width: 0; overflow: hidden; white-space: nowrap }</style><u>X</u>`,
		`<div style="max-height:0px;overflow:hidden">X</div>`,
		`<div style="overflow-y:hidden;height:2px"><p>X</p></div>`,
		`<p style="overflow:clip;width:0.0em">X</p>`,
		`<span style="display:block;overflow:auto;max-width:0%">X</span>`,
		`<div style="height:50px;max-height:0;overflow:hidden;padding:0">X</div>`,
		`<style>.q { height: 0; overflow: hidden } .a .q { padding: 0 }</style><p class=q>X</p>`,
		`<div style="overflow:hidden;height:0;position:absolute">X</div>`,
		`<p style="color:white">X</p>`,
		`<p style="color:#fdfdfd">X</p>`,
		`<table><td style="background-color:rgba(0,0,0,0);color:#fff">X</td></table>`,
		`<table bgcolor=transparent><td style="background:#fff"><b style="background:#fff0;color:#fff">X</b></td></table>`,
		`<div style="background:#fff"><b style="background:none;color:#fff">X</b></div>`,
		`<table bgcolor=transparent><td style="color:#fff">X</td></table>`,
	} {
		blocks, hidden, _ := htmlText(long+in+"tail", true)
		if got := joined(blocks); strings.Contains(got, "X") || !strings.HasSuffix(got, "tail") || !strings.Contains(hidden, "X") {
			t.Errorf("%q: shows %q, hides %q", in, got, hidden)
		}
	}
}

func TestHTMLNotHidden(t *testing.T) {
	other, same := "x", "xx" // of one number, as some tags are that HTML does not know
	for tagOf([]byte(same)) != tagOf([]byte(other)) {
		same += "x"
	}
	var attributes string
	for i := range maxAttributes {
		attributes += fmt.Sprintf(" a%d", i)
	}
	for _, in := range []string{
		`<div style="font-size:0"><p style="font-size:12px">X</p></div>`,
		`<div style="visibility:hidden"><p style="visibility:visible">X</p></div>`,
		`<p style="display:none">h<p>X`,
		`<p style="display:none">h<div>X</div>`,
		`<table><tr><td style="display:none">h<td>X</table>`,
		`<ul><li hidden>h<li>X</ul>`,
		`<table><td bgcolor=blue><font color=white>X</font></td></table>`,
		`<div style="overflow:hidden;height:20px">X</div>`,
		`<div style="overflow:hidden;height:3px">X</div>`,
		`<div style="overflow:hidden;height:1em">X</div>`,
		`<div style="height:0">X</div>`,
		`<span style="overflow:hidden;width:0">X</span>`,
		`<table><tr><td style="overflow:hidden;width:0">X</table>`,
		`<table><tr><td style="overflow:hidden;width:0;display:block">X</table>`,
		`<table style="overflow:hidden;height:0"><tr><td>X</table>`,
		`<body style="display:block;overflow:hidden;height:0">X`,
		`<fieldset style="overflow:hidden;width:0">X</fieldset>`,
		`<div style="overflow:hidden;height:0%">X</div>`,
		`<div style="overflow:hidden;height:0;padding-bottom:20px">X</div>`,
		`<div style="overflow:hidden;height:0;min-height:20px">X</div>`,
		`<div style="overflow:hidden;height:0;overflow:visible">X</div>`,
		`<div style="overflow:hidden;height:0;height:auto">X</div>`,
		`<div style="overflow:hidden;height:0;display:inline">X</div>`,
		`<div style="overflow:hidden;height:0"><p style="position:absolute">X</p></div>`,
		`<style>@media x { .q { max-height: none !important } }</style><div class=q style="overflow:hidden;max-height:0">X</div>`,
		`<style>@media x { .q { overflow: visible !important } }</style><div class=q style="overflow:hidden;max-height:0">X</div>`,
		`<style>.a .q { display: block } .q { height: 0; overflow: hidden }</style><span class=q>X</span>`,
		`<style>@media print { .q { display:none } }</style><p class=q>X</p>`,
		`<br style="display:none">X`,
		`<div style="font-size:0"><p style="font-size:medium">X</p></div>`,
		`<p style="font:700 12px/1 serif">X</p>`,
		`<p style="font-size:1.2em">X</p>`,
		`<p style="font-size:90%">X</p>`,
		`<p style="color:rgb(300,0,0);background:rgb(1,2)">X</p>`,
		`<p style="color:#fff;background:url(x)">X</p>`,
		`<p style="color:#ff;background:#ff">X</p>`,
		`<foo style="display:none">h<bar></foo>X`,
		`<p style="display:block!important;display:none">X</p>`,
		`<style>.q:after { display:none } .a .q { display:none }</style><p class=q>X</p>`,
		`<div style="color:#fff;background:#fff"><a href="http://x">X</a></div>`,
		`<div style="color:#fff;background:#fff;font-size:0"><button>X</button></div>`,
		`<p style="color:#fff;background-color:#fff;background-image:url(x)">X</p>`,
		`<p style="color:#fff;background:#fff linear-gradient(red,red)">X</p>`,
		`<table bgcolor=white><tr><td background=x><font color=white>X</font></table>`,
		`<font size=0>X</font>`,
		`<div style="font-size:0"><font size=0>X</font></div>`,
		`<div style="font-size:0;color:#fff;background:#fff"><table><tr><td>X</table></div>`,
		`<p hidden style="display:block">X</p>`,
		`<p style="mso-hide:all">X</p>`,
		`<p style="opacity:0;opacity:1">X</p>`,
		`<p style="font-size:0.5in">X</p>`,
		`<p style="font-size:calc(1px + 1em)">X</p>`,
		`<p style="font-size:-1px">X</p>`,
		`<p style="font-family:';display:none;'">X</p>`,
		`<p style="background:url(;display:none)">X</p>`,
		`<p style="dis/**/play:none">X</p>`,
		`<style>.q { display: none } .q { display: block }</style><p class=q>X</p>`,
		`<style>.q { display: none } .b { display: block }</style><p class="b q">X</p>`,
		`<style>.q { display: none }</style><p class=q style="display:block">X</p>`,
		`<style>.q { display: block !important }</style><p class=q style="display:none">X</p>`,
		`<p class=q style="display:none">X</p><style>.q { display: block !important }</style>`,
		`<style>div.q { display: none }</style><p class=q>X</p>`,
		`<style>/* .a { content: "*/ .q { display: block !important } /* " } */</style><p class=q style="display:none">X</p>`,
		`<style>@media (min-width:1px) { .q { display: block !important } }</style><p class=q style="display:none">X</p>`,
		`<style>@media (min-width:1px) { .q { color: #000 } }</style><p class=q bgcolor=white style="background:white">X</p>`,
		`<style>b, .a > p.q:not([x=". >"]) { display: block !important }</style><p class=q style="display:none">X</p>`,
		`<style media=print>.q { display: none }</style><p class=q>X</p>`,
		`<style type=text/plain>.q { display: none }</style><p class=q>X</p>`,
		`<style>x1 { display: none }</style><x2>X</x2>`,
		`<style>#q { display: none } .a .q { display: block }</style><p id=q class=q>X</p>`,
		`<style>@media x { .q { display: none } @font-face { a:b } .q { color: red } } .b { display: none }</style><p class=q>X</p>`,
		`<p style="color:#fff;background:rgb(255,255,255) url(x)">X</p>`,
		`<p style="color:rgba(255,255,255,.5,1);background:#fff">X</p>`,
		`<p style="opacity:6%">X</p>`,
		`<p style="visibility:hidden;visibility:initial">X</p>`,
		`<p style="display:none;display:inline-block">X</p>`,
		`<a href=x style="display:none">h<b><a href=y>X</a>`,
		`<div style="background:#fff"><a href=x><div style="background:#000"><p><a href=y style="color:#fff">X</a></p></div></div>`,
		`<a href=x hidden><div>h<a href=y>X</a></div>`,
		`<button hidden>h<button>X</button>`,
		`<h1 hidden>h<h2>X</h2>`,
		`<dl><dd hidden>h<dt>X</dl>`,
		`<dl><dt hidden>h<dd>X</dl>`,
		`<table hidden><p>X</p><tr><td>h</table>`,
		`<table hidden>X<tr><td>h</table>`,
		`<table><tr><td>a</td><div hidden><td>X</table>`,
		`<table><div hidden><tr><td>X</table>`,
		`<table><tr><td>a<tbody hidden><tr><td>h<tbody><tr><td>X</table>`,
		`<table><caption hidden>h<tr><td>X</table>`,
		`<table><tbody hidden><tr><td>h<tbody><tr><td>X</table>`,
		`<table><tr><td><table><caption hidden>h<tr><td>X</table></table>`,
		`<table><tr hidden><td>h<td><table><tr><td>i</table></td><tr><td>X</table>`,
		`<td hidden>X</td>`,
		`<tr hidden><b>X`,
		`<select><option>X</select>`,
		`<select size=2><option>one<option>X</select>`,
		`<select multiple><option>one<option>X</select>`,
		`<select><option>one<option>two<select>X`,
		`<noscript>X</noscript>`,
		`<p style="font-size:0;font:medium serif">X</p>`,
		`<p style="font-size:0;font:small-caps .9em serif">X</p>`,
		`<p style="font-size:0;font:menu">X</p>`,
		`<p style="font:8px 0">X</p>`,
		`<p style="display:none;all:initial">X</p>`,
		`<p style="visibility:hidden;all:unset">X</p>`,
		`<p style="display:none;display:-webkit-box">X</p>`,
		`<p style="color:transparent;text-shadow:0 0 0 #000;-webkit-text-fill-color:transparent">X</p>`,
		`<p style="background:linear-gradient(red,blue);-webkit-background-clip:text;color:transparent">X</p>`,
		`<p style="-webkit-text-stroke:1px #000"><b style="color:#fff;background:#fff">X</b></p>`,
		`<p style="background:#fff;color:#fff;box-shadow:inset 0 0 0 9em #000">X</p>`,
		`<style>.q { font-size: 0 } body .q { font-size: 1em }</style><p class=q>X</p>`,
		`<style>.q { visibility: hidden } @media x { .q { visibility: inherit } }</style><p class=q>X</p>`,
		`<style>.q { display: none } body { .q { display: block } }</style><p class=q>X</p>`,
		"<style>.a { content: \"\n} .q { display: block !important }</style><p class=q style=\"display:none\">X</p>",
		`<style>.a { b: ) } .q { display: block !important }</style><p class=q style="display:none">X</p>`,
		`<style>.\0000711 { display: block !important }</style><p class=q1 style="display:none">X</p>`,
		`<style>@media print { @media screen { .a { color: red } } .q { display: none } }</style><p class=q>X</p>`,
		`<style>.q.b { display: none }</style><p class=q>X</p>`,
		`<style>` + other + ` { display: none }</style><` + same + `>X</` + same + `>`,
		`<p style style="display:none">X</p>`,
		`<p style="background:#fff" color=red color=white>X</p>`,
		`<p hidden ` + attributes + ` style="display:block">X</p>`,
		`<head hidden>X`,
		`<frameset hidden>X`,
		`<nobr hidden>h<nobr>X`,
		`<ruby><rt hidden>h<rt>X`,
		`<image hidden>X`,
		`<keygen hidden>X`,
	} {
		if blocks, _, _ := htmlText(long+in, true); !strings.Contains(joined(blocks), "X") {
			t.Errorf("%q hides its text", in)
		}
	}
}

func TestHTMLAllHidden(t *testing.T) {
	blocks, _, _ := htmlText(`<div style="opacity:0">`+long+`</div>`, true)
	if got := joined(blocks); got != long {
		t.Errorf("a document that hides all it says shows %q", got)
	}
}

// A sender can put the rule that shows his text behind as many as are remembered.
func TestHTMLManyRules(t *testing.T) {
	var css strings.Builder
	for i := range maxRules {
		fmt.Fprintf(&css, ".c%d{color:red}", i)
	}
	for _, c := range []struct {
		css  string
		seen bool
	}{{"", false}, {css.String(), false}, {css.String() + ".q{display:block!important}", true}} {
		blocks, _, _ := htmlText("<style>"+c.css+`</style>`+long+`<p class=q style="display:none">X</p>`, true)
		if got := strings.Contains(joined(blocks), "X"); got != c.seen {
			t.Errorf("behind %d octets of CSS: seen %v, want %v", len(c.css), got, c.seen)
		}
	}
}

// A style element may stand within what it styles, above the first word.
func TestHTMLStyleWithin(t *testing.T) {
	for in, seen := range map[string]bool{
		`<p class=q style="display:none"><style>.q { display: block !important }</style>X</p>`:             true,
		`<div><div><div><p class=q><style>.q { display: none }</style>X</p></div></div></div>`:             false,
		`<html><head><style>.q { display: none }</style></head><body><p class=q>X</p>`:                     false,
		`<html><head><style>.q { display: block !important }</style><p class=q style="display:none">X</p>`: true,
	} {
		blocks, _, _ := htmlText(in+"<p>"+long, true)
		if got := strings.Contains(joined(blocks), "X"); got != seen {
			t.Errorf("%s: seen %v", in, got)
		}
	}
}

func TestHTMLQuoteLinks(t *testing.T) {
	blocks, _, links := htmlText(`a <a href="http://x.example/1">b</a><blockquote>in</blockquote><blockquote type=cite>q <a href="mailto:a@b">w</a></blockquote>`+
		`Bob wrote:<blockquote>r</blockquote>c<a href=" HTTPS://y.example">`, true)
	want := []Block{{Body, "a b\nin\n"}, {Quote, "q w\nBob wrote:\nr\n"}, {Body, "c\n"}}
	if !slices.Equal(blocks, want) {
		t.Errorf("blocks %q, want %q", blocks, want)
	}
	if want := []string{"http://x.example/1", "HTTPS://y.example"}; !slices.Equal(links, want) {
		t.Errorf("links %q, want %q", links, want)
	}
}

func TestHTMLReplies(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`yes<div class="gmail_quote"><div class="gmail_attr">On Monday, Bob wrote:</div><blockquote>q</blockquote></div>`, "BQQ"},
		{`<p>yes</p><hr><p><b>From:</b> a<br><b>Sent:</b> b<br><b>To:</b> c<br>any</p>`, "BHHHQ"},
		{`yes<div id=divRplyFwdMsg>From: a</div>`, "BQ"},
		{`yes<br>--&nbsp;<br>Bob`, "BSS"},
		{`yes<p>____________<br>X mailing list`, "BFF"},
	} {
		blocks, _, _ := htmlText(c.in, true)
		if got := letters(blocks); got != c.want {
			t.Errorf("%q: %s, want %s", c.in, got, c.want)
		}
	}
}

// Linear time rests on this: the stack is bounded, the counts of open elements are those of the
// stack, so that an end tag is searched for only where it closes something.
func checkWalk(t *testing.T, src string) {
	t.Helper()
	w := walk(src, nil, false, true)
	open := 0
	for _, n := range w.open {
		open += n
		if n < 0 {
			t.Errorf("negative count of open elements")
		}
	}
	if len(w.stack) > maxOpen || open != len(w.stack)-1 {
		t.Errorf("%d elements on the stack, %d counted as open", len(w.stack), open)
	}
}

func TestHTMLDeep(t *testing.T) {
	const n = 1_000_000
	for _, unit := range []string{"<div>", "<b><p>", "<p></b>", "</div>", "<table><tr><td>", "<x y>"} {
		src := strings.Repeat(unit, n/len(unit))
		checkWalk(t, src)
	}
	blocks, _, _ := htmlText(strings.Repeat("<div>", 600)+"a"+strings.Repeat("</div>", 600)+"b", true)
	if got := joined(blocks); got != "a\nb" {
		t.Errorf("text below 600 elements is %q", got)
	}
}

func FuzzHTML(f *testing.F) {
	for _, s := range []string{"<p style='display:none'>a<p>b", "<style>.a{display:none}</style><b class=a>x", "<table><tr><td>1<td>2</table>&nGt;<!-- c -->",
		"<blockquote>a<pre> b</blockquote>", "<font size=0 color=#fff><td bgcolor=white>x", "<?" + strings.Repeat("\x00", 30),
		"a<style media=x>@media y{b,.c:d[e='f']>g#h{display:block!important}}/*\\64 */p{color:rgb(1 2 3/0)}</style><p class='c d' hidden>",
		"<table>a<div><tr>b<td><select size=1><option>c<option>d<a href=x>e<a>f<noscript><h1>g<h2>h<dl><dd>i<dt>j"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		blocks, hidden, links := htmlText(src, true)
		size := len(hidden)
		for _, b := range blocks {
			size += len(b.Text)
			if strings.TrimSpace(b.Text) == "" || b.Kind > Footer {
				t.Errorf("block %d %q", b.Kind, b.Text)
			}
		}
		if size > 3*len(src)+16 { // a reference of five bytes can stand for six, and a NUL becomes U+FFFD, which is three
			t.Errorf("%d bytes of text of %d", size, len(src))
		}
		if len(links) > len(src)/8 {
			t.Errorf("%d links of %d bytes", len(links), len(src))
		}
		checkWalk(t, src)
	})
}
