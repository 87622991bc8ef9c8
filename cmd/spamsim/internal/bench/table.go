package bench

import (
	"fmt"
	"strings"
	"text/tabwriter"
)

// Table is the report for people.
func (r *Report) Table() string {
	var b strings.Builder
	if d := r.Digest; d != nil {
		fmt.Fprintf(&b, "Digest of 16 KB: %.0f MB/s on one core, %.1f times the plain loop's %.0f.\n\n", d.MBPerS, d.MBPerS/d.PlainMBPerS, d.PlainMBPerS)
	}
	if r.Scan != nil {
		b.WriteString("Scan of codes of 256 bits, nanoseconds a code:\n\n")
		table(&b, "CODES\tONE SEARCH\tREADING ALONE\tOF ITS SPEED\t16 SEARCHES IN A PASS, EACH", r.Scan, func(s Scan) string {
			return fmt.Sprintf("%d\t%.2f\t%.2f\t%.0f %%\t%.3f", s.Codes, s.NSPerCode, s.ReadNSPerCode, 100*s.ReadNSPerCode/s.NSPerCode, s.Batch16NS)
		})
	}
	if r.Lookup != nil {
		b.WriteString("Lookups in a store that remembers made-up mail:\n\n")
		table(&b, "REMEMBERED\tA SECOND AND CORE\tMICROSECONDS\tMEMORY, BYTES A MESSAGE\tMB\tVERDICTS OF A SCAN", r.Lookup, func(l Lookup) string {
			return fmt.Sprintf("%d\t%.0f\t%.0f\t%.0f\t%.0f\t%.2f %%", l.Remembered, l.PerSPerCore, 1e6/l.PerSPerCore,
				l.BytesPerMessage, l.BytesPerMessage*float64(l.Remembered)/1e6, 100*l.SameVerdicts)
		})
	}
	if r.Skew != nil {
		r.Skew.write(&b)
	}
	if r.Whole != nil {
		r.Whole.write(&b, r.Remembered)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// table writes rows, an empty line after them.
func table[R any](b *strings.Builder, head string, rows []R, row func(R) string) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(t, "%s\t\n", head)
	for _, r := range rows {
		fmt.Fprintf(t, "%s\t\n", row(r))
	}
	t.Flush() // into a builder, which takes everything
	b.WriteByte('\n')
}

func (s *Skew) write(b *strings.Builder) {
	b.WriteString("How common what messages share is, in per cent of the messages (see spamsim help speed):\n\n")
	type line struct {
		what       string
		here, real [3]float64
	}
	table(b, "OF A MESSAGE'S\tA TENTH\tHALF\tNINE TENTHS\tOF REAL MAIL'S\t\t", []line{{"words", s.Words, realMail.Words}, {"pairs of words", s.Pairs, realMail.Pairs}}, func(l line) string {
		return fmt.Sprintf("%s\t%.2g\t%.2g\t%.2g\t%.2g\t%.2g\t%.2g", l.what, l.here[0], l.here[1], l.here[2], l.real[0], l.real[1], l.real[2])
	})
}

func (w *Whole) write(b *strings.Builder, remembered int) {
	fmt.Fprintf(b, "The whole way through the SMTP proxy, %d kept connections, judged against %d remembered messages:\n\n", connections, remembered)
	fmt.Fprintf(b, "  %.0f messages a second, %.0f %% of the %.0f with judging off; judging adds %.2f ms of processor time to each.\n",
		w.PerS, 100*w.PerS/w.PassThroughPerS, w.PassThroughPerS, w.CPUMSAbove)
	if w.DirectPerS != nil {
		fmt.Fprintf(b, "  smtp-source straight to smtp-sink: %.0f; the proxy with judging off reaches %.0f %% of that.\n",
			*w.DirectPerS, 100*w.PassThroughPerS / *w.DirectPerS)
	}
	b.WriteByte('\n')
}
