package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"
)

func newMan(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "man FOLDER",
		Short: "Write the manual pages of all commands and topics",
		Long: `Writes what the help says as manual pages into a folder: spamsim.1, a page for each command and, in section 7, for
each topic. "man -l spamsim-check.1" shows one.`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			pages := manual(cmd.Root())
			for name, text := range pages {
				if err := os.WriteFile(filepath.Join(args[0], name), []byte(text), 0o644); err != nil {
					return err
				}
			}
			return a.printf("%d pages\n", len(pages))
		},
	}
}

// manual is every page by its file's name.
func manual(root *cobra.Command) map[string]string {
	pages := map[string]string{"spamsim.1": manRoot(root)}
	for _, c := range root.Commands() {
		switch name := "spamsim-" + c.Name(); {
		case c.IsAdditionalHelpTopicCommand():
			pages[name+".7"] = manHead(name, 7, c.Short) + manText(c.Long)
		case c.GroupID != "":
			pages[name+".1"] = manCommand(name, c)
		}
	}
	return pages
}

// manHead begins a page: the names of man(7)'s macros are those of every such page.
func manHead(name string, section int, short string) string {
	return fmt.Sprintf(".TH %q %d \"\" %q \"\"\n.SH NAME\n%s \\- %s\n.SH DESCRIPTION\n", strings.ToUpper(name), section, "spamsim "+version(), roff(name), roff(short))
}

// manRoot is the page of the program, which lists the others.
func manRoot(root *cobra.Command) string {
	var b strings.Builder
	b.WriteString(manHead("spamsim", 1, strings.ToLower(root.Short[:1])+root.Short[1:]))
	b.WriteString(manText(root.Long))
	for _, g := range root.Groups() {
		fmt.Fprintf(&b, ".SH %q\n", roff(strings.TrimSuffix(g.Title, ":")))
		for _, c := range root.Commands() {
			if c.GroupID == g.ID {
				fmt.Fprintf(&b, ".TP\n.BR %s (1)\n%s\n", roff("spamsim-"+c.Name()), roff(c.Short))
			}
		}
	}
	b.WriteString(".SH TOPICS\n")
	for _, c := range root.Commands() {
		if c.IsAdditionalHelpTopicCommand() {
			fmt.Fprintf(&b, ".TP\n.BR %s (7)\n%s\n", roff("spamsim-"+c.Name()), roff(c.Short))
		}
	}
	b.WriteString(manFlags("OPTIONS", root.PersistentFlags().FlagUsages()))
	b.WriteString(manExit)
	return b.String()
}

// manExit is what every command's status means.
const manExit = `.SH EXIT STATUS
0: done, or the message is not bulk; 1: bulk (check without \-\-tag); 2: wrong usage, or a file that cannot be read; 75: not
now, the same command may succeed later; 130: interrupted.
`

// manCommand is the page of a command and of those below it.
func manCommand(name string, c *cobra.Command) string {
	var b strings.Builder
	b.WriteString(manHead(name, 1, c.Short))
	if c.Runnable() {
		b.WriteString(manText("  " + c.UseLine() + "\n\n" + c.Long))
	}
	b.WriteString(manFlags("OPTIONS", c.NonInheritedFlags().FlagUsages()))
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			fmt.Fprintf(&b, ".SH %q\n%s", roff(strings.ToUpper(sub.Name())), manText(sub.Short+".\n\n  "+sub.UseLine()+"\n\n"+sub.Long))
			b.WriteString(manFlags("", sub.NonInheritedFlags().FlagUsages()))
		}
	}
	b.WriteString(".SH SEE ALSO\n.BR spamsim (1)\n")
	return b.String()
}

// manFlags are the flags as the help shows them.
func manFlags(title, usages string) string {
	if usages == "" {
		return ""
	}
	if title != "" {
		title = ".SH " + title + "\n"
	}
	return title + manText(strings.TrimRight(usages, "\n"))
}

// heading is a line that the pages of help set apart.
var heading = regexp.MustCompile(`^[A-Z][A-Z ,-]+$`)

// manText is text of the help: lines that begin with a space stand as they are, lines of capitals are headings, others are
// paragraphs. The title of a page of help is in the manual page's name already.
func manText(text string) string {
	var b strings.Builder
	verbatim := false
	for line := range strings.SplitSeq(text, "\n") {
		as := strings.HasPrefix(line, " ")
		if as != verbatim && line != "" {
			b.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[as])
			verbatim = as
		}
		switch {
		case strings.HasPrefix(line, "# "):
		case line == "":
			b.WriteString(".sp\n")
		case heading.MatchString(line):
			fmt.Fprintf(&b, ".SH %s\n", roff(line))
		default:
			b.WriteString(roff(line) + "\n")
		}
	}
	if verbatim {
		b.WriteString(".fi\n")
	}
	return b.String()
}

// roff writes text so that troff shows it: its backslashes, hyphens, quotes and accents as ASCII, and a line that would be a
// request as text.
func roff(line string) string {
	line = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`, `"`, `\(dq`).Replace(line)
	if strings.HasPrefix(line, ".") {
		line = `\&` + line
	}
	return line
}
