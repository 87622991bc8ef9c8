package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/milter/filter"
	"spamsim/store"
)

// A backtest is what its flags say.
type backtest struct {
	json, sweep bool
	clock       string
	bulkCount   int
	spam, ham   []string // paths
}

func newBacktest(a *app) *cobra.Command {
	b := &backtest{}
	c := &cobra.Command{
		Use:   "backtest [--spam PATH]... [--ham PATH]... [PATH...]",
		Short: "Replay mail and report what would have been flagged",
		Long: `Replays mail through a scratch store, each message judged on those before it, and reports what would
have been flagged. The configured store is neither read nor changed. The transaction of a message is guessed
from its header, as "spamsim help mail" says.

Where people know which mail is spam and which is ham, --spam and --ham say so. Nothing is learnt from that: the report
then says how much of the spam would have been found, and lists all ham that would have been flagged. With --sweep it is
a table instead: what would have been found and lost at other thresholds and other numbers of copies. One replay serves
all of them, since neither has a say in what joins what. All PATHs are judged as one stream: plain ones first, then spam,
then ham, unless --clock sorts them by time, as they came.`,
		Example: "  spamsim backtest ~/Maildir archive.mbox.gz\n" +
			"  spamsim backtest --json --clock received mail/ > verdicts.jsonl\n" +
			"  spamsim backtest --sweep --clock received --spam ~/Maildir/.Junk --ham ~/Maildir",
		Args: func(_ *cobra.Command, paths []string) error { return b.check(paths) },
		RunE: func(cmd *cobra.Command, paths []string) error { return b.run(cmd.Context(), a, paths) },
	}
	f := c.Flags()
	f.BoolVar(&b.json, "json", false, "one JSON line a message, or with --sweep a setting, instead of a report")
	f.BoolVar(&b.sweep, "sweep", false, "what would be found and lost at other settings; wants --spam or --ham")
	f.StringArrayVar(&b.spam, "spam", nil, "`path` of mail known to be spam; may be repeated")
	f.StringArrayVar(&b.ham, "ham", nil, "`path` of mail known to be good; may be repeated")
	f.IntVar(&b.bulkCount, "bulk-count", 0, "`copies` that make a campaign (default: bulk.count of the configuration)")
	f.StringVar(&b.clock, "clock", clockFile, "order and time of mail: `how` is file (as it lies there), received or date (by that field)")
	return c
}

// check looks at what was asked for.
func (b *backtest) check(paths []string) error {
	switch {
	case len(paths)+len(b.spam)+len(b.ham) == 0:
		return errors.New("name the mail to replay: PATH, --spam PATH or --ham PATH")
	case b.sweep && len(b.spam)+len(b.ham) == 0:
		return errors.New("--sweep wants mail that people know: --spam PATH, --ham PATH or both")
	case !slices.Contains([]string{clockFile, clockReceived, clockDate}, b.clock):
		return fmt.Errorf("--clock is %q: write file, received or date", b.clock)
	case b.bulkCount != 0 && (b.bulkCount < config.MinBulkCount || b.bulkCount > config.MaxBulkCount):
		return fmt.Errorf("--bulk-count is %d: write %d to %d", b.bulkCount, config.MinBulkCount, config.MaxBulkCount)
	}
	return nil
}

// scratchKey keys a scratch store, so that two runs give the same verdicts.
var scratchKey = []byte("spamsim backtest: this is no key")

func (b *backtest) run(ctx context.Context, a *app, paths []string) error {
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
	mail, err := arrivals(a, []given{{filter.None, paths}, {filter.Spam, b.spam}, {filter.Ham, b.ham}}, b.clock)
	if err != nil {
		return err
	}
	defer mail.close()
	r := &replay{
		filter:  filter.New(scratch, policy(conf)),
		trusted: prefixes(conf.SMTP.Trusted),
		limit:   int(conf.Limits.MaxJudgedSize),
		bad:     &unread{app: a},
		bar:     a.progress("replayed", sizeOf(slices.Concat(paths, b.spam, b.ham))),
	}
	add, end := b.output(a, newSweep(conf.Bulk.Threshold, conf.Bulk.Count))
	err = r.run(ctx, mail.seq, add)
	r.bar.done()
	if err == nil || ctx.Err() != nil { // interrupted, it tells what it has
		err = firstError(end(), r.bar.stopped(err, "; the rest is not in what was printed"))
	}
	return firstError(err, r.bad.err())
}

// output is what becomes of each judged message, and what is printed at the end.
func (b *backtest) output(a *app, s *sweep) (add func(judged) error, end func() error) {
	switch {
	case b.sweep && b.json:
		return s.add, func() error { return s.lines(a) }
	case b.sweep:
		return s.add, func() error { return s.write(a) }
	case b.json:
		out := bufio.NewWriter(a.stdout)
		lines := json.NewEncoder(out)
		lines.SetEscapeHTML(false)
		return func(j judged) error { return lines.Encode(j.line()) }, out.Flush
	}
	r := &report{}
	return r.add, func() error { return r.write(a) }
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
