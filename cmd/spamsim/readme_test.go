package main

import (
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
