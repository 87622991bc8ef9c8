package main

import (
	"fmt"
	"strings"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/control"
	"spamsim/milter/filter"
)

// An observing counts, in mode observe, what enforcing would have done. Its nil counts nothing.
type observing struct {
	acts actions
	n    control.Would
}

// observed is nil in mode enforce.
func observed(c *config.Loaded) *observing {
	if c.Mode == "enforce" {
		return nil
	}
	return &observing{wantedActions(c), control.Would{Bulk: c.Actions.Bulk, Spam: c.Actions.Spam}}
}

// count counts a message. What scanners ask about is left out: they act by themselves.
func (o *observing) count(env *filter.Envelope, v *filter.Verdict) {
	if o == nil || env.Door == "dccifd" {
		return
	}
	o.n.Messages++
	switch {
	case v.Kind == filter.Bulk:
		o.n.Found++
	case v.Kind == filter.Exempt && v.Would == filter.Bulk:
		o.n.Exempt++
	}
	act, _ := o.acts.of(env, v)
	if o.acts.subject(v) != "" && act != filter.TempFail && act != filter.Reject {
		o.n.Prefixed++
	}
	switch act {
	case filter.Redirect:
		o.n.Redirected++
	case filter.Quarantine:
		o.n.Quarantined++
	case filter.TempFail:
		o.n.PutOff++
	case filter.Reject:
		o.n.Rejected++
	}
}

// stat is a copy of the counts, nil where nothing is counted.
func (o *observing) stat() *control.Would {
	if o == nil {
		return nil
	}
	n := o.n
	return &n
}

// wouldText says what enforcing would have done.
func wouldText(w *control.Would) string {
	exempt := fmt.Sprintf("none of them exempt (exempt bulk mail: %d)", w.Exempt)
	var parts []string
	for _, act := range []struct {
		word, past string
		n          int64
	}{{"quarantine", "quarantined", w.Quarantined}, {"redirect", "redirected", w.Redirected}, {"tempfail", "put off", w.PutOff},
		{"reject", "rejected", w.Rejected}, {"", "prefixed the Subject of", w.Prefixed}} {
		if w.Bulk == act.word || w.Spam == act.word || act.word == "" && act.n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", act.past, act.n))
		}
	}
	if parts == nil {
		return fmt.Sprintf("enforcing would have changed nothing, since [actions] only tags: %d of %d messages were bulk, %s", w.Found, w.Messages, exempt)
	}
	return fmt.Sprintf("enforcing would have %s of %d messages, %s", strings.Join(parts, ", "), w.Messages, exempt)
}
