package console

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"
	"time"

	"spamsim/milter/filter"
	"spamsim/store"
)

// functions are those of the pages.
var functions = template.FuncMap{
	"visible": visible, "clipped": clipped, "count": countWord, "octets": octets, "number": anyNumber,
	"percent": percent, "when": when, "spaced": func(s string) string { return strings.ReplaceAll(s, "_", " ") },
	"dict": dict, "times100": func(x float64) float64 { return 100 * x }, "int64": func(n int) int64 { return int64(n) }, "share": func(n, of int) string { return percent(int64(n), int64(of)) },
}

// dict makes a map of keys and values, for a part that takes several.
func dict(pairs ...any) map[string]any {
	out := map[string]any{}
	for i := 0; i+1 < len(pairs); i += 2 {
		out[pairs[i].(string)] = pairs[i+1]
	}
	return out
}

// countWord writes a count, with "~" where it is not exact.
func countWord(c store.Count) string {
	if c.Approx {
		return "~" + number(c.N)
	}
	return number(c.N)
}

// octets writes a size.
func octets(n int64) string {
	const step = 1024
	for i, unit := range []string{"octets", "KB", "MB"} {
		if size := float64(n) / float64(int64(1)<<(10*i)); size < step {
			return strings.TrimSuffix(strconv.FormatFloat(size, 'f', min(i, 1), 64), ".0") + " " + unit
		}
	}
	return strconv.FormatFloat(float64(n)/(1<<30), 'f', 1, 64) + " GB"
}

// number writes a number with its thousands parted by narrow spaces.
func number[T int | int64](n T) string {
	s := strconv.FormatInt(int64(n), 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "\u202f" + s[i:]
	}
	return s
}

// anyNumber is number for the pages.
func anyNumber(n any) string {
	if big, ok := n.(int64); ok {
		return number(big)
	}
	return number(n.(int))
}

// percent writes a share.
func percent(n, of int64) string {
	if of == 0 {
		return "–"
	}
	return strconv.FormatFloat(100*float64(n)/float64(of), 'f', 1, 64) + " %"
}

// day writes a time for people, in UTC.
func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// iso writes it for programs.
func iso(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// when writes a time as an element.
func when(t time.Time) template.HTML {
	return template.HTML(fmt.Sprintf(`<time datetime="%s">%s</time>`, iso(t), day(t)))
}

// kindWords name the verdicts in the order in which they are piled up, the most interesting at the bottom.
var kindWords = []struct {
	Kind filter.Kind
	Word string
}{{filter.Bulk, "bulk"}, {filter.Exempt, "exempt"}, {filter.Clean, "clean"}, {filter.Abstain, "abstain"}, {filter.Skipped, "skipped"}, {filter.Error, "error"}}
