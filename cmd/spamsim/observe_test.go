package main

import (
	"testing"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/milter/filter"
)

// TestObserve counts what enforcing would have done, and leaves it undone.
func TestObserve(t *testing.T) {
	bulk, spam := filter.Verdict{Kind: filter.Bulk}, filter.Verdict{Kind: filter.Bulk, Label: filter.Spam}
	mail := []struct {
		door string
		v    filter.Verdict
	}{
		{"smtp", bulk}, {"lmtp", bulk}, {"milter", spam}, {"lmtp", spam}, {"smtp", filter.Verdict{}}, {"smtp", filter.Verdict{Kind: filter.Skipped}},
		{"smtp", filter.Verdict{Kind: filter.Exempt, Would: filter.Bulk, Label: filter.Spam}}, {"smtp", filter.Verdict{Kind: filter.Exempt}},
		{"dccifd", bulk}, {"dccifd", filter.Verdict{}},
	}
	for _, c := range []struct {
		bulk, spam string
		want       control.Would
		text       string
	}{
		{"tag", "tag", control.Would{Messages: 8, Found: 4, Exempt: 1},
			"enforcing would have changed nothing, since [actions] only tags: 4 of 8 messages were bulk, none of them exempt (exempt bulk mail: 1)"},
		{"quarantine", "quarantine", control.Would{Messages: 8, Found: 4, Quarantined: 4, Exempt: 1},
			"enforcing would have quarantined 4 of 8 messages, none of them exempt (exempt bulk mail: 1)"},
		{"redirect", "reject", control.Would{Messages: 8, Found: 4, Redirected: 2, Rejected: 1, Prefixed: 2, Exempt: 1},
			"enforcing would have redirected 2, rejected 1, prefixed the Subject of 2 of 8 messages, none of them exempt (exempt bulk mail: 1)"},
		{"tempfail", "reject", control.Would{Messages: 8, Found: 4, PutOff: 1, Rejected: 1, Exempt: 1}, // not behind a queue
			"enforcing would have put off 1, rejected 1 of 8 messages, none of them exempt (exempt bulk mail: 1)"},
	} {
		conf := testConfig(t, "[actions]\nbulk = \""+c.bulk+"\"\nspam = \""+c.spam+"\"\nredirect_to = \"a@site.example\"\n")
		if c.want.Prefixed > 0 {
			conf.Actions.BulkSubject = "[bulk]"
		}
		o := observed(conf)
		for _, m := range mail {
			o.count(&filter.Envelope{Door: m.door}, &m.v)
		}
		c.want.Bulk, c.want.Spam = c.bulk, c.spam
		if got := o.stat(); *got != c.want {
			t.Errorf("bulk %s, spam %s: %+v, want %+v", c.bulk, c.spam, *got, c.want)
		} else if text := wouldText(got); text != c.text {
			t.Errorf("%q, want %q", text, c.text)
		}
	}
}

// TestEnforcingIsNoObserving: where the actions are carried out nothing would have been done.
func TestEnforcingIsNoObserving(t *testing.T) {
	o := observed(testConfig(t, "mode = \"enforce\"\n[actions]\nbulk = \"quarantine\"\n"))
	o.count(&filter.Envelope{Door: "smtp"}, &filter.Verdict{Kind: filter.Bulk})
	if o.stat() != nil {
		t.Errorf("%+v", o.stat())
	}
}
