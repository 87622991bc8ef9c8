package bench

import (
	"fmt"
	"strings"
)

// The picture, in its own units: panels of one width beside each other.
const (
	panelWidth, panelHeight = 300, 240
	marginX, marginY        = 70, 50
	panels                  = 3
	pictureWidth            = panels*panelWidth + (panels+1)*marginX
	pictureHeight           = panelHeight + 2*marginY
)

// SVG is a picture of what lookups take in time and memory while the store grows, and of how many of them find what a scan of
// all clusters finds. But for that share all axes are logarithmic: a line that rises by one part while the other axis goes
// ten parts on is nearly flat.
func (r *Report) SVG() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", pictureWidth, pictureHeight)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", pictureWidth, pictureHeight)
	var times, memory, recall []point
	for _, l := range r.Lookup {
		n := float64(l.Remembered)
		times = append(times, point{n, 1e6 / l.PerSPerCore})
		memory = append(memory, point{n, l.BytesPerMessage * n / 1e6})
		recall = append(recall, point{n, 100 * l.SameVerdicts})
	}
	y := func(p point) float64 { return p.y }
	panel(&b, 0, "time of a lookup, microseconds", times, decades(times, y))
	panel(&b, 1, "memory, MB", memory, decades(memory, y))
	panel(&b, 2, "verdicts as by a scan of all, %", recall, percents(recall))
	b.WriteString("</svg>\n")
	return b.String()
}

type point struct{ x, y float64 }

// panel draws points against remembered messages, in the place that its number says.
func panel(b *strings.Builder, number int, title string, points []point, up axis) {
	x, bottom := marginX+number*(marginX+panelWidth), marginY+panelHeight
	fmt.Fprintf(b, `<text x="%d" y="%d" font-weight="bold">%s</text>`+"\n", x, marginY-20, title)
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">remembered messages</text>`+"\n", x+panelWidth/2, bottom+38)
	right := decades(points, func(p point) float64 { return p.x })
	atX := func(v float64) float64 { return float64(x) + panelWidth*right.part(v) }
	atY := func(v float64) float64 { return float64(bottom) - panelHeight*up.part(v) }
	for v := range right.lines() {
		fmt.Fprintf(b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#ddd"/>`+"\n", atX(v), marginY, atX(v), bottom)
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", atX(v), bottom+18, right.label(v))
	}
	for v := range up.lines() {
		fmt.Fprintf(b, `<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#ddd"/>`+"\n", x, atY(v), x+panelWidth, atY(v))
		fmt.Fprintf(b, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", x-6, atY(v)+4, up.label(v))
	}
	var line strings.Builder
	for _, p := range points {
		fmt.Fprintf(&line, "%.1f,%.1f ", atX(p.x), atY(p.y))
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="#1f5fa8" stroke-width="2"/>`+"\n", strings.TrimSpace(line.String()))
	for _, p := range points {
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="#1f5fa8"/><text x="%.1f" y="%.1f" text-anchor="middle">%.4g</text>`+"\n",
			atX(p.x), atY(p.y), atX(p.x), atY(p.y)-8, p.y)
	}
}
