package main

import (
	"log/slog"
	"testing"

	"spamsim/milter/filter"
)

// TestActions: what is done with each verdict, by the configuration's words, in both modes, and by how the mail came.
func TestActions(t *testing.T) {
	front := filter.Envelope{Door: "smtp"}
	for _, c := range []struct {
		mode, bulk, spam string
		env              filter.Envelope
		v                filter.Verdict
		want             filter.Action
		reply            string
	}{
		{"observe", "quarantine", "reject", front, filter.Verdict{Kind: filter.Bulk}, filter.Tag, ""},
		{"observe", "quarantine", "reject", front, filter.Verdict{Kind: filter.Bulk, Label: filter.Spam}, filter.Tag, ""},
		{"enforce", "tag", "tag", front, filter.Verdict{Kind: filter.Bulk, Label: filter.Spam}, filter.Tag, ""},
		{"enforce", "quarantine", "reject", front, filter.Verdict{Kind: filter.Bulk}, filter.Quarantine, ""},
		{"enforce", "quarantine", "reject", front, filter.Verdict{Kind: filter.Bulk, Cluster: "7f3a", Label: filter.Spam}, filter.Reject,
			"550 5.7.1 Message refused: known as spam (spamsim 7f3a)"},
		{"enforce", "tempfail", "tag", front, filter.Verdict{Kind: filter.Bulk, Cluster: "7f3a"}, filter.TempFail,
			"451 4.7.1 Message refused for now: bulk mail (spamsim 7f3a)"},
		{"enforce", "tempfail", "tag", front, filter.Verdict{Kind: filter.Bulk, Label: filter.Spam}, filter.Tag, ""},
		{"enforce", "tempfail", "reject", front, filter.Verdict{Kind: filter.Clean, Label: filter.Spam}, filter.Tag, ""},
		{"enforce", "tempfail", "reject", front, filter.Verdict{Kind: filter.Exempt, Would: filter.Bulk, Label: filter.Spam}, filter.Tag, ""},
		{"enforce", "tempfail", "reject", front, filter.Verdict{Kind: filter.Abstain}, filter.Tag, ""},
		{"enforce", "tempfail", "reject", front, filter.Verdict{Kind: filter.Skipped}, filter.Tag, ""},
		{"enforce", "tempfail", "reject", front, filter.Verdict{Kind: filter.Error}, filter.Tag, ""},
		// Behind a queue nothing is turned away, but it may be kept.
		{"enforce", "tempfail", "reject", filter.Envelope{Door: "smtp", QueueID: "4AB"}, filter.Verdict{Kind: filter.Bulk}, filter.Tag, ""},
		{"enforce", "tempfail", "reject", filter.Envelope{Door: "lmtp"}, filter.Verdict{Kind: filter.Bulk, Label: filter.Spam}, filter.Tag, ""},
		{"enforce", "quarantine", "reject", filter.Envelope{Door: "lmtp"}, filter.Verdict{Kind: filter.Bulk}, filter.Quarantine, ""},
		// A milter is asked before the queue takes the message, which has its id by then.
		{"enforce", "tag", "reject", filter.Envelope{Door: "milter", QueueID: "4AB"}, filter.Verdict{Kind: filter.Bulk, Label: filter.Spam}, filter.Reject,
			"550 5.7.1 Message refused: known as spam (spamsim )"},
	} {
		conf := testConfig(t, "mode = \""+c.mode+"\"\n[actions]\nbulk = \""+c.bulk+"\"\nspam = \""+c.spam+"\"\n")
		got, reply := configuredActions(conf).of(&c.env, &c.v)
		if got != c.want || reply != c.reply {
			t.Errorf("%s, bulk %s, spam %s, %+v, %v: action %d, %q; want %d, %q", c.mode, c.bulk, c.spam, c.env, c.v.Kind, got, reply, c.want, c.reply)
		}
	}
}

// TestOverload: what is done with mail for which there was no time, and with all other mail that is not judged.
func TestOverload(t *testing.T) {
	front := filter.Envelope{Door: "smtp"}
	for _, c := range []struct {
		mode, overload string
		env            filter.Envelope
		kind           filter.Kind
		reason         string
		want           filter.Action
	}{
		{"enforce", "tempfail", front, filter.Error, "timeout", filter.TempFail},
		{"enforce", "tempfail", front, filter.Error, "busy", filter.TempFail},
		{"enforce", "tempfail", filter.Envelope{Door: "milter", QueueID: "4AB"}, filter.Error, "busy", filter.TempFail},
		{"enforce", "pass", front, filter.Error, "busy", filter.Tag},
		{"observe", "tempfail", front, filter.Error, "busy", filter.Tag},
		{"enforce", "tempfail", front, filter.Error, "panic", filter.Tag}, // it would be put off for ever
		{"enforce", "tempfail", front, filter.Skipped, "size", filter.Tag},
		{"enforce", "tempfail", filter.Envelope{Door: "lmtp"}, filter.Error, "busy", filter.Tag},
		{"enforce", "tempfail", filter.Envelope{Door: "smtp", QueueID: "4AB"}, filter.Error, "busy", filter.Tag},
	} {
		conf := testConfig(t, "mode = \""+c.mode+"\"\n[limits]\noverload = \""+c.overload+"\"\n")
		j := newJudging(conf, nil, nil, nil, slog.New(slog.DiscardHandler))
		got := j.pass(&c.env, c.kind, c.reason)
		if got.Action != c.want || (got.Reply != "") != (c.want == filter.TempFail) {
			t.Errorf("%s, %s, %+v, %v %s: action %d, %q; want %d", c.mode, c.overload, c.env, c.kind, c.reason, got.Action, got.Reply, c.want)
		}
	}
}
