package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"spamsim/milter/filter"
	"spamsim/parse"
)

// A report is what a backtest tells people.
type report struct {
	messages   int
	first, end time.Time
	verdicts   map[string]int
	reasons    map[string]map[string]int // verdict -> reason -> messages
	campaigns  map[string]*campaign
	spam, ham  share
	lost       []lost // ham that was called bulk, in the order of judging
}

// A campaign is one cluster of which something was called bulk.
type campaign struct {
	cluster       string
	bulk          int
	copies        int
	senders, nets filter.Count
	sigma         float64 // lowest of those called bulk: how sure the least sure call was
	first, last   time.Time
	subject       string // of the first copy, else of the first one called bulk
}

// A lost is ham that was called bulk.
type lost struct {
	name, cluster, subject string
	at                     time.Time
	copies                 int
	sigma                  float64
}

// add counts one judged message.
func (r *report) add(j judged) error {
	if r.verdicts == nil {
		r.verdicts, r.reasons, r.campaigns = map[string]int{}, map[string]map[string]int{}, map[string]*campaign{}
	}
	v := &j.verdict
	kind := v.Kind.String()
	r.messages++
	r.verdicts[kind]++
	if v.Reason != "" {
		if r.reasons[kind] == nil {
			r.reasons[kind] = map[string]int{}
		}
		r.reasons[kind][v.Reason]++
	}
	if r.first.IsZero() || j.at.Before(r.first) {
		r.first = j.at
	}
	if j.at.After(r.end) {
		r.end = j.at
	}
	bulk := v.Kind == filter.Bulk
	if bulk {
		r.bulk(&j)
	}
	switch j.given {
	case filter.Spam:
		r.spam.add(bulk)
	case filter.Ham:
		r.ham.add(bulk)
	}
	return nil
}

func (r *report) bulk(j *judged) {
	v := &j.verdict
	c := r.campaigns[v.Cluster]
	if c == nil {
		c = &campaign{cluster: v.Cluster, sigma: v.Sigma, first: j.at, subject: j.evidence.Sample}
		if c.subject == "" {
			c.subject = subjectOf(j)
		}
		r.campaigns[v.Cluster] = c
	}
	c.bulk++
	c.copies, c.senders, c.nets, c.sigma = max(c.copies, v.Copies), v.Senders, v.Nets, min(c.sigma, v.Sigma)
	for _, at := range []time.Time{j.at, j.evidence.First} {
		if !at.IsZero() && at.Before(c.first) {
			c.first = at
		}
	}
	if j.at.After(c.last) {
		c.last = j.at
	}
	if j.given == filter.Ham {
		r.lost = append(r.lost, lost{j.Name, v.Cluster, subjectOf(j), j.at, v.Copies, v.Sigma})
	}
}

func subjectOf(j *judged) string { return parse.Parse(j.Raw, parse.Limits{}).Subject }

// maxCampaigns is how many campaigns are listed.
const maxCampaigns = 30

// write prints the report.
func (r *report) write(a *app) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d messages", r.messages)
	if r.messages > 0 {
		fmt.Fprintf(&b, ", %s to %s", day(r.first), day(r.end))
	}
	b.WriteString("\n\n")
	r.table(&b)
	if r.spam.of+r.ham.of > 0 {
		fmt.Fprintf(&b, "\nspam found  %s\nham lost    %s\nwith 95 %% intervals; the first copies of a campaign count as not found\n", r.spam, r.ham)
	}
	if len(r.campaigns) == 0 {
		b.WriteString("\nNo campaign was found.\n")
		return a.printf("%s", b.String())
	}
	if err := firstError(r.listCampaigns(&b), r.listLost(&b)); err != nil {
		return err
	}
	return a.printf("%s", b.String())
}

// listCampaigns prints the campaigns, biggest first.
func (r *report) listCampaigns(b *strings.Builder) error {
	fmt.Fprintf(b, "\n%d campaigns, biggest first. \"bulk\" are the copies called so, the first ones of a campaign are not.\n\n", len(r.campaigns))
	list := slices.SortedFunc(maps.Values(r.campaigns), func(x, y *campaign) int {
		return cmp.Or(cmp.Compare(y.copies, x.copies), x.first.Compare(y.first), cmp.Compare(x.cluster, y.cluster))
	})
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "CLUSTER\tCOPIES\tBULK\tSENDERS\tNETS\tSIGMA\tFIRST COPY\tLAST BULK\tSUBJECT OF THE FIRST COPY")
	for _, c := range list[:min(len(list), maxCampaigns)] {
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\t%.1f\t%s\t%s\t%s\n", c.cluster, c.copies, c.bulk, countWord(c.senders), countWord(c.nets), c.sigma,
			day(c.first), day(c.last), shorten(c.subject, 50))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if more := len(list) - maxCampaigns; more > 0 {
		fmt.Fprintf(b, "and %d more\n", more)
	}
	return nil
}

// listLost prints all ham that was called bulk: each may be somebody's letter.
func (r *report) listLost(b *strings.Builder) error {
	if len(r.lost) == 0 {
		return nil
	}
	fmt.Fprintf(b, "\n%d of the ham were called bulk. \"spamsim train --ham\" exempts mail like one of them, an [[exempt]] rule its sender.\n\n", len(r.lost))
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "MESSAGE\tTIME\tCLUSTER\tCOPIES\tSIGMA\tSUBJECT")
	for _, l := range r.lost {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%.1f\t%s\n", printable(l.name), day(l.at), l.cluster, l.copies, l.sigma, shorten(l.subject, 50))
	}
	return t.Flush()
}

// table prints how many messages had each verdict, with the reasons.
func (r *report) table(b *strings.Builder) {
	for _, kind := range slices.SortedFunc(maps.Keys(r.verdicts), func(x, y string) int {
		return cmp.Or(cmp.Compare(r.verdicts[y], r.verdicts[x]), strings.Compare(x, y))
	}) {
		n := r.verdicts[kind]
		fmt.Fprintf(b, "%-8s %8d  %5.1f %%", kind, n, 100*float64(n)/float64(r.messages))
		var why []string
		for _, reason := range slices.Sorted(maps.Keys(r.reasons[kind])) {
			why = append(why, fmt.Sprintf("%s %d", reason, r.reasons[kind][reason]))
		}
		if why != nil {
			fmt.Fprintf(b, "   %s", strings.Join(why, ", "))
		}
		b.WriteByte('\n')
	}
}

func day(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// countWord marks a count that is not exact.
func countWord(c filter.Count) string {
	if c.Approx {
		return fmt.Sprintf("~%d", c.N)
	}
	return fmt.Sprint(c.N)
}
