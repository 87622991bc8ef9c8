package dccifd

import (
	"fmt"
	"io"
	"strings"

	"spamsim/milter/filter"
)

// headerName carries the counts; clients look for X-DCC-, a name, -Metrics.
const headerName = "X-DCC-spamsim-Metrics"

const (
	// maxNumber is the highest count: SpamAssassin and rspamd take 999999 and more for "many".
	maxNumber = 999_998
	// maxHost is as much of this host's name as leaves the longest line below Exim's 120 characters.
	maxHost = 50
)

// metrics is the header line's value: who counted, and what.
func metrics(host string, v *filter.Verdict) string {
	if len(host) > maxHost {
		host = host[:maxHost]
	}
	return host + " 1; " + counts(v) // 1 is the number of the server, of which there is one
}

// counts says what a verdict rests on in the words that clients know.
func counts(v *filter.Verdict) string {
	numbers := fmt.Sprintf("Body=%d Fuz1=%d Fuz2=%d", number(v.Copies), number(v.Senders.N), number(v.Nets.N))
	switch v.Kind {
	case filter.Clean:
		return numbers
	case filter.Bulk:
		return "bulk Body=many Fuz1=many Fuz2=many"
	case filter.Exempt:
		return "ok " + numbers
	default:
		return v.Kind.String()
	}
}

// number is a count as it is shown: a message that is like none before is the first of its kind.
func number(n int) int { return min(max(n, 1), maxNumber) }

// writeAnswer answers a request whose message was judged, in as few writes as can be: Exim looks for the end of the header
// in what it reads at once.
func writeAnswer(w io.Writer, q *request, host string, v *filter.Verdict, raw []byte) error {
	lines := "A\n" + strings.Repeat("A", q.answers) + "\n"
	if q.header && !q.body {
		lines += headerLine(host, v)
	}
	if _, err := io.WriteString(w, lines); err != nil || !q.body {
		return err
	}
	mark := filter.Judgement{Add: []filter.Field{{Name: headerName, Value: " " + metrics(host, v)}}, Strip: []string{headerName}}
	_, err := w.Write(filter.Apply(raw, mark))
	return err
}

// headerLine is the header line with the empty line that ends it.
func headerLine(host string, v *filter.Verdict) string {
	return headerName + ": " + metrics(host, v) + "\n\n"
}

// failure is the answer where nothing can be said. It has a header line whatever was asked for: rspamd takes no notice of
// a result that nothing follows, and Exim runs over its buffer where an empty line does.
func failure(host string) string {
	return "T\n\n" + headerLine(host, &filter.Verdict{Kind: filter.Error})
}
