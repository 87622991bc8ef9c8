package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/store"
)

func newCampaignsExport(a *app) *cobra.Command {
	var asJSON, rspamd, postfix bool
	c := &cobra.Command{
		Use:   "export --json|--rspamd|--postfix",
		Short: "Write campaigns as JSON, or those labelled spam as a list for rspamd or Postfix",
		Long: `Writes all campaigns as JSON lines, or a list of the clusters that people labelled spam, those of one copy too: a
map of regular expressions for a multimap of rspamd on the header X-Spamsim, or header_checks for Postfix, which hold
the mail. "spamsim help campaigns" says how both are set up.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.campaigns(toRead, func(s control.Service) error {
				view := store.Labelled
				if asJSON {
					view = store.Biggest
				}
				list, err := s.Campaigns(cmd.Context(), view, 0)
				switch {
				case err != nil:
					return err
				case asJSON:
					return a.campaignLines(list)
				case postfix:
					return a.printf("%s", headerChecks(list))
				}
				return a.printf("%s", multimap(list))
			})
		},
	}
	f := c.Flags()
	f.BoolVar(&asJSON, "json", false, "one JSON line a campaign, all of them, the biggest first")
	f.BoolVar(&rspamd, "rspamd", false, "a map for rspamd's multimap")
	f.BoolVar(&postfix, "postfix", false, "header_checks (regexp or pcre) for Postfix")
	c.MarkFlagsMutuallyExclusive("json", "rspamd", "postfix")
	c.PreRunE = func(*cobra.Command, []string) error {
		if !asJSON && !rspamd && !postfix {
			return usage(fmt.Errorf("say --json, --rspamd or --postfix"))
		}
		return nil
	}
	return c
}

// multimap lists the spam of the campaigns as a map of regular expressions for rspamd. Only names that people of the site
// gave go into lists, never what a sender wrote.
func multimap(list []store.Campaign) string {
	return spamList(list, func(c *store.Campaign) string { return fmt.Sprintf("/cluster=%s;/", c.ID) })
}

// headerChecks lists it as header_checks (header_checks(5)). In Postfix's tables "." stands for a line end too: the field
// may be folded anywhere.
func headerChecks(list []store.Campaign) string {
	return spamList(list, func(c *store.Campaign) string {
		return fmt.Sprintf("/^X-Spamsim:.*[[:space:]]cluster=%s;/ HOLD spamsim: known spam%s", c.ID, named(c))
	})
}

func spamList(list []store.Campaign, line func(*store.Campaign) string) string {
	var b strings.Builder
	for i := range list {
		if c := &list[i]; c.Label == store.Spam {
			fmt.Fprintf(&b, "# %d copies%s\n%s\n", c.Copies, named(c), line(c))
		}
	}
	return b.String()
}
