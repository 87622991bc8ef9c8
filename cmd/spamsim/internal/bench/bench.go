// Package bench measures spamsim on this machine: the digest, the scan, the search in a store that grows, and the whole
// way of a message through the SMTP proxy. Mail is made up (see writer), and everything else is the real thing.
//
// A machine has other work to do, and that can only make a time longer: where something is measured several times, the
// least counts.
package bench

import (
	"context"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"
)

// Parts are what can be measured, in this order.
var Parts = []string{"digest", "scan", "lookup", "whole"}

// Options say what to measure, and how long that may take. Every field but Tell and Remember is required.
type Options struct {
	Parts    []string
	Codes    []int         // sizes of the sets that are scanned, rising
	Sizes    []int         // remembered messages at which lookups are measured, rising
	Fill     time.Duration // how long remembering them may take, the measurements in between included
	Sample   int           // messages of which the skew is measured; compare with realMail where it is of realMessages
	Messages int           // that go the whole way, each time
	Spell    time.Duration // how long the digest and each scan are repeated

	Tell     func(what string) // told what begins now; nil: nobody is
	Remember func(octets int)  // told of each message that was remembered; nil: nobody is
}

// A Report is what was measured. Parts that were not are nil.
type Report struct {
	Digest *Digest  `json:"digest"`
	Scan   []Scan   `json:"scan"`
	Lookup []Lookup `json:"lookup"`
	Whole  *Whole   `json:"whole"`

	Skew       *Skew `json:"-"` // of the mail that lookups were measured with
	Remembered int   `json:"-"` // messages in the store that the whole way led past
}

// Quick are the options of a run of about two minutes on two cores of 2021.
func Quick() Options {
	return Options{
		Parts: Parts, Codes: []int{100_000, 1_000_000, 10_000_000}, Sizes: []int{10_000, 100_000, 1_000_000},
		Fill: 75 * time.Second, Sample: realMessages, Messages: 3000, Spell: time.Second,
	}
}

// Full are the options of a run without a limit of time: ten million messages, where the memory is there.
func Full() Options {
	o := Quick()
	o.Sizes = append(o.Sizes, 10_000_000)
	o.Fill, o.Messages, o.Spell = 24*time.Hour, 10_000, 5*time.Second
	return o
}

// Run measures. The scratch store lies in a folder of its own below that of temporary files, which goes away at the end.
func Run(ctx context.Context, o Options) (r *Report, err error) {
	if o.Tell == nil {
		o.Tell = func(string) {}
	}
	if o.Remember == nil {
		o.Remember = func(int) {}
	}
	r = new(Report)
	lookup, whole := slices.Contains(o.Parts, "lookup"), slices.Contains(o.Parts, "whole")
	var dir string
	if lookup || whole { // before minutes are spent on what else there is
		if dir, err = os.MkdirTemp("", "spamsim-bench-*"); err != nil {
			return nil, fmt.Errorf("the scratch store goes to %s: %w; let TMPDIR name a folder that can be written", os.TempDir(), err)
		}
		defer os.RemoveAll(dir)
	}
	if slices.Contains(o.Parts, "digest") {
		o.Tell("the digest of 16 KB of text")
		r.Digest = measureDigest(o.Spell)
	}
	if slices.Contains(o.Parts, "scan") {
		if r.Scan, err = measureScans(ctx, o); err != nil {
			return nil, err
		}
	}
	if dir == "" {
		return r, nil
	}
	m, err := newMemory(dir)
	if err != nil {
		return nil, err
	}
	defer m.store.Close()
	if lookup {
		r.Skew = new(skewOf(newWriter(skewSeed), o.Sample))
		if r.Lookup, err = m.measure(ctx, o); err != nil {
			return nil, err
		}
	} else if err := m.fill(ctx, o.Sizes[0], time.Now().Add(o.Fill), o.Remember); err != nil {
		return nil, err
	}
	if whole {
		o.Tell("the whole way through the SMTP proxy")
		r.Remembered = m.n
		if r.Whole, err = m.measureWhole(ctx, o.Messages, o.Tell); err != nil {
			return nil, err
		}
	}
	return r, m.trouble()
}

// rounded cuts a figure to four digits: a second run would not give more of them again.
func rounded(v float64) float64 {
	v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64) // it was a number before
	return v
}

// leastOf is the least processor time that a run takes, of as many runs as fit into a spell, but at least three.
func leastOf(spell time.Duration, run func()) time.Duration {
	least := time.Duration(math.MaxInt64)
	for begun, n := time.Now(), 0; n < 3 || time.Since(begun) < spell; n++ {
		least = min(least, timeOf(run))
	}
	return least
}

// timeOf is the processor time that a run takes: the time that other programs had the processor meanwhile is not in it.
func timeOf(run func()) time.Duration {
	begun := cpuTime()
	run()
	return cpuTime() - begun
}

// cpuTime is the processor time that this process has used, in the kernel too.
func cpuTime() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u) // fails only for other arguments
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
