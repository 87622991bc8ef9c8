package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/cmd/spamsim/internal/source"
	"spamsim/milter/filter"
)

// A checker is what the flags of check say.
type checker struct {
	json, tag bool
	ask       control.Ask
}

func newCheck(a *app) *cobra.Command {
	k := &checker{}
	var sender string
	c := &cobra.Command{
		Use:   "check [FILE...]",
		Short: "Judge messages",
		Long: `Judges messages: of files, mbox files, maildirs or folders, or of standard input. They are not counted
as copies unless --learn is given. Exit status: 0, or 1 where a message is bulk.

With --tag the one message is written back with its X-Spamsim header on top, and the status is 0 as soon as it is
written: a filter that fails makes delivery agents drop the tag. What goes wrong is verdict "error" in that header.`,
		Example: "  spamsim check message.eml\n  spamsim check --tag < message.eml > tagged.eml",
		RunE: func(cmd *cobra.Command, files []string) error {
			if cmd.Flags().Changed("sender") {
				k.ask.Sender = &sender
			}
			if err := k.ask.Check(); err != nil {
				return usage(fmt.Errorf("--client %s: %w", k.ask.Client, err))
			}
			if !k.tag {
				return k.run(cmd.Context(), a, files)
			}
			if len(files) > 1 {
				return usage(errors.New("--tag takes one message"))
			}
			return k.runTag(cmd.Context(), a, append(files, "-")[0])
		},
	}
	f := c.Flags()
	f.BoolVar(&k.json, "json", false, "one JSON line a message")
	f.BoolVar(&k.tag, "tag", false, "write the message back with the header")
	f.BoolVar(&k.ask.Learn, "learn", false, "count the message as a copy that came now")
	f.StringVar(&sender, "sender", "", "the envelope sender is this `address`, whatever the header says; empty: the null sender")
	f.StringArrayVar(&k.ask.Recipients, "recipient", nil, "so is this `address` a recipient; may be repeated")
	f.StringVar(&k.ask.Client, "client", "", "so is this IP `address` that of the sending host")
	c.MarkFlagsMutuallyExclusive("json", "tag")
	a.storeFlag(c)
	return c
}

func (k *checker) access() access {
	if k.ask.Learn {
		return toWrite
	}
	return toRead
}

func (k *checker) run(ctx context.Context, a *app, paths []string) error {
	conf, err := a.load()
	if err != nil {
		return err
	}
	bad := &unread{app: a}
	bulk := false
	err = a.use(conf, k.access(), func(s control.Service) error {
		for m := range source.Read(paths, source.Options{Stdin: a.stdin, Limit: int64(conf.Limits.MaxJudgedSize)}) {
			v, err := k.judge(ctx, s, m)
			if err != nil {
				return err
			}
			if errors.Is(m.Err, context.Canceled) {
				return m.Err
			}
			if v.Reason == unreadable {
				bad.add(m.Err)
				continue
			}
			bulk = bulk || v.Kind == filter.Bulk
			if err := k.print(a, m.Name, v); err != nil {
				return err
			}
		}
		return nil
	})
	if err = firstError(err, bad.err()); err == nil && bulk {
		return status(statusBulk)
	}
	return err
}

// unreadable is the reason of a message that could not be read.
const unreadable = "unreadable"

// judge judges one message. An own failure is an error, since here nobody's mail waits for it.
func (k *checker) judge(ctx context.Context, s control.Service, m source.Message) (filter.Verdict, error) {
	if errors.Is(m.Err, source.ErrTooLarge) {
		return filter.Verdict{Kind: filter.Skipped, Reason: "size"}, nil
	}
	if m.Err != nil {
		return filter.Verdict{Kind: filter.Error, Reason: unreadable}, nil
	}
	ctx, cancel := withPatience(ctx)
	defer cancel()
	j, err := s.Check(ctx, m.Raw, k.ask)
	if errors.Is(err, control.ErrTooLarge) {
		return filter.Verdict{Kind: filter.Skipped, Reason: "size"}, nil
	}
	if err == nil && j.Verdict.Kind == filter.Error {
		err = fmt.Errorf("%s: judging failed: %s: %w", m.Name, j.Verdict.Reason, control.ErrUnavailable)
	}
	return j.Verdict, err
}

func (k *checker) print(a *app, name string, v filter.Verdict) error {
	if !k.json {
		return a.printf("%s: %s\n", printable(name), sentence(v))
	}
	return a.json(control.NewLine(name, v))
}

// sentence says a verdict in words.
func sentence(v filter.Verdict) string {
	var b strings.Builder
	b.WriteString(v.Kind.String())
	if v.Reason != "" {
		fmt.Fprintf(&b, " (%s)", v.Reason)
	}
	if v.Kind == filter.Exempt {
		fmt.Fprintf(&b, ", else it would be %s", v.Would.String())
	}
	if v.Judged {
		fmt.Fprintf(&b, ", sigma %.1f of %.1f", v.Sigma, v.Threshold)
	}
	if v.Judged && v.Cluster != "" {
		fmt.Fprintf(&b, ", cluster %s: %d copies from %s senders in %s networks", v.Cluster, v.Copies, countWord(v.Senders), countWord(v.Nets))
		if v.Label != filter.None {
			fmt.Fprintf(&b, ", labelled %s", v.Label.String())
		}
	}
	return b.String()
}
