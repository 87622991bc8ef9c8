package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"spamsim/cmd/spamsim/internal/demo"
	"spamsim/cmd/spamsim/internal/source"
	"spamsim/milter/filter"
	"spamsim/store"
)

// TestInterval has the values of method 3 in table I of Newcombe, "Two-sided confidence intervals for the single
// proportion", Statistics in Medicine 17, 857 (1998).
func TestInterval(t *testing.T) {
	for _, c := range []struct {
		share
		low, high float64
	}{
		{share{81, 263}, 0.2553, 0.3662},
		{share{15, 148}, 0.0624, 0.1605},
		{share{0, 20}, 0.0000, 0.1611},
		{share{1, 29}, 0.0061, 0.1718},
		{share{20, 20}, 0.8389, 1.0000}, // none of 20 turned round
		{share{0, 0}, 0, 1},
	} {
		low, high := c.interval()
		if math.Abs(low-c.low) > 0.00005 || math.Abs(high-c.high) > 0.00005 {
			t.Errorf("%d of %d: %.4f to %.4f, want %.4f to %.4f", c.bulk, c.of, low, high, c.low, c.high)
		}
	}
}

func TestShareInWords(t *testing.T) {
	for s, want := range map[share]string{
		{0, 0}:     "none given",
		{7, 10}:    "7 of 10, 70.0 % (39.7 to 89.2)",
		{2, 2253}:  "2 of 2253, 0.09 % (0.02 to 0.32)",
		{0, 100}:   "0 of 100, 0.0 % (0.0 to 3.7)",
		{100, 100}: "100 of 100, 100.0 % (96.3 to 100.0)",
	} {
		if got := s.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestSweepPoints looks at which settings are tried: the configured one is among them once.
func TestSweepPoints(t *testing.T) {
	for _, c := range []struct {
		threshold float64
		count     int
		points    int
	}{{3, 5, 11 + 3}, {3.25, 5, 12 + 3}, {3, 7, 11 + 4}, {8, 2, 12 + 3}} {
		s := newSweep(c.threshold, c.count)
		configured := 0
		for i, p := range s.points {
			if p.configured {
				configured++
			}
			if p.configured != (p.threshold == c.threshold && p.bulkCount == c.count) || slices.IndexFunc(s.points, func(q point) bool {
				return p.threshold == q.threshold && p.bulkCount == q.bulkCount
			}) != i {
				t.Errorf("%v: %+v", c, p)
			}
		}
		if len(s.points) != c.points || configured != 1 {
			t.Errorf("%v: %d points, %d configured", c, len(s.points), configured)
		}
	}
}

// TestSweepIsExact holds each point of a sweep against a replay of its own at that setting.
func TestSweepIsExact(t *testing.T) {
	s := newSweep(3, 5)
	replayed(t, 3, 5, s.add)
	found := 0
	for _, p := range s.points {
		want := point{threshold: p.threshold, bulkCount: p.bulkCount, configured: p.configured}
		replayed(t, p.threshold, p.bulkCount, func(j judged) error {
			if bulk := j.verdict.Kind == filter.Bulk; j.given == filter.Spam {
				want.spam.add(bulk)
			} else {
				want.ham.add(bulk)
			}
			return nil
		})
		if p != want {
			t.Errorf("sweep %+v, replay %+v", p, want)
		}
		found += p.spam.bulk
	}
	if first, last := s.points[0].spam.bulk, s.points[10].spam.bulk; found == 0 || first < last {
		t.Errorf("%d found at the lowest threshold, %d at the highest, %d in all", first, last, found)
	}
}

// replayed judges the demonstration's stream at a setting, its campaigns given as spam, the rest as ham; a rule exempts the
// last copy of one campaign.
func replayed(t *testing.T, threshold float64, bulkCount int, add func(judged) error) {
	t.Helper()
	s, err := store.Open("", store.Options{Key: scratchKey})
	if err != nil {
		t.Fatal(err)
	}
	stream := demo.Stream(7)
	var exempt string
	for _, m := range stream {
		if m.Kind == demo.Pills {
			exempt = m.From
		}
	}
	r := &replay{
		filter: filter.New(s, filter.Config{Threshold: threshold, BulkCount: bulkCount, Rules: []filter.Rule{{Name: "friend", Sender: exempt}}}),
		limit:  1 << 20, bad: &unread{app: &app{}}, bar: (&app{quiet: true}).progress("", 0),
	}
	mail := func(yield func(arrival) bool) {
		for i, m := range stream {
			label := filter.Ham
			if m.Kind >= demo.Pills {
				label = filter.Spam
			}
			raw := fmt.Appendf(nil, "Return-Path: <%s>\r\nReceived: from [%s] by x\r\n%s", m.From, m.Client, m.Raw)
			if !yield(arrival{index: i + 1, at: time.Unix(1e9, 0), given: label, Message: source.Message{Raw: raw}}) {
				return
			}
		}
	}
	if err := r.run(t.Context(), mail, add); err != nil {
		t.Fatal(err)
	}
}

// TestSweepPrints reads what a sweep says, of spam alone.
func TestSweepPrints(t *testing.T) {
	s := newSweep(3.5, 2)
	for _, v := range []filter.Verdict{
		{Kind: filter.Clean, Judged: true, Sigma: 9},                             // like nothing
		{Kind: filter.Clean, Judged: true, Sigma: 3.4, Cluster: "1", Copies: 2},  // not improbable enough
		{Kind: filter.Bulk, Judged: true, Sigma: 3.5, Cluster: "1", Copies: 3},   // at the threshold
		{Kind: filter.Exempt, Judged: true, Sigma: 9, Cluster: "1", Copies: 900}, // by a rule
		{Kind: filter.Abstain, Reason: "short"},
	} {
		if err := s.add(judged{arrival: arrival{given: filter.Spam}, verdict: v}); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.add(judged{verdict: filter.Verdict{Kind: filter.Bulk, Cluster: "2", Sigma: 8, Copies: 9}}); err != nil {
		t.Fatal(err) // of mail that nobody knows
	}
	var text, lines bytes.Buffer
	if err := errors.Join(s.write(&app{stdout: &text}), s.lines(&app{stdout: &lines})); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"bulk of 5 spam and 0 ham,",
		"3          2       2 of 5, 40.0 % (11.8 to 76.9)  none given  ",
		"3.5        2       1 of 5, 20.0 % (3.6 to 62.4)   none given  <- as configured",
		"4          2       0 of 5, 0.0 % (0.0 to 43.4)    none given  ",
		"3.5        3       1 of 5, ",
		"3.5        5       0 of 5, ",
	} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	line := strings.Split(lines.String(), "\n")[5]
	const want = `{"threshold":3.5,"bulk_count":2,"configured":true,"spam":{"messages":5,"bulk":1,"share":0.2,"low":0.0362`
	if !strings.HasPrefix(line, want) || !strings.HasSuffix(line, `},"ham":null}`) {
		t.Errorf("%s", line)
	}
}
