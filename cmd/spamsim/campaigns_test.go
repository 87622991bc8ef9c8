package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"spamsim/cmd/spamsim/internal/lab"
	"spamsim/milter/filter"
	"spamsim/store"
)

// noon is when the tests look.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// pears is a campaign of 40 copies, the last of them at noon.
var pears = store.Campaign{
	ID: "7f3a19c2", Label: filter.Spam, Copies: 40, Senders: store.Count{N: 31}, Nets: store.Count{N: 70, Approx: true}, Rcpts: store.Count{N: 40},
	First: noon.Add(-50 * time.Hour), Last: noon, Sample: "Save on pears", Heat: 25,
}

func TestCampaignTable(t *testing.T) {
	other := store.Campaign{ID: "00000001", Name: "our letter", Label: filter.Ham, Copies: 2, First: noon, Last: noon.Add(-24 * time.Hour)}
	want := `CLUSTER   COPIES  A MINUTE  SENDERS  NETS  LABEL  FIRST (UTC)       LAST (UTC)        SUBJECT OR [NAME]
7f3a19c2  40      2.5       31       ~70   spam   2025-12-31 10:00  2026-01-02 12:00  Save on pears
00000001  2       0.0       0        0     ham    2026-01-02 12:00  2026-01-01 12:00  [our letter]
`
	if d := cmp.Diff(want, campaignTable([]store.Campaign{pears, other}, noon)); d != "" {
		t.Error(d)
	}
}

func TestDetailText(t *testing.T) {
	d := store.Detail{Campaign: pears, BySender: []int{5, 3, 1, 1}, ByNet: []int{2}, Features: 112, Constant: 98}
	d.Hours = []store.Hour{{Start: noon.Add(-2 * time.Hour), Copies: 30}, {Start: noon.Add(-time.Hour)}, {Start: noon, Copies: 1}}
	want := `campaign    7f3a19c2
            which took up 00000009
subject     Save on pears
label       spam
copies      40, from 2025-12-31 10:00 to 2026-01-02 12:00 UTC; 2.5 a minute of late
senders     31, the busiest with 5, 3, 1 copies
networks    ~70
recipients  40
text        112 features, of which 98 are in nine of ten copies and more

Copies from each hour on (UTC)
  2026-01-02 10:00  ################################################## 30
  2026-01-02 11:00
  2026-01-02 12:00  ## 1
`
	if d := cmp.Diff(want, detailText("00000009", &d, noon)); d != "" {
		t.Error(d)
	}
	if got := detailText("7F3A19C2", &d, noon); strings.Contains(got, "took up") {
		t.Error(got)
	}
}

// TestChartOfManyHours: however long the time, the lines are few and none of the copies is missing.
func TestChartOfManyHours(t *testing.T) {
	for _, n := range []int{1, 23, 24, 25, 48, 49, 169, 5000} {
		hours := make([]store.Hour, n)
		for i := range hours {
			hours[i] = store.Hour{Start: noon.Add(time.Duration(i) * time.Hour), Copies: 1}
		}
		sum, lines := 0, strings.Split(strings.TrimSpace(chart(hours)), "\n")
		for _, l := range lines {
			f := strings.Fields(l)
			var copies int
			if err := json.Unmarshal([]byte(f[len(f)-1]), &copies); err != nil || len(l) > 80 {
				t.Fatalf("%q: %v", l, err)
			}
			sum += copies
		}
		if sum != n || len(lines) > chartLines || n >= chartLines && len(lines) <= chartLines/2 {
			t.Errorf("%d hours: %d lines with %d copies", n, len(lines), sum)
		}
	}
}

// TestCampaignsAreShownSafely prints what a sender can write, and a name: no control character and no bidirectional control
// reaches the terminal, in a list for people, in JSON, or on the screen of top.
func TestCampaignsAreShownSafely(t *testing.T) {
	const bad = "\x1b[2J\u202egnp\u2028\x00\u009b31m\x7f\r\n# x"
	c := pears
	c.Sample = bad
	d := store.Detail{Campaign: c}
	var line bytes.Buffer
	a := &app{stdout: &line}
	if err := a.json(newDetailLine(&d, noon)); err != nil {
		t.Fatal(err)
	}
	var back struct{ Subject string }
	if err := json.Unmarshal(line.Bytes(), &back); err != nil || back.Subject != bad {
		t.Errorf("%q, %v", back.Subject, err)
	}
	c.Name = bad
	shown := []string{
		line.String(), detailText(bad, &d, noon), campaignTable([]store.Campaign{pears, c}, noon), multimap([]store.Campaign{c}), headerChecks([]store.Campaign{c}),
		strings.Join(frame(&sighting{}, &sighting{campaigns: []store.Campaign{c, d.Campaign}}), "\n"), named(&c),
	}
	for _, s := range shown {
		for _, r := range s {
			if r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' {
				t.Errorf("%U in\n%s", r, s)
			}
		}
	}
	if n := strings.Count(multimap([]store.Campaign{c}), "\n"); n != 2 {
		t.Errorf("a name wrote lines of its own: %d", n)
	}
}

// TestSpamLists: a list has what is labelled spam and nothing else.
func TestSpamLists(t *testing.T) {
	ham := store.Campaign{ID: "00000001", Label: filter.Ham, Copies: 9}
	list := []store.Campaign{ham, pears}
	if d := cmp.Diff("# 40 copies\n/cluster=7f3a19c2;/\n", multimap(list)); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff("# 40 copies\n/^X-Spamsim:.*[[:space:]]cluster=7f3a19c2;/ HOLD spamsim: known spam\n", headerChecks(list)); d != "" {
		t.Error(d)
	}
}

// TestHeaderChecksInPostfix asks Postfix whether the list matches the field as it is written, folded, and no other.
func TestHeaderChecksInPostfix(t *testing.T) {
	postmap, err := exec.LookPath("postmap")
	if err != nil {
		lab.Skip(t, "no postmap")
	}
	dir := t.TempDir()
	table := filepath.Join(dir, "header_checks")
	if err := os.WriteFile(table, []byte(headerChecks([]store.Campaign{pears})), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.cf"), []byte("compatibility_level = 3.6\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for cluster, want := range map[string]bool{"7f3a19c2": true, "7f3a19c3": false} {
		v := filter.Verdict{Kind: filter.Bulk, Judged: true, Sigma: 4.6, Threshold: 3, Cluster: cluster, Copies: 37}
		cmd := exec.Command(postmap, "-c", dir, "-h", "-q", "-", "regexp:"+table)
		cmd.Stdin = strings.NewReader("Subject: cluster=7f3a19c2;\n" + filter.HeaderName + ":" + v.Field("mx1.example.net") + "\n\nbody\n")
		out, err := cmd.Output()
		if got := strings.Contains(string(out), "HOLD spamsim: known spam"); got != want || !want && len(out) > 0 {
			t.Errorf("%s: %q, %v", cluster, out, err)
		}
	}
}
