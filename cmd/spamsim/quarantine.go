package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/control"
	"spamsim/cmd/spamsim/internal/quarantine"
	"spamsim/milter/filter"
)

// quarantineDir is where the proxies keep what is quarantined.
func quarantineDir(conf *config.Loaded) string { return filepath.Join(conf.StateDir, "quarantine") }

func newQuarantine(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "quarantine",
		Short: "Show and release what was quarantined",
		Long: `Works on the messages that the proxy kept where [actions] says "quarantine": a maildir in the state directory,
each message beside its envelope. What a milter quarantines is in the hold queue of its MTA (postqueue -p,
postsuper -H). A NAME may be cut short where no other begins so.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(newQuarantineList(a), newQuarantineShow(a), newQuarantineRelease(a), newQuarantineDelete(a))
	return c
}

// box is the quarantine of the configuration in effect.
func (a *app) box() (*quarantine.Box, *config.Loaded, error) {
	conf, err := a.load()
	if err != nil {
		return nil, nil, err
	}
	return quarantine.At(quarantineDir(conf)), conf, nil
}

// A quarantineLine is what quarantine list --json prints of a message.
type quarantineLine struct {
	Name string `json:"name"`
	Size int64  `json:"size"` // octets
	quarantine.Envelope
}

func newQuarantineList(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List the messages, the oldest first",
		Args:  usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			box, _, err := a.box()
			if err != nil {
				return err
			}
			entries, err := box.List()
			if asJSON {
				for _, e := range entries {
					if err := a.json(quarantineLine{e.Name, e.Size, e.Envelope}); err != nil {
						return err
					}
				}
				return err
			}
			return errors.Join(a.entries(entries), err)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON line a message")
	return c
}

// entries prints messages for people.
func (a *app) entries(entries []quarantine.Entry) error {
	if len(entries) == 0 {
		return a.printf("the quarantine is empty\n")
	}
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tCAME\tSIZE\tSENDER\tRECIPIENTS")
	for _, e := range entries {
		fmt.Fprintf(t, "%s\t%s\t%d\t<%s>\t%s\n", e.Name, e.Envelope.Time.Local().Format(time.DateTime), e.Size,
			shorten(e.Envelope.Sender, 40), shorten(strings.Join(e.Envelope.Recipients, " "), 60))
	}
	_ = t.Flush() // into memory
	return a.printf("%s", b.String())
}

func newQuarantineShow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "show NAME",
		Short: "Write a message to standard output, as it would be released",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			box, _, err := a.box()
			if err != nil {
				return err
			}
			e, err := box.Find(args[0])
			if err != nil {
				return err
			}
			raw, err := e.Message()
			if err != nil {
				return err
			}
			_, err = a.stdout.Write(raw)
			return err
		},
	}
}

func newQuarantineDelete(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "delete NAME...",
		Short: "Delete messages for good",
		Args:  usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, names []string) error {
			return a.eachHeld(names, func(conf *config.Loaded, e *quarantine.Entry) error {
				raw, _ := e.Message() // one that cannot be read can be deleted
				if err := e.Remove(); err != nil {
					return err
				}
				a.tellHandled(cmd.Context(), conf, e, raw, control.Handled{What: "deleted"})
				return a.printf("%s deleted\n", e.Name)
			})
		},
	}
}

func newQuarantineRelease(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "release NAME...",
		Short: "Send messages on to the next hop, with the envelope that they came with",
		Long: `Sends messages on to smtp.next_hop with the envelope that they came with. A recipient for whom the next hop took the
message is done with, and the message is deleted once all are; for the others it stays. Exit status: 75 where
trying again may help.`,
		Args: usageArgs(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, names []string) error {
			return a.eachHeld(names, func(conf *config.Loaded, e *quarantine.Entry) error {
				return a.release(cmd.Context(), conf, e)
			})
		},
	}
}

// eachHeld does something with each message of the names, which nobody else touches meanwhile. One that fails does not
// keep the others from their turn.
func (a *app) eachHeld(names []string, do func(*config.Loaded, *quarantine.Entry) error) error {
	box, conf, err := a.box()
	if err != nil {
		return err
	}
	var errs []error
	for _, name := range names {
		errs = append(errs, func() error {
			e, err := box.Find(name)
			if err != nil {
				return err
			}
			unlock, err := e.Lock()
			if err != nil {
				return err
			}
			defer unlock()
			return do(conf, &e)
		}())
	}
	return errors.Join(errs...)
}

// tellHandled has the daemon write in its log what became of a message, as it did when the message came. Where none runs there is
// no log.
func (a *app) tellHandled(ctx context.Context, conf *config.Loaded, e *quarantine.Entry, raw []byte, h control.Handled) {
	c, err := control.Dial(control.SocketOf(conf.Store.Path))
	if err != nil {
		return
	}
	defer c.Close()
	h.Name, h.Sender, h.ID, h.MessageID = e.Name, e.Envelope.Sender, e.Envelope.QueueID, filter.MessageID(raw)
	if err := c.Handled(ctx, h); err != nil {
		a.note("the daemon's log does not tell of it: %v", err)
	}
}

// release sends one message on and takes out what was delivered.
func (a *app) release(ctx context.Context, conf *config.Loaded, e *quarantine.Entry) error {
	raw, err := e.Message()
	if err != nil {
		return err
	}
	all := e.Envelope.Recipients
	refused, err := sendOn(ctx, conf, &e.Envelope, raw)
	if err != nil {
		return fmt.Errorf("%s stays: %w", e.Name, err)
	}
	if len(refused) == 0 {
		if err := e.Remove(); err != nil {
			return fmt.Errorf("%s was released, but is still there: %w", e.Name, err)
		}
		a.tellHandled(ctx, conf, e, raw, control.Handled{What: "released", Done: len(all)})
		return a.printf("%s released to %d\n", e.Name, len(all))
	}
	var left []string
	for _, r := range refused {
		left = append(left, r.recipient)
	}
	if done := len(all) - len(left); done > 0 {
		a.tellHandled(ctx, conf, e, raw, control.Handled{What: "released", Done: done, Left: len(left)})
	}
	if err := e.Narrow(left); err != nil {
		return fmt.Errorf("%s was released to %d of %d, but that cannot be written down: %w", e.Name, len(all)-len(left), len(all), err)
	}
	return fmt.Errorf("%s was released to %d of %d: %w", e.Name, len(all)-len(left), len(all), refused.err())
}
