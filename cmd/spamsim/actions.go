package main

import (
	"fmt"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/milter/filter"
)

// actions are what is done with bulk mail, and with bulk mail whose cluster people labelled spam; putOff, whether mail that is
// not judged for want of time is put off. The zero value tags.
type actions struct {
	bulk, spam               filter.Action
	bulkSubject, spamSubject string // prefixes
	redirectTo               string
	putOff                   bool
}

// actionWords are the configuration's words.
var actionWords = map[string]filter.Action{
	"tag": filter.Tag, "quarantine": filter.Quarantine, "tempfail": filter.TempFail, "reject": filter.Reject,
	"redirect": filter.Redirect,
}

// configuredActions are those of the configuration: in mode observe everything is but tagged.
func configuredActions(c *config.Loaded) actions {
	if c.Mode != "enforce" {
		return actions{}
	}
	return wantedActions(c)
}

// wantedActions are those that mode enforce does.
func wantedActions(c *config.Loaded) actions {
	do := &c.Actions
	return actions{actionWords[do.Bulk], actionWords[do.Spam], do.BulkSubject, do.SpamSubject, do.RedirectTo, c.Limits.Overload == "tempfail"}
}

// quarantines tells whether any mail may be quarantined.
func (a actions) quarantines() bool {
	return a.bulk == filter.Quarantine || a.spam == filter.Quarantine
}

// unjudged decides what is done with a message that was not judged: it passes, or comes again when there is more time.
func (a actions) unjudged(env *filter.Envelope, kind filter.Kind, reason string) (filter.Action, string) {
	if a.putOff && kind == filter.Error && (reason == "timeout" || reason == "busy") && !queued(env) {
		return filter.TempFail, "451 4.3.2 System too busy, try again later"
	}
	return filter.Tag, ""
}

// queued tells whether an MTA has a message in its queue.
func queued(env *filter.Envelope) bool {
	return env.Door == "lmtp" || env.Door == "smtp" && env.QueueID != ""
}

// of decides what is done with a message, and what its sender is told where it is turned away.
//
// Mail that an MTA has in its queue is not turned away: the MTA would bounce it, to a sender that spam forges. Such is
// mail by LMTP, and mail by SMTP with a queue id, which Postfix tells (XFORWARD IDENT) behind its queue only.
func (a actions) of(env *filter.Envelope, v *filter.Verdict) (filter.Action, string) {
	if v.Kind != filter.Bulk {
		return filter.Tag, ""
	}
	what, which := a.bulk, "bulk mail"
	if v.Label == filter.Spam {
		what, which = a.spam, "known as spam"
	}
	if what != filter.Reject && what != filter.TempFail {
		return what, ""
	}
	if queued(env) {
		return filter.Tag, ""
	}
	if what == filter.Reject {
		return what, fmt.Sprintf("550 5.7.1 Message refused: %s (spamsim %s)", which, v.Cluster)
	}
	return what, fmt.Sprintf("451 4.7.1 Message refused for now: %s (spamsim %s)", which, v.Cluster)
}

// carriedOut is a judgement with its action, and what that writes into the message.
func (a actions) carriedOut(env *filter.Envelope, j filter.Judgement) filter.Judgement {
	j.Action, j.Reply = a.of(env, &j.Verdict)
	return a.written(j)
}

// written is a judgement with what its action writes into the message: a prefix of the Subject, and where it is to go.
func (a actions) written(j filter.Judgement) filter.Judgement {
	j.Subject = a.subject(&j.Verdict)
	if j.Action == filter.Redirect {
		j = j.WithRedirect(a.redirectTo)
	}
	return j
}

// subject is the prefix of a message's Subject, "" for none.
func (a actions) subject(v *filter.Verdict) string {
	switch {
	case v.Kind != filter.Bulk:
		return ""
	case v.Label == filter.Spam:
		return a.spamSubject
	}
	return a.bulkSubject
}
