package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/cmd/spamsim/internal/source"
	"spamsim/milter/filter"
)

// A learning takes mail to the store, message by message, and tells what became of it.
type learning struct {
	*app
	verb string // past participle
	json bool

	done    int
	refused map[string]int // by reason
	named   int            // refused messages that were named
}

// A learnCount is what train and forget print as JSON.
type learnCount struct {
	Done    int            `json:"done"`
	Not     map[string]int `json:"not"`    // by reason
	Unread  int            `json:"unread"` // files and messages that could not be read
	Partial bool           `json:"partial"`
}

// run gives each message of the paths to do. An interrupt ends it after the message at hand; what was done by then is
// put on disk and told.
func (l *learning) run(ctx context.Context, paths []string, do func(context.Context, control.Service, []byte) (filter.Outcome, error)) error {
	conf, err := l.load()
	if err != nil {
		return err
	}
	l.refused = map[string]int{}
	bad := &unread{app: l.app}
	bar := l.progress(l.verb, sizeOf(paths))
	err = l.use(conf, toWrite, func(s control.Service) error {
		err := l.each(ctx, paths, bad, bar, func(raw []byte) (filter.Outcome, error) {
			return do(context.WithoutCancel(ctx), s, raw)
		}, int64(conf.Limits.MaxJudgedSize))
		return firstError(s.Sync(context.WithoutCancel(ctx)), err)
	})
	bar.done()
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w (%d messages were taken before)", err, l.done)
	}
	return firstError(l.tell(bad, err != nil), err, bad.err())
}

func (l *learning) each(ctx context.Context, paths []string, bad *unread, bar *progress, do func([]byte) (filter.Outcome, error), limit int64) error {
	for m := range source.Read(paths, source.Options{Stdin: l.stdin, Limit: limit}) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if m.Err != nil {
			bad.add(m.Err)
			continue
		}
		o, err := do(m.Raw)
		if err != nil {
			return fmt.Errorf("%s: %w", m.Name, err)
		}
		if o.Done {
			l.done++
		} else {
			l.refuse(m.Name, o.Reason)
		}
		bar.add(len(m.Raw))
	}
	return nil
}

// refuse counts a message that was not taken. One that is known already is no news.
func (l *learning) refuse(name, reason string) {
	l.refused[reason]++
	if reason == "known" {
		return
	}
	if l.named++; l.named <= maxNamed {
		l.warn("%s was not %s: %s", name, l.verb, reasonWords(reason))
	}
}

// reasonWords says a reason in words.
func reasonWords(reason string) string {
	switch reason {
	case "short":
		return "too little text to know it again by"
	case "unknown":
		return "it was never learnt or counted"
	case "asked":
		return "it was not counted here; the other nodes are asked to forget it"
	}
	return reason
}

// tell prints the counts.
func (l *learning) tell(bad *unread, partial bool) error {
	if l.json {
		return l.app.json(learnCount{l.done, l.refused, bad.n, partial})
	}
	var parts []string
	for _, reason := range slices.Sorted(maps.Keys(l.refused)) {
		parts = append(parts, fmt.Sprintf("%d %s", l.refused[reason], reason))
	}
	text := fmt.Sprintf("%d messages %s", l.done, l.verb)
	if parts != nil {
		text += "; not " + l.verb + ": " + strings.Join(parts, ", ")
	}
	if bad.n > 0 {
		text += fmt.Sprintf("; %d could not be read", bad.n)
	}
	if partial {
		text += "; interrupted before the end"
	}
	return l.printf("%s\n", text)
}
