package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode"

	"spamsim/milter/filter"
	"spamsim/store"
)

// explainWidth is how many columns a line of an explanation's text has, explainLines how many lines of the text as hashed
// are shown, explainMarked how many words of the text with marks.
const (
	explainWidth  = 96
	explainLines  = 8
	explainMarked = 40
)

// ruler stands between the explanations of several messages.
var ruler = strings.Repeat("-", explainWidth)

// explainText is an explanation for people.
func explainText(name string, e *filter.Explanation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", printable(name), sentence(e.Verdict))
	if e.Store.Evidence.Known {
		b.WriteString("It was counted before; these are the figures of its cluster now.\n")
	}
	b.WriteString("\nWhat would change that\n")
	for _, c := range change(e) {
		b.WriteString(indent(wrap(c, explainWidth), "  "))
	}
	explainMessage(&b, e)
	explainMatches(&b, &e.Store)
	if e.Store.Spoken >= 0 {
		explainCluster(&b, e)
	}
	explainRules(&b, e)
	return b.String()
}

// explainMessage tells what was judged.
func explainMessage(b *strings.Builder, e *filter.Explanation) {
	network := "unknown"
	if e.Network != "" {
		network = e.Network
	}
	fmt.Fprintf(b, "\nThe message\n  sender    %s\n  network   %s\n  text      %d words, script %s\n", orNone(printable(e.Sender)), network, e.Words, e.Script)
	var apart []string
	for _, part := range []struct {
		n    int
		what string
	}{{e.Apart.Quote, "of quotes"}, {e.Apart.Signature, "of signature"}, {e.Apart.Footer, "of footers"}, {e.Apart.Hidden, "of hidden text"}} {
		if part.n > 0 {
			apart = append(apart, fmt.Sprintf("%d octets %s", part.n, part.what))
		}
	}
	if apart != nil {
		fmt.Fprintf(b, "  apart     %s\n", strings.Join(apart, ", "))
	}
	fmt.Fprintf(b, "  nilsimsa  %s\n  simhash   %s\n", e.Nilsimsa, e.SimHash)
	lines := wrap(e.Text, explainWidth-2)
	fmt.Fprintf(b, "\nIts text as hashed, the first lines\n%s", indent(lines[:min(len(lines), explainLines)], "  | "))
}

// explainMatches lists the clusters that the message resembles.
func explainMatches(b *strings.Builder, e *store.Explanation) {
	if len(e.Matches) == 0 {
		fmt.Fprintf(b, "\nOf %d clusters none resembles it.\n", e.Held)
		return
	}
	fmt.Fprintf(b, "\nOf %d clusters it resembles these, best first\n", e.Held)
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "    CLUSTER\tCOPIES\tLABEL\tSHARED\tOF CLUSTER\tOF MESSAGE\tSCORE\tSIGMA\tSIGMA 1, 2, 3 TAKE\tSUBJECT")
	for i, m := range e.Matches {
		mark := "  "
		if i == e.Spoken {
			mark = "->"
		}
		fmt.Fprintf(t, " %s %s\t%d\t%s\t%.1f\t%.0f %%\t%.0f %%\t%.1f\t%.2f\t%.1f, %.1f, %.1f\t%s\n", mark, m.Cluster, m.Copies, m.Label,
			m.Shared, 100*m.InCore, 100*m.InMessage, m.Score, m.Sigma, m.Chance[0], m.Chance[1], m.Chance[2], shorten(m.Sample, 40))
	}
	_ = t.Flush() // into a strings.Builder, which cannot fail
	fmt.Fprintf(b, "  Unrelated mail reaches the score of sigma 1 in 15.9 %%, of 2 in 2.3 %%, of 3 in 0.13 %%. A copy has %.0f.\n", e.CopyFrom)
}

// explainCluster holds the message against the cluster that the verdict speaks of.
func explainCluster(b *strings.Builder, e *filter.Explanation) {
	st := &e.Store
	ev := &st.Evidence
	fmt.Fprintf(b, "\nBeside cluster %s\n", ev.Cluster)
	fmt.Fprintf(b, "  came      %s to %s\n", day(ev.First), day(ev.Last))
	counted := ""
	if ev.Member && !ev.Known {
		counted = ", with this message"
	}
	fmt.Fprintf(b, "  counts    %d copies, %s senders, %s networks, %s recipients%s; label %s\n", ev.Copies, countWord(ev.Senders),
		countWord(ev.Nets), countWord(ev.Rcpts), counted, ev.Label)
	fmt.Fprintf(b, "  features  %d of the %d looked up are in it", st.Features.Shared, st.Features.Message)
	if st.Files.Message > 0 {
		fmt.Fprintf(b, ", and %d of %d of attachments", st.Files.Shared, st.Files.Message)
	}
	fmt.Fprintf(b, "; of its own %d, %d are in nine of ten copies\n", st.Core, st.Constant)
	fmt.Fprintf(b, "  codes     nilsimsa %d of 128 alike, %d of the 64 bits of simhash differ; they decide nothing\n", ev.Nilsimsa, ev.SimHash)
	if len(st.Telling) > 0 {
		var words []string
		for _, s := range st.Telling {
			words = append(words, fmt.Sprintf("%q %.1f", printable(s.Text), s.Weight))
		}
		lines := wrap(strings.Join(words, ", "), explainWidth-12)
		fmt.Fprintf(b, "  weighs    %s\n%s", lines[0], indent(lines[1:], "            "))
	}
	fmt.Fprintf(b, "\nIts text: [in the cluster] {not in the cluster}, the rest too common or not sampled\n%s", indent(marked(st), "  "))
}

// marked is the text with its marks, up to explainMarked lines.
func marked(e *store.Explanation) []string {
	var parts []string
	for _, s := range e.Spans {
		switch s.Mark {
		case store.Both:
			parts = append(parts, "["+s.Text+"]")
		case store.Differs:
			parts = append(parts, "{"+s.Text+"}")
		default:
			parts = append(parts, s.Text)
		}
	}
	lines := wrap(strings.Join(parts, " "), explainWidth)
	if len(lines) > explainMarked {
		return append(lines[:explainMarked], "...")
	}
	if e.Left > 0 {
		lines = append(lines, fmt.Sprintf("... and %d words more", e.Left))
	}
	return lines
}

// explainRules tells which exempt rules hold.
func explainRules(b *strings.Builder, e *filter.Explanation) {
	if len(e.Rules) == 0 {
		b.WriteString("\nNo exempt rule holds.\n")
		return
	}
	fmt.Fprintf(b, "\nExempt rules that hold, of which the first counts: %s\n", printable(strings.Join(e.Rules, ", ")))
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// wrap makes lines of up to width columns of a text, safe to show; its own line ends hold. There is at least one, and one of
// a single character where that is wider.
func wrap(text string, width int) []string {
	var out []string
	for paragraph := range strings.SplitSeq(text, "\n") {
		line, n := "", 0
		flush := func() {
			if n > 0 {
				out = append(out, line)
			}
			line, n = "", 0
		}
		for _, word := range strings.Fields(printable(paragraph)) {
			if n+1+columns(word) > width {
				flush()
			}
			if n > 0 {
				line += " "
				n++
			}
			for _, r := range word { // a word may be longer than a line
				if n+columnsOf(r) > width {
					flush()
				}
				line += string(r)
				n += columnsOf(r)
			}
		}
		flush()
	}
	if out == nil {
		return []string{""}
	}
	return out
}

// columns is how wide a terminal shows a text.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += columnsOf(r)
	}
	return n
}

// columnsOf is 2 for the scripts whose characters are squares and for the full-width forms, else 1.
func columnsOf(r rune) int {
	if r >= 0x1100 && (unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) || r >= 0x3000 && r <= 0x303F || r >= 0xFF01 && r <= 0xFF60) {
		return 2
	}
	return 1
}

// indent puts a mark before each line, and a line end behind it.
func indent(lines []string, mark string) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(strings.TrimRight(mark+l, " "))
		b.WriteByte('\n')
	}
	return b.String()
}
