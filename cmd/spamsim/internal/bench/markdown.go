package bench

import (
	"fmt"
	"strconv"
	"strings"
)

// Markdown is the report as a table for a page about speed. Rows of parts that were not measured are left out.
func (r *Report) Markdown() string {
	b := &strings.Builder{}
	row := func(what, figure, beside string) { fmt.Fprintf(b, "| %s | %s | %s |\n", what, figure, beside) }
	row("measured by `spamsim bench --markdown`", "figure", "beside it")
	row("---", "---", "---")
	if d := r.Digest; d != nil {
		row("Nilsimsa code of 16 KB, a core", fmt.Sprintf("%.0f MB/s", d.MBPerS), fmt.Sprintf("%.1f times the plain loop", d.MBPerS/d.PlainMBPerS))
	}
	for _, s := range r.Scan {
		row("scan of "+thousands(s.Codes)+" codes", fmt.Sprintf("%.2f ns a code", s.NSPerCode),
			fmt.Sprintf("%.0f %% of the speed of reading; %.2f ns each with 16 searches in a pass", 100*s.ReadNSPerCode/s.NSPerCode, s.Batch16NS))
	}
	for _, l := range r.Lookup {
		row("judging against "+thousands(l.Remembered)+" remembered", thousands(int(l.PerSPerCore))+" a second and core",
			fmt.Sprintf("%.0f octets of memory each; %.2f %% the verdict of a scan", l.BytesPerMessage, 100*l.SameVerdicts))
	}
	if w := r.Whole; w != nil {
		row(fmt.Sprintf("SMTP proxy, judging against %s, %d kept connections", thousands(r.Remembered), connections), thousands(int(w.PerS))+" messages a second",
			fmt.Sprintf("%.0f %% of judging off; %.2f ms of processor time above it", 100*w.PerS/w.PassThroughPerS, w.CPUMSAbove))
		beside := "smtp-source is not installed"
		if w.DirectPerS != nil {
			beside = fmt.Sprintf("%.0f %% of smtp-source straight to smtp-sink", 100*w.PassThroughPerS / *w.DirectPerS)
		}
		row("SMTP proxy, judging off", thousands(int(w.PassThroughPerS))+" messages a second", beside)
	}
	return b.String()
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
