package main

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"spamsim/cmd/spamsim/internal/bench"
)

// TestFiguresInReadme: the README's table of figures is one that the command prints: its heads and the names of its rows, what
// stands beside the numbers, and nothing else. Rows that differ by a number alone are taken for one.
func TestFiguresInReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(readme), "<!-- spamsim bench --markdown -->\n")
	table, _, end := strings.Cut(table, "<!-- end -->\n")
	if !ok || !end {
		t.Fatal("no table of figures between its marks")
	}
	direct := 4.0
	r := bench.Report{
		Digest: &bench.Digest{MBPerS: 2, PlainMBPerS: 1}, Scan: []bench.Scan{{Codes: 1, NSPerCode: 1}},
		Lookup: []bench.Lookup{{Remembered: 1, PerSPerCore: 1}}, Whole: &bench.Whole{PerS: 1, PassThroughPerS: 2, DirectPerS: &direct},
	}
	number := regexp.MustCompile(`[0-9][0-9,.]*`)
	shape := func(table string) []string {
		return slices.Compact(strings.Split(strings.TrimSpace(number.ReplaceAllString(table, "N")), "\n"))
	}
	if got, want := shape(table), shape(r.Markdown()); !slices.Equal(got, want) {
		t.Errorf("the README has\n%s\nthe command prints\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestTranscriptInReadme: what the README shows of the demonstration's output are lines of it.
func TestTranscriptInReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, shown, ok := strings.Cut(string(readme), "From its output:\n")
	shown, _, end := strings.Cut(shown, "\n## ")
	if !ok || !end {
		t.Fatal("no transcript where it was")
	}
	var out bytes.Buffer
	if err := (&app{stdout: &out}).demo(t.Context(), 1, 0); err != nil {
		t.Fatal(err)
	}
	printed, n := strings.Split(out.String(), "\n"), 0
	for line := range strings.Lines(shown) {
		line = strings.TrimPrefix(strings.TrimRight(line, "\n"), "    ")
		if line == "" || strings.TrimSpace(line) == "..." {
			continue
		}
		n++
		if !slices.Contains(printed, line) {
			t.Errorf("the demonstration does not print %q", line)
		}
	}
	if n < 12 {
		t.Errorf("the transcript has %d lines", n)
	}
}
