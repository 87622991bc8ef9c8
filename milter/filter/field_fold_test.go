package filter

import (
	"strings"
	"testing"
)

// Whatever the figures, no line is longer than 78 characters (RFC 5322 section 2.1.1), and all is printable ASCII.
func TestFieldFolds(t *testing.T) {
	for digits := 1; digits < 1_000_000_000; digits *= 10 {
		c := Count{N: digits, Approx: true}
		v := Verdict{Kind: Bulk, Judged: true, Sigma: 8, Threshold: 3, Nilsimsa: -128, SimHash: 64, Cluster: "ffffffff",
			Copies: digits, Senders: c, Nets: c, Recipients: c, Label: Spam,
			Seal: "0123456789abcdef"}
		for _, line := range strings.Split(HeaderName+":"+v.Field("mx1.example.net"), "\n") {
			if len(line) > lineLength {
				t.Errorf("%d characters: %q", len(line), line)
			}
			if i := strings.IndexFunc(line, func(r rune) bool { return r > '~' || r < ' ' && r != '\t' }); i >= 0 {
				t.Errorf("not printable ASCII: %q", line)
			}
		}
	}
}
