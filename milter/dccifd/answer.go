package dccifd

import (
	"io"
	"strings"

	"spamsim/milter/filter"
)

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
	mark := filter.Judgement{Add: []filter.Field{{Name: filter.MetricsName, Value: " " + v.Metrics(host)}}, Strip: []string{filter.MetricsName}}
	_, err := w.Write(filter.Apply(raw, mark))
	return err
}

// headerLine is the header line with the empty line that ends it.
func headerLine(host string, v *filter.Verdict) string {
	return filter.MetricsName + ": " + v.Metrics(host) + "\n\n"
}

// failure is the answer where nothing can be said. It has a header line whatever was asked for: rspamd takes no notice of
// a result that nothing follows, and Exim runs over its buffer where an empty line does.
func failure(host string) string {
	return "T\n\n" + headerLine(host, &filter.Verdict{Kind: filter.Error})
}
