package filter

import "fmt"

// MetricsName is the name of the field that carries counts in the words of dccifd's clients, which look for X-DCC-, a
// name, -Metrics.
const MetricsName = "X-DCC-spamsim-Metrics"

const (
	// maxMetric is the highest count told: SpamAssassin and rspamd take 999999 and more for "many".
	maxMetric = 999_998
	// maxMetricsHost is as much of the host's name as leaves the longest line below Exim's 120 characters.
	maxMetricsHost = 50
)

// Metrics returns the value of the field of MetricsName, without a blank before it: that the host called id counted, and
// what.
//
//	mx1 1; bulk Body=many Fuz1=many Fuz2=many    verdict bulk
//	mx1 1; Body=4 Fuz1=4 Fuz2=3                  clean: copies, distinct senders, distinct networks of senders
//	mx1 1; ok Body=4 Fuz1=4 Fuz2=3               exempt: the same counts, by a rule no bulk
//	mx1 1; abstain                               nothing was counted; so for "skipped" and "error"
func (v *Verdict) Metrics(id string) string {
	if len(id) > maxMetricsHost {
		id = id[:maxMetricsHost]
	}
	return id + " 1; " + v.counts() // 1 is the number of the server, of which there is one
}

// counts says what a verdict rests on in the words that clients know.
func (v *Verdict) counts() string {
	numbers := fmt.Sprintf("Body=%d Fuz1=%d Fuz2=%d", metric(v.Copies), metric(v.Senders.N), metric(v.Nets.N))
	switch v.Kind {
	case Clean:
		return numbers
	case Bulk:
		return "bulk Body=many Fuz1=many Fuz2=many"
	case Exempt:
		return "ok " + numbers
	default:
		return v.Kind.String()
	}
}

// metric is a count as it is told: a message that is like none before is the first of its kind.
func metric(n int) int { return min(max(n, 1), maxMetric) }
