package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"

	"spamsim/milter/filter"
)

// A sweep counts what would have been called bulk at other settings. One replay serves all of them, exactly: neither
// the threshold nor the number of copies has a say in what joins what, so the sigma and the copies of each message are
// the same whatever they are set to.
type sweep struct {
	points []point
}

// A point is one setting, and what it would have called bulk of the spam and of the ham that were given.
type point struct {
	threshold  float64
	bulkCount  int
	configured bool
	spam, ham  share
}

// Steps of a sweep: the thresholds are tried at the configured number of copies, the numbers of copies at the configured
// threshold.
const lowestSigma, highestSigma, sigmaStep = 1.0, 6.0, 0.5

var sweptCounts = []int{2, 3, 5, 10}

// newSweep returns the sweep around a configured setting, which is always one of its points.
func newSweep(threshold float64, bulkCount int) *sweep {
	sigmas := []float64{threshold}
	for s := lowestSigma; s <= highestSigma; s += sigmaStep {
		sigmas = append(sigmas, s)
	}
	slices.Sort(sigmas)
	s := &sweep{}
	for _, sigma := range slices.Compact(sigmas) {
		s.points = append(s.points, point{threshold: sigma, bulkCount: bulkCount, configured: sigma == threshold})
	}
	for _, n := range sweptCounts {
		if n != bulkCount {
			s.points = append(s.points, point{threshold: threshold, bulkCount: n})
		}
	}
	return s
}

// add counts one judged message.
func (s *sweep) add(j judged) error {
	for i := range s.points {
		p := &s.points[i]
		switch bulk := j.bulkAt(p.threshold, p.bulkCount); j.given {
		case filter.Spam:
			p.spam.add(bulk)
		case filter.Ham:
			p.ham.add(bulk)
		}
	}
	return nil
}

// bulkAt says whether the message had been called bulk at another setting. What a rule exempts never is.
func (j *judged) bulkAt(threshold float64, bulkCount int) bool {
	v := &j.verdict
	return (v.Kind == filter.Clean || v.Kind == filter.Bulk) && v.Cluster != "" && v.Sigma >= threshold && v.Copies >= bulkCount
}

// write prints the table for people.
func (s *sweep) write(a *app) error {
	var b strings.Builder
	fmt.Fprintf(&b, "What would be called bulk of %d spam and %d ham, with 95 %% intervals. Spam that came alone, and the first copies\n"+
		"of a campaign, count as not found.\n\n", s.points[0].spam.of, s.points[0].ham.of)
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "THRESHOLD\tCOPIES\tSPAM FOUND\tHAM LOST\t")
	for _, p := range s.points {
		mark := ""
		if p.configured {
			mark = "<- as configured"
		}
		fmt.Fprintf(t, "%.4g\t%d\t%s\t%s\t%s\n", p.threshold, p.bulkCount, p.spam, p.ham, mark)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	return a.printf("%s", b.String())
}

// A sweepLine is what backtest --sweep --json prints of a point.
type sweepLine struct {
	Threshold  float64    `json:"threshold"`
	BulkCount  int        `json:"bulk_count"`
	Configured bool       `json:"configured"`
	Spam       *shareLine `json:"spam"` // called bulk of what --spam gave, null where that was nothing: recall
	Ham        *shareLine `json:"ham"`  // and of --ham: false alarms
}

// lines prints the points as JSON.
func (s *sweep) lines(a *app) error {
	for _, p := range s.points {
		if err := a.json(sweepLine{p.threshold, p.bulkCount, p.configured, p.spam.line(), p.ham.line()}); err != nil {
			return err
		}
	}
	return nil
}

// A share is how many of some messages were called bulk.
type share struct{ bulk, of int }

func (s *share) add(bulk bool) {
	s.of++
	if bulk {
		s.bulk++
	}
}

// deviate95 is the normal deviate of a two-sided 95 % interval.
const deviate95 = 1.959963984540054

// interval is the 95 % score interval of the share in the mail that this is a sample of (Wilson 1927; method 3 of
// Newcombe, Statistics in Medicine 17, 1998). Of no messages it is all from 0 to 1.
func (s share) interval() (low, high float64) {
	if s.of == 0 {
		return 0, 1
	}
	n, p := float64(s.of), s.part()
	const z2 = deviate95 * deviate95
	middle := p + z2/(2*n)
	half := deviate95 * math.Sqrt(p*(1-p)/n+z2/(4*n*n))
	return max(0, (middle-half)/(1+z2/n)), min(1, (middle+half)/(1+z2/n))
}

func (s share) part() float64 { return float64(s.bulk) / float64(s.of) }

// String is "7 of 10, 70.0 % (39.7 to 89.2)".
func (s share) String() string {
	if s.of == 0 {
		return "none given"
	}
	low, high := s.interval()
	return fmt.Sprintf("%d of %d, %s %% (%s to %s)", s.bulk, s.of, percent(s.part()), percent(low), percent(high))
}

// percent writes a part with a digit after the point, and with two where it is under 1 %.
func percent(part float64) string {
	if part > 0 && part < 0.00995 {
		return fmt.Sprintf("%.2f", 100*part)
	}
	return fmt.Sprintf("%.1f", 100*part)
}

// A shareLine is a share as JSON.
type shareLine struct {
	Messages int     `json:"messages"`
	Bulk     int     `json:"bulk"`
	Share    float64 `json:"share"`
	Low      float64 `json:"low"` // of the 95 % interval
	High     float64 `json:"high"`
}

// line is nil where there were no messages.
func (s share) line() *shareLine {
	if s.of == 0 {
		return nil
	}
	low, high := s.interval()
	return &shareLine{s.of, s.bulk, s.part(), low, high}
}
