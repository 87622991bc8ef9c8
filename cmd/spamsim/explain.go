package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/cmd/spamsim/internal/source"
	"spamsim/milter/filter"
)

// An explainer is what the flags of explain say.
type explainer struct {
	json  bool
	ask   control.Ask
	shown int // explanations printed
}

func newExplain(a *app) *cobra.Command {
	k := &explainer{}
	var sender string
	c := &cobra.Command{
		Use:   "explain [FILE...]",
		Short: "Say why a message is judged as it is",
		Long: `Says of messages, of files or standard input as check reads them, everything that goes into their verdict:
the text as it is hashed, the clusters they resemble with each score and what unrelated mail reaches, the words that are in
the cluster and those that are not, the counts, the label, the exempt rules, and what would have to change for another
verdict. Nothing is counted. "spamsim help explanation" says how to read it.`,
		Example: "  spamsim explain message.eml\n  spamsim explain --json < message.eml",
		RunE: func(cmd *cobra.Command, files []string) error {
			if cmd.Flags().Changed("sender") {
				k.ask.Sender = &sender
			}
			if err := k.ask.Check(); err != nil {
				return usage(fmt.Errorf("--client %s: %w", k.ask.Client, err))
			}
			return k.run(cmd.Context(), a, files)
		},
	}
	f := c.Flags()
	f.BoolVar(&k.json, "json", false, "one JSON line a message")
	f.StringVar(&sender, "sender", "", "the envelope sender is this `address`, whatever the header says; empty: the null sender")
	f.StringArrayVar(&k.ask.Recipients, "recipient", nil, "so is this `address` a recipient; may be repeated")
	f.StringVar(&k.ask.Client, "client", "", "so is this IP `address` that of the sending host")
	a.storeFlag(c)
	return c
}

func (k *explainer) run(ctx context.Context, a *app, paths []string) error {
	conf, err := a.load()
	if err != nil {
		return err
	}
	bad := &unread{app: a}
	err = a.use(conf, toRead, func(s control.Service) error {
		for m := range source.Read(paths, source.Options{Stdin: a.stdin, Limit: int64(conf.Limits.MaxJudgedSize)}) {
			if err := k.message(ctx, a, s, m, bad); err != nil {
				return err
			}
		}
		return nil
	})
	return firstError(err, bad.err())
}

// message explains one. One that is too large to be judged, like one that cannot be read, is named and left out.
func (k *explainer) message(ctx context.Context, a *app, s control.Service, m source.Message, bad *unread) error {
	if errors.Is(m.Err, context.Canceled) {
		return m.Err
	}
	if m.Err != nil {
		bad.add(m.Err)
		return nil
	}
	ctx, cancel := withPatience(ctx)
	defer cancel()
	e, err := s.Explain(ctx, m.Raw, k.ask)
	switch {
	case errors.Is(err, control.ErrTooLarge):
		bad.add(fmt.Errorf("%s: %w", m.Name, err))
		return nil
	case err != nil:
		return fmt.Errorf("%s: %w", m.Name, err)
	case k.json:
		return a.json(newExplainLine(m.Name, &e))
	}
	if k.shown++; k.shown > 1 {
		if err := a.printf("\n%s\n\n", ruler); err != nil {
			return err
		}
	}
	return a.printf("%s", explainText(m.Name, &e))
}

// change says what would have to be different for another verdict. It is the other side of filter's decision.
func change(e *filter.Explanation) []string {
	v, st := &e.Verdict, &e.Store
	switch v.Kind {
	case filter.Abstain:
		return []string{fmt.Sprintf("It has %d words; a text is judged from %d on, or where an attachment speaks for it.", e.Words, st.MinWords)}
	case filter.Exempt:
		return []string{exemption(e)}
	case filter.Bulk:
		return []string{
			fmt.Sprintf("It would be clean with bulk.threshold above %.2f or bulk.count above %d.", v.Sigma, v.Copies),
			`It would be exempt after "spamsim train --ham" of it or of another copy, or by an [[exempt]] rule for its sender, network or recipient.`,
		}
	}
	if st.Spoken < 0 {
		return []string{fmt.Sprintf("Nothing remembered resembles it: it is a first copy. The %s copy of it would be bulk.", nth(e.BulkCount))}
	}
	m := &st.Matches[st.Spoken]
	var out []string
	if v.Cluster == "" {
		out = append(out, fmt.Sprintf("It is no copy of anything: its score with cluster %s is %.1f, and a copy has %.0f.", m.Cluster, m.Score, st.CopyFrom))
	}
	if v.Sigma < e.Threshold {
		out = append(out, fmt.Sprintf("Sigma is %.2f and needs %.2f: with cluster %s a score of %.1f in place of %.1f.", v.Sigma, e.Threshold, m.Cluster, m.Needed, m.Score))
	}
	if missing := e.BulkCount - v.Copies; v.Cluster != "" && missing > 0 {
		out = append(out, fmt.Sprintf("%s: it is the %s, and the %s is bulk.", more(missing), nth(v.Copies), nth(e.BulkCount)))
	}
	return out
}

// exemption says what a message is without what exempts it.
func exemption(e *filter.Explanation) string {
	if e.Verdict.Reason == "ham" && e.Store.Evidence.Label == filter.Ham {
		return fmt.Sprintf("Cluster %s is labelled ham; without that it would be judged by its copies. One copy of known good mail stands for all.", e.Store.Evidence.Cluster)
	}
	if e.Verdict.Reason == "outbound" && len(e.Rules) == 1 {
		return fmt.Sprintf("It is mail of this site's own users; else it would be %s.", e.Verdict.Would)
	}
	return fmt.Sprintf("Without the exempt rule %q it would be %s.", e.Verdict.Reason, e.Verdict.Would)
}

// more is "1 more copy" or "2 more copies".
func more(n int) string {
	if n == 1 {
		return "1 more copy"
	}
	return fmt.Sprintf("%d more copies", n)
}

// nth is "1st", "2nd", "3rd", "4th", "11th", "21st".
func nth(n int) string {
	end := "th"
	if n/10%10 != 1 && n%10 >= 1 && n%10 <= 3 {
		end = [...]string{1: "st", 2: "nd", 3: "rd"}[n%10]
	}
	return fmt.Sprint(n, end)
}
