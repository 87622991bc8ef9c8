package store

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sync"

	"github.com/cespare/xxhash/v2"

	"spamsim/parse"
)

// A Calibrator fits the background to a site's own mail and measures how true sigma is on it. Two halves of the mail
// are held each against a background without it, so that no message tells of itself. The zero value is empty; it keeps
// what it needs of at most maxCalibrated messages, drawn evenly.
type Calibrator struct {
	sample []sampled
	Seen   int // messages added that say enough to be judged
	draw   *rand.Rand
}

// A sampled message is one that the calibration is made of.
type sampled struct {
	trace    *Trace
	shingles []uint64
}

const (
	maxCalibrated   = 20_000
	minCalibrated   = 500 // messages below which a site's own background is not to be trusted
	shingleWords    = 4
	relatedShingles = 0.1 // the share of a message's shingles that others have, from which it is related
)

// Add takes a message. Nothing of its text is kept.
func (c *Calibrator) Add(t *Trace) {
	if t.Tokens < minTokens {
		return
	}
	if c.draw == nil {
		c.draw = rand.New(rand.NewPCG(1, 1))
	}
	c.Seen++
	kept := *t
	x := sampled{&kept, shinglesOf(t.Text)}
	kept.Text = ""
	if len(c.sample) < maxCalibrated {
		c.sample = append(c.sample, x)
	} else if i := c.draw.IntN(c.Seen); i < maxCalibrated {
		c.sample[i] = x
	}
}

// shinglesOf returns the distinct hashes of each shingleWords words in a row.
func shinglesOf(text string) []uint64 {
	words := parse.AppendTokens(nil, text)
	var out []uint64
	hashes := make([]uint64, len(words))
	for i, w := range words {
		hashes[i] = xxhash.Sum64String(w)
		if i+1 >= shingleWords {
			h := uint64(0)
			for _, x := range hashes[i+1-shingleWords : i+1] {
				h = mix(h ^ x)
			}
			out = append(out, h)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Unrelated returns the traces, without their texts, of the messages that have little in common with any other.
func (c *Calibrator) Unrelated() []*Trace {
	holders := map[uint64]uint16{}
	for _, x := range c.sample {
		for _, h := range x.shingles {
			holders[h] = min(2, holders[h]+1)
		}
	}
	var out []*Trace
	for _, x := range c.sample {
		shared := 0
		for _, h := range x.shingles {
			if holders[h] > 1 {
				shared++
			}
		}
		if float64(shared) <= relatedShingles*float64(len(x.shingles)) {
			out = append(out, x.trace)
		}
	}
	return out
}

// A CalibrationReport is the evidence for what sigma says on the mail that was given.
type CalibrationReport struct {
	Messages  int    // that the calibration is made of
	Unrelated int    // of these, those that have little in common with any other
	Stored    [2]int // how many of these were stored in each half
	Pairs     int    // of a message and one stored, held against each other
	// Shipped and Fitted are the shares with the background of before and with that of the other half of this mail.
	Shipped, Fitted []Calibration
}

// ErrFewMessages is returned where there is too little mail to fit a background to.
var ErrFewMessages = errors.New("too little mail")

// Report measures. Each half of the unrelated mail is a store for half of itself.
func (c *Calibrator) Report(s *Store) (CalibrationReport, error) {
	r := CalibrationReport{Messages: len(c.sample)}
	if r.Messages < minCalibrated {
		return r, fmt.Errorf("%w: %d messages of %d words and more, %d are needed", ErrFewMessages, r.Messages, minTokens, minCalibrated)
	}
	all := c.Unrelated()
	r.Unrelated = len(all)
	draw := rand.New(rand.NewPCG(2, 2))
	draw.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	halves := [2][]*Trace{all[:len(all)/2], all[len(all)/2:]}
	var shipped, fitted [parse.CJK + 1]fit
	for i, half := range halves {
		b := newBuilder(s.memory.back)
		for _, t := range halves[1-i] {
			b.Add(t)
		}
		other, err := readBackground(b.Bytes())
		if err != nil {
			return r, err
		}
		r.Stored[i] = len(half) / 2
		r.Pairs += r.Stored[i] * (len(half) - r.Stored[i])
		nullRates(half, s.memory.back, &shipped)
		nullRates(half, other, &fitted)
	}
	r.Shipped, r.Fitted = calibrations(&shipped), calibrations(&fitted)
	return r, nil
}

// nullRates holds the second half of some messages against the first.
func nullRates(ts []*Trace, back *background, fits *[parse.CJK + 1]fit) {
	s := &Store{memory: memory{back: back}}
	for i, t := range ts[:len(ts)/2] {
		c := &cluster{seq: uint64(i)}
		s.memory.begin(c, s.memory.query(t))
		s.memory.place(c)
	}
	for _, t := range ts[len(ts)/2:] {
		rate := math.Inf(1)
		for _, m := range s.memory.matches(s.memory.query(t)) {
			rate = min(rate, s.rate(&m, t))
		}
		f := &fits[t.Script]
		f.rates = append(f.rates, float32(rate))
	}
}

// calibrations are those of the scripts that there is mail of, by the scale that it shows.
func calibrations(fits *[parse.CJK + 1]fit) []Calibration {
	var out []Calibration
	for script := range fits {
		if f := &fits[script]; len(f.rates) > 0 {
			f.refit()
			out = append(out, f.calibration(parse.Script(script)))
		}
	}
	return out
}

// Background is the one of the store with what this mail adds to it, as readBackground reads it.
func (c *Calibrator) Background(s *Store) []byte {
	b := newBuilder(s.memory.back)
	for _, x := range c.sample {
		b.Add(x.trace)
	}
	return b.Bytes()
}

// newBuilder begins with what a background counted.
func newBuilder(back *background) *BackgroundBuilder {
	b := &BackgroundBuilder{messages: int(back.messages), counts: map[uint32]int{}}
	for _, slot := range back.counts.slots {
		if step := int(uint32(slot)) - 1; step >= 0 {
			b.counts[uint32(slot>>32)] = int(math.Round(math.Exp2(float64(step) / commonScale)))
		}
	}
	return b
}

// BackgroundFile is where a store looks for a site's own background: beside the file, under its name and this.
const BackgroundFile = ".background"

// shippedBackground is read once: it takes a tenth of a second, and nobody changes it.
var shippedBackground = sync.OnceValues(func() (*background, error) { return readBackground(shipped) })

// openBackground reads the background that is given, else the site's own, or where there is none the shipped one.
func openBackground(path string, given []byte) (*background, error) {
	if given != nil {
		return readBackground(given)
	}
	if path == "" {
		return shippedBackground()
	}
	data, err := os.ReadFile(path + BackgroundFile)
	if errors.Is(err, os.ErrNotExist) {
		return shippedBackground()
	}
	if err != nil {
		return nil, fmt.Errorf("background of this site: %w", err)
	}
	back, err := readBackground(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: remove it, or fit it anew with \"spamsim calibrate\"", path+BackgroundFile, err)
	}
	return back, nil
}
