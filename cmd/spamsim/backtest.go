package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/milter/filter"
	"spamsim/store"
)

// A backtest is what its flags say.
type backtest struct {
	json      bool
	clock     string
	bulkCount int
}

func newBacktest(a *app) *cobra.Command {
	b := &backtest{}
	c := &cobra.Command{
		Use:   "backtest PATH...",
		Short: "Replay mail and report what would have been flagged",
		Long: `Replays mail through a scratch store, each message judged on those before it, and reports what would
have been flagged. The configured store is neither read nor changed. The transaction of a message is guessed
from its header, as "spamsim help mail" says.`,
		Example: "  spamsim backtest ~/Maildir archive.mbox.gz\n  spamsim backtest --json --clock received mail/ > verdicts.jsonl",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, paths []string) error { return b.run(cmd.Context(), a, paths) },
	}
	c.Flags().BoolVar(&b.json, "json", false, "one JSON line a message instead of a report")
	c.Flags().IntVar(&b.bulkCount, "bulk-count", 0, "`copies` that make a campaign (default: bulk.count of the configuration)")
	c.Flags().StringVar(&b.clock, "clock", clockFile, "order and time of mail: `how` is file (as it lies there), received or date (by that field)")
	return c
}

// scratchKey keys a scratch store, so that two runs give the same verdicts.
var scratchKey = []byte("spamsim backtest: this is no key")

func (b *backtest) run(ctx context.Context, a *app, paths []string) error {
	if !slices.Contains([]string{clockFile, clockReceived, clockDate}, b.clock) {
		return usage(fmt.Errorf("--clock is %q: write file, received or date", b.clock))
	}
	if b.bulkCount < 0 || b.bulkCount == 1 {
		return usage(fmt.Errorf("--bulk-count is %d: write 2 or more", b.bulkCount))
	}
	conf, err := config.Load(a.configFile, a.env)
	if err != nil {
		return err
	}
	if b.bulkCount > 0 {
		conf.Bulk.Count = b.bulkCount
	}
	scratch, err := store.Open("", store.Options{Window: conf.Store.Window.Duration, Key: scratchKey})
	if err != nil {
		return err
	}
	defer scratch.Close()
	mail, err := arrivals(a, paths, b.clock)
	if err != nil {
		return err
	}
	defer mail.close()
	r := &replay{
		filter:  filter.New(scratch, policy(conf)),
		trusted: prefixes(conf.SMTP.Trusted),
		limit:   int(conf.Limits.MaxJudgedSize),
		bad:     &unread{app: a},
		bar:     a.progress("replayed", sizeOf(paths)),
	}
	if b.json {
		out := bufio.NewWriter(a.stdout)
		lines := json.NewEncoder(out)
		lines.SetEscapeHTML(false)
		err = r.run(ctx, mail.seq, func(j judged) error { return lines.Encode(j.line()) })
		err = firstError(err, out.Flush())
	} else {
		report := &report{}
		if err = r.run(ctx, mail.seq, report.add); err == nil || ctx.Err() != nil {
			err = firstError(err, report.write(a))
		}
	}
	r.bar.done()
	return firstError(err, r.bad.err())
}

// firstError returns the first that is one.
func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
