package filter

import (
	"strings"
	"testing"

	"spamsim/store"
)

func TestDecide(t *testing.T) {
	near := store.Evidence{Sigma: 4.6, Member: true, Copies: 5, Cluster: "7f3a19c2", Senders: Count{N: 5}}
	with := func(change func(*store.Evidence)) store.Evidence {
		ev := near
		change(&ev)
		return ev
	}
	for name, c := range map[string]struct {
		ev    store.Evidence
		rule  string
		kind  Kind
		word  string
		would Kind
	}{
		"nothing":        {store.Evidence{}, "", Clean, "", Clean},
		"bulk":           {near, "", Bulk, "", Clean},
		"four copies":    {with(func(e *store.Evidence) { e.Copies = 4 }), "", Clean, "", Clean},
		"below three":    {with(func(e *store.Evidence) { e.Sigma = 2.9 }), "", Clean, "", Clean},
		"no member":      {with(func(e *store.Evidence) { e.Member = false }), "", Clean, "", Clean},
		"short":          {store.Evidence{Abstain: "short"}, "", Abstain, "short", Clean},
		"rule":           {near, "our-list", Exempt, "our-list", Bulk},
		"rule, not bulk": {store.Evidence{}, "outbound", Exempt, "outbound", Clean},
		"ham":            {with(func(e *store.Evidence) { e.Label, e.Copies = Ham, 2 }), "", Exempt, "ham", Bulk},
		"spam":           {with(func(e *store.Evidence) { e.Label, e.Copies = Spam, 2 }), "", Clean, "", Clean},
	} {
		v := decide(&c.ev, c.rule, &Config{Threshold: 3, BulkCount: 5})
		if v.Kind != c.kind || v.Reason != c.word || v.Would != c.would {
			t.Errorf("%s: %v %q would %v, want %v %q would %v", name, v.Kind, v.Reason, v.Would, c.kind, c.word, c.would)
		}
	}
}

func TestField(t *testing.T) {
	bulk := Verdict{Kind: Bulk, Judged: true, Sigma: 4.6, Threshold: 3, Nilsimsa: 97, SimHash: 4, Cluster: "7f3a19c2",
		Copies: 37, Senders: Count{N: 31}, Nets: Count{N: 22}, Recipients: Count{N: 70, Approx: true}}
	for want, v := range map[string]Verdict{
		" bulk; sigma=4.6; threshold=3.0; nilsimsa=97; simhash=4;\n" +
			"\tcluster=7f3a19c2; copies=37; senders=31; nets=22; rcpts=~70; label=none;\n" +
			"\tid=mx1.example.net": bulk,
		" exempt; reason=ham; would=bulk; id=mx1.example.net":  {Kind: Exempt, Reason: "ham", Would: Bulk, Judged: true, Cluster: "1"},
		" abstain; reason=short; id=mx1.example.net":           {Kind: Abstain, Reason: "short"},
		" clean; sigma=0.0; threshold=3.0; id=mx1.example.net": {Judged: true, Threshold: 3},
		" skipped; reason=size; id=mx1.example.net":            {Kind: Skipped, Reason: "size"},
		" clean; id=mx1.example.net":                           {},
	} {
		got := v.Field("mx1.example.net")
		if got != want {
			t.Errorf("%+v:\n%q, want\n%q", v, got, want)
		}
		for i, line := range strings.Split(HeaderName+":"+got, "\n") {
			if len(line) > lineLength {
				t.Errorf("line %d is too long: %q", i, line)
			}
		}
	}
}
