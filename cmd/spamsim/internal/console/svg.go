package console

import (
	"fmt"
	"html/template"
	"math"
	"strings"
	"time"
)

// A picture is an SVG in the making. Its colours are those of classes in the style sheet, so that they follow the page into
// the dark. All of its text is made here: nothing of any message comes into a picture.
type picture struct {
	strings.Builder
	width, height int
}

// newPicture begins one of a size in its own units; title says to those who do not see it what it shows.
func newPicture(width, height int, class, title string) *picture {
	p := &picture{width: width, height: height}
	fmt.Fprintf(p, `<svg class="%s" viewBox="0 0 %d %d" role="img" aria-label="%s">`, class, width, height, template.HTMLEscapeString(title))
	return p
}

func (p *picture) done() template.HTML {
	p.WriteString("</svg>")
	return template.HTML(p.String())
}

func (p *picture) rect(class string, x, y, width, height float64, tip string) {
	fmt.Fprintf(p, `<rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%.1f">`, class, x, y, width, height)
	if tip != "" {
		fmt.Fprintf(p, `<title>%s</title>`, template.HTMLEscapeString(tip))
	}
	p.WriteString(`</rect>`)
}

func (p *picture) line(class string, x1, y1, x2, y2 float64) {
	fmt.Fprintf(p, `<line class="%s" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, class, x1, y1, x2, y2)
}

// text writes at a point; anchor is start, middle or end.
func (p *picture) text(class, anchor string, x, y float64, text string) {
	fmt.Fprintf(p, `<text class="%s" text-anchor="%s" x="%.1f" y="%.1f">%s</text>`, class, anchor, x, y, template.HTMLEscapeString(text))
}

// The frame of a chart, in the picture's units.
const (
	chartWidth  = 960
	chartHeight = 230
	chartLeft   = 46
	chartTop    = 12
	chartBottom = 26
)

// ceiling is the lowest of 4, 10, 20, 40, 100, 200, ... that is not below n: its half and quarter are good to read.
func ceiling(n int) int {
	for step := 1; ; step *= 10 {
		for _, top := range []int{4 * step, 10 * step, 20 * step} {
			if n <= top {
				return top
			}
		}
	}
}

// A scale is the vertical axis of a chart from 0 to top, drawn between y0 and y1.
type scale struct {
	top    int
	y0, y1 float64 // of 0 and of top
}

func (s scale) at(n int) float64 { return s.y0 + (s.y1-s.y0)*float64(n)/float64(s.top) }

// axis draws the lines of the vertical axis at 0, the half and the top.
func (p *picture) axis(s scale) {
	for _, n := range []int{0, s.top / 2, s.top} {
		p.line("grid", chartLeft, s.at(n), float64(p.width), s.at(n))
		p.text("tick", "end", chartLeft-6, s.at(n)+4, number(n))
	}
}

// trafficPicture piles up the verdicts of each column.
func trafficPicture(columns []column, each time.Duration) template.HTML {
	p := newPicture(chartWidth, chartHeight, "chart", "Messages by verdict; the numbers are in the table below")
	most := 0
	for _, c := range columns {
		most = max(most, c.total())
	}
	s := scale{ceiling(most), chartHeight - chartBottom, chartTop}
	p.axis(s)
	wide := float64(chartWidth-chartLeft) / float64(len(columns))
	for i, c := range columns {
		x, piled := chartLeft+float64(i)*wide, 0
		for _, k := range kindWords {
			n := c.N[k.Kind]
			if n == 0 {
				continue
			}
			p.rect("k-"+k.Word, x+.5, s.at(piled+n), wide-1, s.at(piled)-s.at(piled+n), fmt.Sprintf("%s UTC: %d %s", day(c.From), n, k.Word))
			piled += n
		}
	}
	p.clock(columns[0].From, wide, each, len(columns))
	return p.done()
}

// clock writes the hours below a chart whose columns have a width and stand for some time each.
func (p *picture) clock(from time.Time, wide float64, each time.Duration, columns int) {
	every, form := 3*time.Hour, "15:04"
	switch span := time.Duration(columns) * each; {
	case span <= 4*time.Hour:
		every = 15 * time.Minute
	case span > 48*time.Hour:
		every, form = 24*time.Hour*time.Duration(1+int(span.Hours())/24/10), "01-02"
	}
	end := from.Add(time.Duration(columns) * each)
	for t := from.UTC().Truncate(every); t.Before(end); t = t.Add(every) {
		x := chartLeft + wide*float64(t.Sub(from))/float64(each)
		if x < chartLeft || x > float64(p.width)-20 {
			continue
		}
		p.line("grid", x, float64(p.height-chartBottom), x, float64(p.height-chartBottom)+5)
		p.text("tick", "middle", x, float64(p.height)-6, t.Format(form))
	}
}

func (c *column) total() (n int) {
	for _, k := range c.N {
		n += k
	}
	return n
}

// A spark is a row of bars as large as a word.
func spark(values []int) template.HTML {
	most, sum := 1, 0
	for _, v := range values {
		most, sum = max(most, v), sum+v
	}
	const high, wide = 22, 3
	p := newPicture(wide*len(values), high, "spark", fmt.Sprintf("%d messages, at most %d at a time", sum, most))
	p.line("grid", 0, high-.5, float64(p.width), high-.5)
	for i, v := range values {
		if v > 0 {
			tall := math.Max(2, float64(v)*(high-2)/float64(most))
			p.rect("k-bulk", float64(wide*i), high-tall, wide-1, tall, "")
		}
	}
	return p.done()
}
