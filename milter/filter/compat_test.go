package filter

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCompatibility(t *testing.T) {
	for _, c := range []struct {
		v    Verdict
		want string
	}{
		{Verdict{Kind: Bulk, Judged: true, Sigma: 4.64, Threshold: 3}, "X-Spam-Flag: YES\r\n" +
			"X-Spam-Status: Yes, score=4.6 required=3.0 tests=SPAMSIM_BULK\r\nX-Spam-Level: ****\r\n" +
			"X-DCC-spamsim-Metrics: mx 1; bulk Body=many Fuz1=many Fuz2=many\r\n"},
		{Verdict{Kind: Bulk, Judged: true, Sigma: 400, Threshold: 3}, "X-Spam-Flag: YES\r\n" +
			"X-Spam-Status: Yes, score=400.0 required=3.0 tests=SPAMSIM_BULK\r\n" +
			"X-Spam-Level: **************************************************\r\n" +
			"X-DCC-spamsim-Metrics: mx 1; bulk Body=many Fuz1=many Fuz2=many\r\n"},
		{Verdict{Kind: Clean, Judged: true, Copies: 4, Senders: Count{N: 3}, Nets: Count{N: 2}, Sigma: 9, Threshold: 3}, "X-Spam-Flag: NO\r\n" +
			"X-Spam-Status: No, score=0.0 required=3.0 tests=SPAMSIM_CLEAN\r\nX-DCC-spamsim-Metrics: mx 1; Body=4 Fuz1=3 Fuz2=2\r\n"},
		{Verdict{Kind: Exempt, Would: Bulk, Judged: true, Sigma: 9, Threshold: 3}, "X-Spam-Flag: NO\r\n" +
			"X-Spam-Status: No, score=0.0 required=3.0 tests=SPAMSIM_EXEMPT\r\nX-DCC-spamsim-Metrics: mx 1; ok Body=1 Fuz1=1 Fuz2=1\r\n"},
		{Verdict{Kind: Error, Reason: "panic"}, "X-Spam-Flag: NO\r\n" +
			"X-Spam-Status: No, score=0.0 required=0.0 tests=SPAMSIM_ERROR\r\nX-DCC-spamsim-Metrics: mx 1; error\r\n"},
	} {
		plain := c.v.judgement("mx")
		got := string(Apply([]byte("X-SPAM-FLAG: forged\r\nSubject: x\r\nx-spam-level: *\r\nX-Spam-Status: Yes\r\nx-dcc-SPAMSIM-metrics: forged\r\n\r\nbody\r\n"), plain.WithCompatibility("mx")))
		want := string(Apply(nil, plain)) // the verdict's own field stays first
		want = want[:len(want)-2] + c.want + "Subject: x\r\n\r\nbody\r\n"
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%v:\n%s", c.v.Kind, d)
		}
		if len(plain.Add) != 1 || len(plain.Strip) != 2 {
			t.Errorf("%v: the judgement itself was changed: %+v", c.v.Kind, plain)
		}
	}
}
