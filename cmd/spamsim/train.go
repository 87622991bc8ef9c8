package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/milter/filter"
)

func newTrain(a *app) *cobra.Command {
	var spam, ham, asJSON bool
	c := &cobra.Command{
		Use:   "train {--spam|--ham} PATH...",
		Short: "Learn from mail that people judged",
		Long: `Learns messages as known spam or known good mail: of mbox files (also gzipped), maildirs, folders and single files, or
of standard input. A message is learnt once, however often it is given. What could not be learnt is named with its
reason; the exit status is then still 0, but 2 where something could not be read. What is reported as learnt is on disk.`,
		Example: "  spamsim train --ham ~/Maildir/.Newsletters\n  spamsim train --spam junk.mbox.gz",
		RunE: func(cmd *cobra.Command, paths []string) error {
			if spam == ham {
				return usage(errors.New("say what people judged this mail to be: --spam or --ham"))
			}
			label := filter.Spam
			if ham {
				label = filter.Ham
			}
			l := &learning{app: a, verb: "learnt", json: asJSON}
			return l.run(cmd.Context(), paths, func(ctx context.Context, s control.Service, raw []byte) (filter.Outcome, error) {
				return s.Train(ctx, raw, label)
			})
		},
	}
	f := c.Flags()
	f.BoolVar(&spam, "spam", false, "the mail is spam")
	f.BoolVar(&ham, "ham", false, "the mail is good: later mail like it is exempt")
	f.BoolVar(&asJSON, "json", false, "print the counts as JSON")
	a.storeFlag(c)
	return c
}
