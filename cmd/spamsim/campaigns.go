package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/milter/filter"
	"spamsim/store"
)

func newCampaigns(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "campaigns",
		Short: "List, show, label and drop what the store holds",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, command := range []func(*app) *cobra.Command{newCampaignsList, newCampaignsShow, newCampaignsLabel, newCampaignsDrop, newCampaignsExport} {
		sub := command(a)
		sub.Args = usageArgs(sub.Args)
		a.storeFlag(sub)
		c.AddCommand(sub)
	}
	return c
}

// campaigns does something with the store's campaigns; what it changed is on disk when it returns.
func (a *app) campaigns(want access, do func(s control.Service) error) error {
	conf, err := a.load()
	if err != nil {
		return err
	}
	return a.use(conf, want, func(s control.Service) error {
		err := do(s)
		if want == toRead || err != nil {
			return err
		}
		return s.Sync(context.Background()) // also where an interrupt came meanwhile
	})
}

func newCampaignsList(a *app) *cobra.Command {
	var by string
	var limit int
	var asJSON bool
	c := &cobra.Command{
		Use:   "list",
		Short: "List campaigns, the liveliest first",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			view, ok := control.Views[by]
			if !ok || view == store.Labelled {
				return usage(fmt.Errorf("--by is %q; it is size, newest or live", by))
			}
			if limit < 1 {
				return usage(fmt.Errorf("--limit is %d; it is at least 1", limit))
			}
			return a.campaigns(toRead, func(s control.Service) error {
				list, err := s.Campaigns(cmd.Context(), view, limit)
				if err != nil {
					return err
				}
				if asJSON {
					return a.campaignLines(list)
				}
				return a.printf("%s", campaignTable(list, time.Now()))
			})
		},
	}
	f := c.Flags()
	f.StringVar(&by, "by", "live", "what comes first: `ORDER` is size (most copies), newest (began last) or live (most copies of late)")
	f.IntVar(&limit, "limit", 20, "at most `N`")
	f.BoolVar(&asJSON, "json", false, "one JSON line a campaign")
	return c
}

func newCampaignsShow(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "show ID",
		Short: "Show one campaign: its counts, and its copies by hour",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.campaigns(toRead, func(s control.Service) error {
				d, err := s.Campaign(cmd.Context(), args[0])
				switch {
				case err != nil:
					return fmt.Errorf("%s: %w", args[0], err)
				case asJSON:
					return a.json(newDetailLine(&d, time.Now()))
				}
				return a.printf("%s", detailText(args[0], &d, time.Now()))
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func newCampaignsLabel(a *app) *cobra.Command {
	said := map[filter.Label]*bool{filter.Spam: new(bool), filter.Ham: new(bool), filter.None: new(bool)}
	var name string
	c := &cobra.Command{
		Use:   "label ID --spam|--ham|--none",
		Short: "Say that a campaign is spam, or known good",
		Long: `Labels a campaign as "train" does, without a message at hand: of known good mail each further copy is exempt, and spam
has an action of its own in [actions]. A labelled campaign is not forgotten with the window. --name gives it a name for
people, which lists show; --name "" takes it away.`,
		Example: "  spamsim campaigns label 7f3a19c2 --ham --name 'our newsletter'",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var told *string
			if cmd.Flags().Changed("name") {
				told = &name
			}
			for label, is := range said {
				if *is {
					return a.label(cmd.Context(), args[0], label, told)
				}
			}
			return usage(fmt.Errorf("say --spam, --ham or --none"))
		},
	}
	f := c.Flags()
	f.BoolVar(said[filter.Spam], "spam", false, "it is spam")
	f.BoolVar(said[filter.Ham], "ham", false, "it is known good")
	f.BoolVar(said[filter.None], "none", false, "nobody knows")
	f.StringVar(&name, "name", "", "its `NAME` for people, at most 120 octets")
	c.MarkFlagsMutuallyExclusive("spam", "ham", "none")
	return c
}

func (a *app) label(ctx context.Context, id string, l filter.Label, name *string) error {
	return a.campaigns(toWrite, func(s control.Service) error {
		c, err := s.Label(ctx, id, l, name)
		if err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		return a.printf("%s has label %s%s\n", c.ID, c.Label, named(&c))
	})
}

func newCampaignsDrop(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "drop ID...",
		Short: "Forget campaigns and their messages",
		Long:  `Forgets campaigns with their counts, labels and messages: the next copy of one is a first copy.`,
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, ids []string) error {
			return a.campaigns(toWrite, func(s control.Service) error {
				for _, id := range ids {
					n, err := s.Drop(cmd.Context(), id)
					if err != nil {
						return firstError(s.Sync(context.Background()), fmt.Errorf("%s: %w", id, err))
					}
					if err := a.printf("%s dropped, with %d messages\n", id, n); err != nil {
						return err
					}
				}
				return nil
			})
		},
	}
}
