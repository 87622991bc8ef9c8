package bench

import (
	"fmt"
	"math"
	"strings"
)

// The picture, in its own units: two panels of one width beside each other.
const (
	panelWidth, panelHeight = 300, 240
	marginX, marginY        = 70, 50
	pictureWidth            = 2*panelWidth + 3*marginX
	pictureHeight           = panelHeight + 2*marginY
)

// SVG is a picture of what lookups take in time and memory while the store grows. Both axes of both panels are
// logarithmic: a line that rises by one part while the other axis goes ten parts on is nearly flat.
func (r *Report) SVG() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", pictureWidth, pictureHeight)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", pictureWidth, pictureHeight)
	var times, memory []point
	for _, l := range r.Lookup {
		times = append(times, point{float64(l.Remembered), 1e6 / l.PerSPerCore})
		memory = append(memory, point{float64(l.Remembered), l.BytesPerMessage * float64(l.Remembered) / 1e6})
	}
	panel(&b, marginX, "time of a lookup, microseconds", times)
	panel(&b, 2*marginX+panelWidth, "memory, MB", memory)
	b.WriteString("</svg>\n")
	return b.String()
}

type point struct{ x, y float64 }

// panel draws points against remembered messages, with its left edge at x.
func panel(b *strings.Builder, x int, title string, points []point) {
	bottom := marginY + panelHeight
	fmt.Fprintf(b, `<text x="%d" y="%d" font-weight="bold">%s</text>`+"\n", x, marginY-20, title)
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="middle">remembered messages</text>`+"\n", x+panelWidth/2, bottom+38)
	right, up := decades(points, func(p point) float64 { return p.x }), decades(points, func(p point) float64 { return p.y })
	atX := func(v float64) float64 { return float64(x) + panelWidth*right.part(v) }
	atY := func(v float64) float64 { return float64(bottom) - panelHeight*up.part(v) }
	for e := right.low; e <= right.high; e++ {
		v := atX(math.Pow10(e))
		fmt.Fprintf(b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#ddd"/>`+"\n", v, marginY, v, bottom)
		fmt.Fprintf(b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n", v, bottom+18, power(e))
	}
	for e := up.low; e <= up.high; e++ {
		v := atY(math.Pow10(e))
		fmt.Fprintf(b, `<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#ddd"/>`+"\n", x, v, x+panelWidth, v)
		fmt.Fprintf(b, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n", x-6, v+4, power(e))
	}
	var line strings.Builder
	for _, p := range points {
		fmt.Fprintf(&line, "%.1f,%.1f ", atX(p.x), atY(p.y))
	}
	fmt.Fprintf(b, `<polyline points="%s" fill="none" stroke="#1f5fa8" stroke-width="2"/>`+"\n", strings.TrimSpace(line.String()))
	for _, p := range points {
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3.5" fill="#1f5fa8"/><text x="%.1f" y="%.1f" text-anchor="middle">%.3g</text>`+"\n",
			atX(p.x), atY(p.y), atX(p.x), atY(p.y)-8, p.y)
	}
}

// A span is an axis from one power of ten to another.
type span struct{ low, high int }

// decades is the least span that holds all points.
func decades(points []point, of func(point) float64) span {
	if len(points) == 0 {
		return span{0, 1}
	}
	low, high := math.Inf(1), math.Inf(-1)
	for _, p := range points {
		low, high = min(low, of(p)), max(high, of(p))
	}
	s := span{int(math.Floor(math.Log10(low))), int(math.Ceil(math.Log10(high)))}
	s.high = max(s.high, s.low+1)
	return s
}

// part is where a value lies on the axis: 0 at the low end, 1 at the high one.
func (s span) part(v float64) float64 {
	return (math.Log10(v) - float64(s.low)) / float64(s.high-s.low)
}

// power writes a power of ten.
func power(e int) string {
	if e >= 0 && e < 4 {
		return fmt.Sprintf("%.0f", math.Pow10(e))
	}
	return fmt.Sprintf(`10<tspan dy="-5" font-size="9">%d</tspan>`, e)
}
