package bench

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// tiny are options of a run of a moment.
func tiny() Options {
	return Options{Parts: Parts, Codes: []int{100, 1000}, Sizes: []int{200, 500}, Fill: time.Hour, Sample: 100, Messages: 30, Spell: time.Microsecond}
}

// TestRun measures everything at a small size, and looks at the keys that scripts rely on.
func TestRun(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	var told []string
	o, octets, remembered := tiny(), 0, 0
	o.Tell = func(what string) { told = append(told, what) }
	o.Remember = func(n int) { octets += n; remembered++ }
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if remembered != 500 || octets < 500*400 || r.Remembered != 500 {
		t.Errorf("%d messages of %d octets were told of, %d remembered", remembered, octets, r.Remembered)
	}
	if len(told) < 6 {
		t.Errorf("told of %q alone", told)
	}
	checkKeys(t, r)
	for _, s := range r.Scan {
		if s.NSPerCode <= 0 || s.ReadNSPerCode <= 0 || s.Batch16NS <= 0 {
			t.Errorf("scan: %+v", s)
		}
	}
	for i, l := range r.Lookup {
		if l.Remembered != o.Sizes[i] || l.PerSPerCore <= 0 || l.BytesPerMessage <= 0 || l.SameVerdicts < 0.99 || l.SameVerdicts > 1 {
			t.Errorf("lookup: %+v", l)
		}
	}
	if w := r.Whole; w.PerS <= 0 || w.PassThroughPerS <= 0 || w.DirectPerS != nil && *w.DirectPerS <= 0 {
		t.Errorf("whole: %+v", w)
	}
	if r.Digest.MBPerS <= 0 || r.Digest.PlainMBPerS <= 0 {
		t.Errorf("digest: %+v", r.Digest)
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// checkKeys compares the keys of a report's JSON.
func checkKeys(t *testing.T, r *Report) {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Digest       map[string]*float64
		Scan, Lookup []map[string]*float64
		Whole        map[string]*float64
	}
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		got  map[string]*float64
		want string
	}{
		"digest": {got.Digest, "mb_per_s plain_mb_per_s"},
		"scan":   {got.Scan[0], "batch16_ns_per_code_query codes ns_per_code read_ns_per_code"},
		"lookup": {got.Lookup[0], "bytes_per_message per_s_per_core remembered same_verdicts"},
		"whole":  {got.Whole, "cpu_ms_above direct_per_s pass_through_per_s per_s"},
	} {
		if keys := strings.Join(slices.Sorted(maps.Keys(c.got)), " "); keys != c.want {
			t.Errorf("%s has the keys %s, want %s", what, keys, c.want)
		}
	}
}

// What was remembered is still there after the whole way, and what went it came on top.
func TestWholeWayAddsToTheStore(t *testing.T) {
	m, err := newMemory(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer m.store.Close()
	if err := m.fill(t.Context(), 300, time.Now().Add(time.Hour), func(int) {}); err != nil {
		t.Fatal(err)
	}
	before := m.store.Stats().Messages
	if before < 290 {
		t.Errorf("%d of 300 messages were counted", before)
	}
	if _, err := m.measureWhole(t.Context(), 20, func(string) {}); err != nil {
		t.Fatal(err)
	}
	if got := m.store.Stats().Messages; got != before+60 {
		t.Errorf("%d messages, want 3 times 20 more than %d", got, before)
	}
}

// What was not asked for is null, and is not measured.
func TestParts(t *testing.T) {
	o := tiny()
	o.Parts = []string{"scan"}
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(text), `{"digest":null,"scan":[{"codes":100,`) || !strings.HasSuffix(string(text), `],"lookup":null,"whole":null}`) {
		t.Errorf("%s", text)
	}
}

// The whole way alone leads past a store of the least size.
func TestWholeAlone(t *testing.T) {
	o := tiny()
	o.Parts = []string{"whole"}
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Lookup != nil || r.Whole == nil || r.Remembered != o.Sizes[0] {
		t.Errorf("%+v", r)
	}
}

func TestInterrupted(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for _, part := range []string{"scan", "lookup", "whole"} {
		ctx, cancel := context.WithCancel(t.Context())
		o := tiny()
		o.Parts = []string{part}
		o.Tell = func(string) { cancel() }
		o.Remember = func(int) { cancel() }
		if _, err := Run(ctx, o); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", part, err)
		}
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Where the time is up, what was remembered until then is the last size; where that says nothing new it is left out.
func TestTimeIsUp(t *testing.T) {
	m, err := newMemory(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer m.store.Close()
	o := tiny()
	o.Tell, o.Remember = func(string) {}, func(int) {}
	if _, err := m.measure(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	o.Sizes, o.Fill = []int{500, 1_000_000}, 0
	got, err := m.measure(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0].Remembered != 500 {
		t.Errorf("%+v", got)
	}
}

// The options of both runs rise, and the quick one is the beginning of the full one.
func TestOptions(t *testing.T) {
	quick, full := Quick(), Full()
	if !slices.Equal(full.Sizes[:len(quick.Sizes)], quick.Sizes) || full.Sizes[len(full.Sizes)-1] != 10_000_000 {
		t.Errorf("sizes %v and %v", quick.Sizes, full.Sizes)
	}
	if !slices.IsSorted(full.Sizes) || !slices.IsSorted(full.Codes) || full.Fill <= quick.Fill {
		t.Errorf("%+v", full)
	}
}

func TestFits(t *testing.T) {
	if !fits(1, 1) || fits(1<<40, 1<<20) {
		t.Error("a byte does not fit, or 2^60 do")
	}
}

// report is one with figures that are easy to see again.
func report() *Report {
	direct := 20_000.0
	return &Report{
		Digest: &Digest{200, 100},
		Scan:   []Scan{{1000, 2, 1, 0.25}},
		Lookup: []Lookup{{1000, 10_000, 1, 2000}, {100_000, 5000, 0.9995, 1000}},
		Whole:  &Whole{3000, 5000, &direct, 0.15},
		Skew:   &Skew{[3]float64{1, 2, 3}, [3]float64{4, 5, 6}}, Remembered: 100_000,
	}
}

func TestTable(t *testing.T) {
	const want = `Digest of 16 KB: 200 MB/s on one core, 2.0 times the plain loop's 100.

Scan of codes of 256 bits, nanoseconds a code:

  CODES  ONE SEARCH  READING ALONE  OF ITS SPEED  16 SEARCHES IN A PASS, EACH
   1000        2.00           1.00          50 %                        0.250

Lookups in a store that remembers made-up mail:

  REMEMBERED  A SECOND AND CORE  MICROSECONDS  MEMORY, BYTES A MESSAGE   MB  VERDICTS OF A SCAN
        1000              10000           100                     2000    2            100.00 %
      100000               5000           200                     1000  100             99.95 %

How common what messages share is, in per cent of the messages (see spamsim help speed):

  OF A MESSAGE'S  A TENTH  HALF  NINE TENTHS  OF REAL MAIL'S            
           words        1     2            3            0.16    4.9   45
  pairs of words        4     5            6           0.026  0.078  1.9

The whole way through the SMTP proxy, 10 kept connections, judged against 100000 remembered messages:

  3000 messages a second, 60 % of the 5000 with judging off; judging adds 0.15 ms of processor time to each.
  smtp-source straight to smtp-sink: 20000; the proxy with judging off reaches 25 % of that.
`
	if got := report().Table(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := new(Report).Table(); got != "" {
		t.Errorf("a report of nothing says %q", got)
	}
}

// TestSVG reads the picture as XML and looks where the points lie: 10^3 and 10^5 at the edges, 100 and 200 us on an axis
// from 10^2 to 10^3, 2 and 100 MB on one from 1 to 100, 100 and 99.95 % on one from 99.
func TestSVG(t *testing.T) {
	picture := report().SVG()
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, picture)
		}
	}
	for _, want := range []string{
		`<polyline points="70.0,290.0 370.0,217.8" `,
		`<polyline points="440.0,253.9 740.0,50.0" `,
		`<polyline points="810.0,50.0 1110.0,62.0" `,
		`>time of a lookup, microseconds<`, `>memory, MB<`, `>verdicts as by a scan of all, %<`, `>200</text>`, `>99.2</text>`, `>99.95</text>`,
	} {
		if !strings.Contains(picture, want) {
			t.Errorf("no %s in\n%s", want, picture)
		}
	}
	if empty := new(Report).SVG(); strings.Contains(empty, "NaN") || strings.Contains(empty, "circle") {
		t.Errorf("a picture of nothing:\n%s", empty)
	}
}

// TestPercents: the axis begins at the highest of 99, 90 and 0 that all points reach.
func TestPercents(t *testing.T) {
	for low, want := range map[float64]float64{100: 99, 99: 99, 98.9: 90, 90: 90, 50: 0, 0: 0} {
		if got := percents([]point{{1, 100}, {2, low}}); got.low != want || got.part(100) != 1 || got.part(want) != 0 {
			t.Errorf("from %v: %+v", low, got)
		}
	}
}

// TestQuartile: neither a run that was booked to the next nor the one with its time counts.
func TestQuartile(t *testing.T) {
	if got := quartile([]time.Duration{9, 4, 0, 5, 100, 5, 5, 6}); got != 5 {
		t.Errorf("%d", got)
	}
	if got := quartile([]time.Duration{7}); got != 7 {
		t.Errorf("%d", got)
	}
}
