package main

import (
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"spamsim/store"
)

// named is a campaign's name in quotes, behind a comma, where it has one.
func named(c *store.Campaign) string {
	if c.Name == "" {
		return ""
	}
	return fmt.Sprintf(", %q", printable(c.Name))
}

// titleOf is what people know a campaign by: the name that they gave it, else its subject.
func titleOf(c *store.Campaign) string {
	if c.Name != "" {
		return "[" + shorten(c.Name, 38) + "]"
	}
	return shorten(c.Sample, 40)
}

// campaignTable lists campaigns as they are at a time.
func campaignTable(list []store.Campaign, at time.Time) string {
	if len(list) == 0 {
		return "no campaigns: nothing that is remembered came twice\n"
	}
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CLUSTER\tCOPIES\tA MINUTE\tSENDERS\tNETS\tLABEL\tFIRST (UTC)\tLAST (UTC)\tSUBJECT OR [NAME]")
	for i := range list {
		c := &list[i]
		fmt.Fprintf(t, "%s\t%d\t%.1f\t%s\t%s\t%s\t%s\t%s\t%s\n", c.ID, c.Copies, c.Rate(at), countWord(c.Senders), countWord(c.Nets), c.Label,
			day(c.First), day(c.Last), titleOf(c))
	}
	_ = t.Flush() // into a strings.Builder, which cannot fail
	return b.String()
}

// detailText tells of the campaign that an id was asked for.
func detailText(asked string, d *store.Detail, at time.Time) string {
	var b strings.Builder
	fmt.Fprintf(&b, "campaign    %s%s\n", d.ID, named(&d.Campaign))
	if !strings.EqualFold(asked, d.ID) {
		fmt.Fprintf(&b, "            which took up %s\n", printable(asked))
	}
	fmt.Fprintf(&b, "subject     %s\n", orNone(printable(d.Sample)))
	fmt.Fprintf(&b, "label       %s\n", d.Label)
	fmt.Fprintf(&b, "copies      %d, from %s to %s UTC; %.1f a minute of late\n", d.Copies, day(d.First), day(d.Last), d.Rate(at))
	fmt.Fprintf(&b, "senders     %s%s\n", countWord(d.Senders), busiest(d.BySender))
	fmt.Fprintf(&b, "networks    %s%s\n", countWord(d.Nets), busiest(d.ByNet))
	fmt.Fprintf(&b, "recipients  %s\n", countWord(d.Rcpts))
	fmt.Fprintf(&b, "text        %d features, of which %d are in nine of ten copies and more\n", d.Features, d.Constant)
	if len(d.Hours) > 0 {
		fmt.Fprintf(&b, "\nCopies from each hour on (UTC)\n%s", chart(d.Hours))
	}
	return b.String()
}

// busiest tells how many copies those that sent most have sent, where any sent more than one.
func busiest(copies []int) string {
	if len(copies) < 2 || copies[0] == 1 {
		return ""
	}
	const most = 3
	var counts []string
	for _, n := range copies[:min(most, len(copies))] {
		counts = append(counts, fmt.Sprint(n))
	}
	return ", the busiest with " + strings.Join(counts, ", ") + " copies"
}

// A chart has at most chartLines lines, and bars of at most chartWidth columns.
const (
	chartLines = 24
	chartWidth = 50
)

// chart draws the copies by hour, or by as many hours as make the lines few enough.
func chart(hours []store.Hour) string {
	by := (len(hours) + chartLines - 1) / chartLines
	var bins []store.Hour
	most := 1
	for i, h := range hours {
		if i%by == 0 {
			bins = append(bins, store.Hour{Start: h.Start})
		}
		last := &bins[len(bins)-1]
		last.Copies += h.Copies
		most = max(most, last.Copies)
	}
	var b strings.Builder
	for _, h := range bins {
		line := fmt.Sprintf("  %s  %s", day(h.Start), strings.Repeat("#", (h.Copies*chartWidth+most-1)/most))
		if h.Copies > 0 {
			line += fmt.Sprintf(" %d", h.Copies)
		}
		fmt.Fprintln(&b, strings.TrimRight(line, " "))
	}
	return b.String()
}
