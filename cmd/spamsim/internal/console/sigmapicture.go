package console

import (
	"fmt"
	"html/template"
	"math"
	"strings"
)

// The picture of what sigma means: two histograms over one axis of sigma. Above is mail that was no copy of anything, with
// the curve that it would follow if the null distribution were true of it; below is what was judged of late. Both count on a
// scale of log(1 + n): unrelated mail at sigma 3 is one message of several hundred, and would not be seen on a straight one.

// Of the histograms.
const (
	binWidth = 0.25
	bins     = 32 // up to sigma 8, where store ends
	upperTop = 16
	upperEnd = 210 // the line of 0 above
	lowerTop = 250
	lowerEnd = 380
	sigmaEnd = 440 // the picture's height
)

// histogram counts values by bins of sigma; what is beyond the last is in it.
func histogram(values []float64) (n [bins]int) {
	for _, v := range values {
		n[max(0, min(bins-1, int(v/binWidth)))]++
	}
	return n
}

// tail is the chance that a normal deviate reaches sigma.
func tail(sigma float64) float64 { return math.Erfc(sigma/math.Sqrt2) / 2 }

// expected is how many of n unrelated messages have a sigma in a bin where the null distribution is true. Half of all are
// not above 0, and are in the first.
func expected(n, bin int) float64 {
	from := 1.0
	if bin > 0 {
		from = tail(float64(bin) * binWidth)
	}
	if bin == bins-1 {
		return float64(n) * from
	}
	return float64(n) * (from - tail(float64(bin+1)*binWidth))
}

// A logScale is an axis of log(1 + n).
type logScale struct {
	top    float64
	y0, y1 float64
}

func newLogScale(most int, y0, y1 float64) logScale {
	top := 10
	for top < most {
		top *= 10
	}
	return logScale{math.Log1p(float64(top)), y0, y1}
}

func (s logScale) at(n float64) float64 { return s.y0 + (s.y1-s.y0)*math.Log1p(n)/s.top }

func (p *picture) logAxis(s logScale) {
	p.line("grid", chartLeft, s.y0, float64(p.width), s.y0)
	p.text("tick", "end", chartLeft-6, s.y0+4, "0")
	for n := 1; math.Log1p(float64(n)) <= s.top+1e-9; n *= 10 {
		y := s.at(float64(n))
		p.line("grid", chartLeft, y, float64(p.width), y)
		p.text("tick", "end", chartLeft-6, y+4, number(n))
	}
}

func sigmaX(sigma float64) float64 {
	return chartLeft + (chartWidth-chartLeft)*math.Max(0, math.Min(sigma, bins*binWidth))/(bins*binWidth)
}

// most is the highest of some columns.
func mostOf(lists ...[bins]int) (n int) {
	for _, list := range lists {
		for _, v := range list {
			n = max(n, v)
		}
	}
	return n
}

// sigmaPicture draws the picture. Mark is the sigma of a message at hand, negative where there is none.
func sigmaPicture(unrelated, bulk, other []float64, threshold, mark float64) template.HTML {
	p := newPicture(chartWidth, sigmaEnd, "chart", "Recent mail by sigma beside the null distribution, with the threshold; the numbers are in the table below")
	null, flagged, rest := histogram(unrelated), histogram(bulk), histogram(other)
	var both [bins]int
	for i := range both {
		both[i] = flagged[i] + rest[i]
	}
	upper := newLogScale(max(mostOf(null), int(expected(len(unrelated), 0))), upperEnd, upperTop)
	lower := newLogScale(mostOf(both), lowerEnd, lowerTop)
	p.rect("beyond", sigmaX(threshold), upperTop, chartWidth-sigmaX(threshold), lowerEnd-upperTop, "")
	p.logAxis(upper)
	p.logAxis(lower)
	wide := sigmaX(binWidth) - chartLeft
	for i := range bins {
		x := sigmaX(float64(i) * binWidth)
		span := fmt.Sprintf("sigma %.2f to %.2f", float64(i)*binWidth, float64(i+1)*binWidth)
		if n := null[i]; n > 0 {
			p.rect("k-null", x+1, upper.at(float64(n)), wide-2, upperEnd-upper.at(float64(n)), fmt.Sprintf("%s: %d, expected %.1f", span, n, expected(len(unrelated), i)))
		}
		if n := both[i]; n > 0 {
			p.rect("k-clean", x+1, lower.at(float64(n)), wide-2, lowerEnd-lower.at(float64(n)), fmt.Sprintf("%s: %d, of them %d bulk", span, n, flagged[i]))
		}
		if n := flagged[i]; n > 0 {
			p.rect("k-bulk", x+1, lower.at(float64(n)), wide-2, lowerEnd-lower.at(float64(n)), fmt.Sprintf("%s: %d bulk", span, n))
		}
	}
	p.nullCurve(len(unrelated), upper)
	p.sigmaAxis(threshold, mark)
	return p.done()
}

// nullCurve draws what is expected of unrelated mail, bin by bin. In the first is more than half of it: what has a sigma
// of 0.
func (p *picture) nullCurve(n int, s logScale) {
	if n == 0 {
		return
	}
	var points strings.Builder
	for i := range bins {
		y := s.at(expected(n, i))
		fmt.Fprintf(&points, "%.1f,%.1f %.1f,%.1f ", sigmaX(float64(i)*binWidth), y, sigmaX(float64(i+1)*binWidth), y)
	}
	fmt.Fprintf(p, `<polyline class="curve" points="%s"/>`, strings.TrimSpace(points.String()))
}

// sigmaAxis writes what is below and over the histograms.
func (p *picture) sigmaAxis(threshold, mark float64) {
	for i := 0; i <= bins*binWidth; i++ {
		x := sigmaX(float64(i))
		p.line("grid", x, lowerEnd, x, lowerEnd+5)
		anchor := "middle"
		if i == bins*binWidth {
			anchor = "end"
		}
		p.text("tick", anchor, x, lowerEnd+20, fmt.Sprint(i))
	}
	p.text("tick", "middle", sigmaX(4), sigmaEnd-6, "sigma: how improbable the best match is for unrelated mail")
	p.text("label", "end", chartWidth-4, upperTop+14, "mail that was no copy of anything")
	p.text("label", "end", chartWidth-4, lowerTop+2, "what was judged of late")
	x := sigmaX(threshold)
	p.line("threshold", x, upperTop, x, lowerEnd)
	p.text("label", "start", x+6, upperTop+34, fmt.Sprintf("threshold %.1f: one unrelated message in %s", threshold, number(int(math.Round(1/tail(threshold))))))
	if mark >= 0 {
		x := sigmaX(mark)
		p.line("here", x, upperTop+42, x, lowerEnd)
		anchor, dx := "start", 6.0
		if mark > 5 {
			anchor, dx = "end", -6
		}
		p.text("label", anchor, x+dx, upperTop+56, fmt.Sprintf("this message: %.2f", mark))
	}
}
