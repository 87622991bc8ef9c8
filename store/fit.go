package store

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"spamsim/parse"
)

// A fit is what the site's own mail of one script shows the scale to be. Of unrelated mail the rates are exponentially
// distributed, with mean 1 where the scale is right: it is read off the lower quartile, which few related messages among
// the recent ones do not move, and trusted as far as there are messages. What reaches relatedSigma is left out. The zero
// value has seen nothing.
type fit struct {
	rates  []float32 // of the last maxRecent messages, in a ring: 0 to +Inf
	next   int
	log    float64   // of the scale
	seen   int       // since log was worked out
	others []float32 // rates that other nodes of the site tell of
}

const (
	maxRecent     = 2048
	refitEvery    = 64
	priorRecent   = 200 // messages that the shipped figures are worth
	relatedSigma  = 3.0
	minScale      = 0.4 // bounds of the scale: whoever sends odd mail to move it does not get far
	maxScale      = 1.5
	lowerQuartile = 0.25
)

func (f *fit) scale() float64 { return math.Exp(f.log) }

// observe takes the rate of the best match of a message that was counted.
func (f *fit) observe(rate float64) {
	if deviate(f.scale()*rate) >= relatedSigma {
		return
	}
	if len(f.rates) < maxRecent {
		f.rates = append(f.rates, float32(rate))
	} else {
		f.rates[f.next%maxRecent] = float32(rate)
	}
	f.next = (f.next + 1) % maxRecent
	if f.seen++; f.seen >= refitEvery {
		f.refit()
	}
}

func (f *fit) refit() {
	f.seen = 0
	n := len(f.rates) + len(f.others)
	if n < refitEvery {
		return
	}
	sorted := slices.Concat(f.rates, f.others)
	slices.Sort(sorted)
	quartile := float64(sorted[int(lowerQuartile*float64(n))])
	scale := max(minScale, min(maxScale, -math.Log1p(-lowerQuartile)/quartile))
	f.log = math.Log(scale) * float64(n) / float64(n+priorRecent)
}

// A Calibration compares what sigma says with what was seen of the recent messages of one script that matched nothing.
type Calibration struct {
	Script   parse.Script
	Messages int     // observed
	Scale    float64 // of the rates; 1 is the shipped figure
	Over     [3]int  // how many reached a sigma of 1, 2 and 2.5
}

// CalibrationSigma are the levels of Calibration.Over, and CalibrationChance is what share of unrelated mail reaches them
// where sigma is true.
var (
	CalibrationSigma  = [3]float64{1, 2, 2.5}
	CalibrationChance = [3]float64{0.158655, 0.022750, 0.006210}
)

// calibration reports on the recent messages.
func (f *fit) calibration(script parse.Script) Calibration {
	c := Calibration{Script: script, Messages: len(f.rates), Scale: f.scale()}
	for _, r := range f.rates {
		sigma := deviate(c.Scale * float64(r))
		for i, level := range CalibrationSigma {
			if sigma >= level {
				c.Over[i]++
			}
		}
	}
	return c
}

// Calibrations reports how true sigma is on the recent mail of each script that there was any of.
func (s *Store) Calibrations() []Calibration {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Calibration
	for script := range s.fits {
		if len(s.fits[script].rates) > 0 {
			out = append(out, s.fits[script].calibration(parse.Script(script)))
		}
	}
	return out
}

// saveRecentEvery is after how many messages their rates are written to the file.
const saveRecentEvery = 256

// marshalFits is what the file keeps: for each script u16 how many rates, then each as the bits of a float32, the oldest
// first, all little endian.
func (s *Store) marshalFits() []byte {
	le := binary.LittleEndian
	var b []byte
	for i := range s.fits {
		f := &s.fits[i]
		b = le.AppendUint16(b, uint16(len(f.rates)))
		for k := range f.rates {
			b = le.AppendUint32(b, math.Float32bits(f.rates[(f.next+k)%len(f.rates)]))
		}
	}
	return b
}

func (s *Store) loadFits(data []byte) error {
	r := reader{data: data}
	for i := range s.fits {
		f := &s.fits[i]
		for range r.room(4) {
			rate := math.Float32frombits(r.u32())
			if math.IsNaN(float64(rate)) || rate < 0 || len(f.rates) == maxRecent {
				return fmt.Errorf("recent rates: %w", ErrRecord)
			}
			f.rates = append(f.rates, rate)
		}
		f.next = len(f.rates) % maxRecent
		f.refit()
	}
	if r.cut || len(r.data) > 0 {
		return fmt.Errorf("recent rates: %w", ErrRecord)
	}
	return nil
}
