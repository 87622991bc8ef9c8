package filter

import (
	"strings"
	"testing"
)

// TestMetrics: the words for each verdict. Numbers that clients take for "many" come with verdict bulk alone.
func TestMetrics(t *testing.T) {
	huge := Verdict{Copies: 5_000_000, Senders: Count{N: 999_999, Approx: true}, Nets: Count{N: 999_998}}
	exempt, bulk := huge, huge
	exempt.Kind, exempt.Would = Exempt, Bulk
	bulk.Kind = Bulk
	for _, c := range []struct {
		v    Verdict
		want string
	}{
		{Verdict{Judged: true}, "Body=1 Fuz1=1 Fuz2=1"}, // like nothing before: the first
		{Verdict{Judged: true, Copies: 4, Senders: Count{N: 3}, Nets: Count{N: 2}}, "Body=4 Fuz1=3 Fuz2=2"},
		{huge, "Body=999998 Fuz1=999998 Fuz2=999998"},
		{bulk, "bulk Body=many Fuz1=many Fuz2=many"},
		{exempt, "ok Body=999998 Fuz1=999998 Fuz2=999998"},
		{Verdict{Kind: Abstain, Reason: "short"}, "abstain"},
		{Verdict{Kind: Skipped, Reason: "size"}, "skipped"},
		{Verdict{Kind: Error, Reason: "panic"}, "error"},
	} {
		if got := c.v.Metrics("mx1"); got != "mx1 1; "+c.want {
			t.Errorf("%v: %q, want %q", c.v.Kind, got, c.want)
		}
		line := MetricsName + ": " + c.v.Metrics(strings.Repeat("long-name.", 10))
		if len(line) >= 120 || !strings.HasSuffix(line, " 1; "+c.want) {
			t.Errorf("%v: a line of %d characters: %q", c.v.Kind, len(line), line)
		}
	}
}
