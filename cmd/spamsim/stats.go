package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"spamsim/cmd/spamsim/internal/control"
)

func newStats(a *app) *cobra.Command {
	var asJSON, peers bool
	c := &cobra.Command{
		Use:   "stats",
		Short: "What the store holds and what the daemon did",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			conf, err := a.load()
			if err != nil {
				return err
			}
			return a.use(conf, toRead, func(s control.Service) error {
				stats, err := s.Stats(cmd.Context())
				if err != nil {
					return err
				}
				if asJSON {
					return a.json(stats)
				}
				if peers {
					return a.peers(stats.Peers)
				}
				return a.stats(&stats)
			})
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.Flags().BoolVar(&peers, "peers", false, "how this node stands with the others of its site (\"spamsim help peers\")")
	a.storeFlag(c)
	return c
}

// stats prints the counters for people.
func (a *app) stats(s *control.Stats) error {
	var b strings.Builder
	fmt.Fprintf(&b, "store     %s\n", s.Store)
	fmt.Fprintf(&b, "clusters  %d, of which %d have two copies or more; %d messages; %d octets on disk\n",
		s.Held.Clusters, s.Held.Campaigns, s.Held.Messages, s.Held.Bytes)
	for _, c := range s.Sigma {
		fmt.Fprintf(&b, "sigma     %s: of the last %d messages that were no copies %s reached 1, %s 2, %s 2.5 (true: 15.9, 2.3, 0.6 %%); scale %.2f\n",
			c.Script, c.Messages, part(c.Over[0], c.Messages), part(c.Over[1], c.Messages), part(c.Over[2], c.Messages), c.Scale)
	}
	if s.Held.Failures > 0 {
		fmt.Fprintf(&b, "trouble   %d of %d writes to the store went wrong; see the log\n", s.Held.Failures, s.Held.Failures+s.Held.Commits)
	}
	if s.Since == nil {
		b.WriteString("daemon    none is running\n")
		return a.printf("%s", b.String())
	}
	fmt.Fprintf(&b, "daemon    %s, since %s\n", s.Version, s.Since.Local().Format("2006-01-02 15:04:05"))
	if s.Peers != nil {
		fmt.Fprintf(&b, "peers     %s\n", peersInShort(s.Peers))
	}
	if s.Would != nil {
		fmt.Fprintf(&b, "observe   %s\n", wouldText(s.Would))
	}
	if len(s.Messages) > 0 {
		b.WriteString("\n")
	}
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for _, m := range s.Messages {
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\n", m.Door, m.Verdict, m.Reason, m.N)
	}
	for _, r := range s.Exempt {
		fmt.Fprintf(t, "exempt rule\t%s\t\t%d\n", r.Rule, r.N)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	for _, door := range slices.Sorted(maps.Keys(s.Doors)) {
		fmt.Fprintf(&b, "\n%s: %s\n", door, tallies(s.Doors[door]))
	}
	return a.printf("%s", b.String())
}

// part writes a share as a percentage.
func part(n, of int) string { return percent(float64(n)/float64(of)) + " %" }

// tallies are the counters of a door that are not zero.
func tallies(counters map[string]int64) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(counters)) {
		if n := counters[name]; n != 0 {
			parts = append(parts, fmt.Sprintf("%s %d", strings.ReplaceAll(name, "_", " "), n))
		}
	}
	if parts == nil {
		return "nothing yet"
	}
	return strings.Join(parts, ", ")
}
