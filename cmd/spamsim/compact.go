package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/store"
)

func newCompact(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "compact",
		Short: "Make the store's file as small as what it holds, also while the daemon runs",
		Long: `Copies what the store holds to a new file beside it, which then takes its place. Mail is judged and counted meanwhile. The
daemon does so unasked once most of a large file is free. Interrupted, or where the disk has no room for a second file, the
store stays as it is.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			conf, err := a.load()
			if err != nil {
				return err
			}
			if _, err := os.Stat(conf.Store.Path); err != nil {
				return fmt.Errorf("nothing to compact: %w", err)
			}
			return a.use(conf, toWrite, func(s control.Service) error {
				out, err := a.compact(cmd.Context(), s)
				if err != nil {
					return err
				}
				return a.printf("%s: %d octets before, %d after\n", conf.Store.Path, out.Before, out.After)
			})
		},
	}
	a.storeFlag(c)
	return c
}

// compact shows how far the service's compaction is; where it is interrupted it says so.
func (a *app) compact(ctx context.Context, s control.Service) (store.Compacted, error) {
	var p *progress
	var done, of int64
	out, err := s.Compact(ctx, func(now, all int64) {
		if p == nil {
			p = a.progress("copied", all)
		}
		p.advance(now - done)
		done, of = now, all
	})
	if p != nil {
		p.done()
	}
	if errors.Is(err, context.Canceled) {
		a.note("%d of about %d octets were copied; the store is as it was", done, of)
	}
	return out, err
}
