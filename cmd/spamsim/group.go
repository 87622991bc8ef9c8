package main

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"spamsim/cmd/spamsim/internal/near"
	"spamsim/cmd/spamsim/internal/source"
	"spamsim/parse"
	"spamsim/store"
)

func newGroup(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "group PATH...",
		Short: "Group files or messages that are near-copies",
		Long: `Finds messages that are near-copies of one another and prints them in groups, the largest first. Two are near-copies
when they share at least half of the sequences of three words that either has; a group is joined by such pairs. Before
each message stands how much it shares with the member that it was joined to. No store is used.`,
		Example: "  spamsim group ~/Maildir\n  spamsim group --json spam.mbox | jq .size",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, paths []string) error {
			return a.group(cmd.Context(), paths, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "one JSON line a group")
	return c
}

// A groupLine is what group --json prints of a group.
type groupLine struct {
	Group   int          `json:"group"` // from 1, the largest first
	Size    int          `json:"size"`
	Least   float64      `json:"least"` // the lowest share among its members
	Members []memberLine `json:"members"`
}

// A memberLine is one message of a group, in the order of the input.
type memberLine struct {
	Name  string  `json:"name"`
	Share float64 `json:"share"` // of word triples, with the member that it was joined to
}

// A reading is a message as group sees it.
type reading struct {
	name   string
	octets int
	text   near.Text
	err    error
}

func (a *app) group(ctx context.Context, paths []string, asJSON bool) error {
	bad := &unread{app: a}
	bar := a.progress("read", sizeOf(paths))
	defer bar.done()
	g := near.NewGroups()
	var names []string
	read := func(m source.Message) reading {
		if m.Err != nil {
			return reading{err: m.Err}
		}
		t := store.NewTrace(parse.Parse(m.Raw, parse.Limits{}))
		return reading{name: m.Name, octets: len(m.Raw), text: near.Read(t.Text, t.SimHash)}
	}
	for r := range inOrder(source.Read(paths, source.Options{Stdin: a.stdin}), runtime.GOMAXPROCS(0), read) {
		if ctx.Err() != nil {
			return bar.stopped(ctx.Err(), "")
		}
		if r.err != nil {
			bad.add(r.err)
			continue
		}
		g.Add(r.text)
		names = append(names, r.name)
		bar.add(r.octets)
	}
	bar.done()
	return firstError(a.groups(groupLines(g, names), len(names), asJSON), bad.err())
}

// groupLines names the members of each group.
func groupLines(g *near.Groups, names []string) []groupLine {
	byRoot := map[int]*groupLine{}
	for i, m := range g.Members() {
		l := byRoot[m.Group]
		if l == nil {
			l = &groupLine{Group: i, Least: 1}
			byRoot[m.Group] = l
		}
		l.Size++
		l.Least = min(l.Least, m.Share)
		l.Members = append(l.Members, memberLine{names[i], m.Share})
	}
	lines := make([]groupLine, 0, len(byRoot))
	for _, l := range byRoot {
		if l.Size > 1 {
			lines = append(lines, *l)
		}
	}
	slices.SortFunc(lines, func(x, y groupLine) int { return cmp.Or(cmp.Compare(y.Size, x.Size), cmp.Compare(x.Group, y.Group)) })
	for i := range lines {
		lines[i].Group = i + 1
	}
	return lines
}

// groups prints them.
func (a *app) groups(lines []groupLine, n int, asJSON bool) error {
	in := 0
	for _, l := range lines {
		in += l.Size
		if asJSON {
			if err := a.json(l); err != nil {
				return err
			}
			continue
		}
		var b strings.Builder
		fmt.Fprintf(&b, "group %d: %d messages\n", l.Group, l.Size)
		for _, m := range l.Members {
			fmt.Fprintf(&b, "  %.2f  %s\n", m.Share, printable(m.Name))
		}
		if err := a.printf("%s\n", b.String()); err != nil {
			return err
		}
	}
	if asJSON {
		return nil
	}
	return a.printf("%d messages: %d in %d groups, %d alone\n", n, in, len(lines), n-in)
}
