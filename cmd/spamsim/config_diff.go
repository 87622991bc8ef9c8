package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/control"
)

func newConfigDiff(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "diff",
		Short: "Show what a reload would change in the running daemon",
		Long: `Compares the configuration as it is now with the one that the running daemon works by, and says of each setting that
differs whether the daemon takes it up at SIGHUP ("systemctl reload spamsim") or needs a restart for it.`,
		Args: usageArgs(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			conf, err := a.load()
			if err != nil {
				return err
			}
			changes, err := changesOf(cmd.Context(), conf)
			if err != nil {
				return err
			}
			if asJSON {
				return a.json(changes)
			}
			return a.changes(changes)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	a.storeFlag(c)
	return c
}

// changesOf asks the daemon of a configuration how it differs from what is in effect; never nil without an error.
func changesOf(ctx context.Context, conf *config.Loaded) ([]config.Change, error) {
	socket := control.SocketOf(conf.Store.Path)
	c, err := control.Dial(socket)
	if errors.Is(err, control.ErrUnavailable) {
		return nil, fmt.Errorf("%w (where store.path is what changed, name the daemon's by --store)", err)
	}
	if err != nil {
		return nil, err
	}
	defer c.Close()
	ctx, cancel := withPatience(ctx)
	defer cancel()
	old, err := c.Settings(ctx)
	if err != nil {
		return nil, err
	}
	next, err := conf.Values()
	if err != nil {
		return nil, err
	}
	return append([]config.Change{}, config.Diff(old, next)...), nil
}

// changes prints them for people: what a reload does, then what it does not.
func (a *app) changes(list []config.Change) error {
	if len(list) == 0 {
		return a.printf("nothing: the daemon works by this configuration\n")
	}
	var b strings.Builder
	for _, part := range []struct {
		title   string
		restart bool
	}{{"A reload takes up:", false}, {"Only a restart takes up:", true}} {
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		n := 0
		for _, c := range list {
			if c.Restart == part.restart {
				n++
				fmt.Fprintf(t, "  %s\t%s -> %s\n", c.Setting, shown(c.Old), shown(c.New))
			}
		}
		if n > 0 {
			fmt.Fprintln(&b, part.title)
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return a.printf("%s", b.String())
}

// shown is a value, or a word for that of a rule that is not there.
func shown(value string) string {
	if value == "" {
		return "none"
	}
	return printable(value)
}
