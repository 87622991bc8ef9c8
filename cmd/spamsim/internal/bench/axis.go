package bench

import (
	"fmt"
	"iter"
	"math"
)

// An axis of a picture.
type axis interface {
	part(v float64) float64    // where a value lies: 0 at the low end, 1 at the high one
	lines() iter.Seq[float64]  // the values that have a line
	label(line float64) string // what is written beside a line
}

// A span is a logarithmic axis from one power of ten to another.
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

func (s span) part(v float64) float64 {
	return (math.Log10(v) - float64(s.low)) / float64(s.high-s.low)
}

func (s span) lines() iter.Seq[float64] {
	return func(yield func(float64) bool) {
		for e := s.low; e <= s.high && yield(math.Pow10(e)); e++ {
		}
	}
}

func (s span) label(line float64) string {
	e := int(math.Round(math.Log10(line)))
	if e >= 0 && e < 4 {
		return fmt.Sprintf("%.0f", line)
	}
	return fmt.Sprintf(`10<tspan dy="-5" font-size="9">%d</tspan>`, e)
}

// A share is a linear axis from some part of a hundred to all of it.
type share struct{ low float64 }

// percents is the least share that holds all points, of those that begin at 99, at 90 and at 0.
func percents(points []point) share {
	low := 100.0
	for _, p := range points {
		low = min(low, p.y)
	}
	switch {
	case low >= 99:
		return share{99}
	case low >= 90:
		return share{90}
	}
	return share{0}
}

func (s share) part(v float64) float64 { return (v - s.low) / (100 - s.low) }

func (s share) lines() iter.Seq[float64] {
	return func(yield func(float64) bool) {
		for i := 0; i <= 5 && yield(s.low+(100-s.low)*float64(i)/5); i++ {
		}
	}
}

func (s share) label(line float64) string { return fmt.Sprintf("%.4g", line) }
