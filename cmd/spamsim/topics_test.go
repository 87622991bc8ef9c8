package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// mention is "spamsim ..." in quotes, or between backticks.
var mention = regexp.MustCompile("[\"`](?:\\./)?spamsim ([a-z][^\"`]*)[\"`]")

// TestPagesNameWhatIsThere: a command, topic or flag that a page or a command's help mentions is one that there is.
func TestPagesNameWhatIsThere(t *testing.T) {
	texts := map[string]string{}
	for _, path := range []string{"../../README.md", "../../SECURITY.md", "../../configs/spamsim.toml"} {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts[path] = strings.ReplaceAll(string(text), "\n#", "\n")
	}
	tree := newRoot(&app{})
	each(tree, func(c *cobra.Command) { texts["help "+c.CommandPath()] = c.Long + "\n" + c.Example })
	n := 0
	for where, text := range texts {
		for _, m := range mention.FindAllStringSubmatch(text, -1) {
			n++
			line, _, _ := strings.Cut(m[1], ";")
			if wrong := unknown(tree, strings.Fields(line)); wrong != "" {
				t.Errorf("%s: there is no %q: %q", where, wrong, m[0])
			}
		}
	}
	if n < 40 {
		t.Errorf("only %d mentions were found", n)
	}
}

// TestUnknown: what the test above would find.
func TestUnknown(t *testing.T) {
	tree := newRoot(&app{})
	for line, want := range map[string]string{
		"campaigns list --by size": "", "help postfix": "", "serve": "", "campaigns lst": "lst", "help nothing": "nothing",
		"check --tags": "--tags", "nothing at all": "nothing", "train --ham letter.eml": "", "check --tag --learn --quiet": "",
	} {
		if got := unknown(tree, strings.Fields(line)); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// each calls do with a command and all below it.
func each(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range c.Commands() {
		each(sub, do)
	}
}

// unknown returns the first word of a command line that the tree does not know, "" where it knows all.
func unknown(tree *cobra.Command, words []string) string {
	if words[0] == "help" {
		words = words[1:]
	}
	c, rest, err := tree.Find(words)
	switch {
	case len(words) == 0:
		return ""
	case err != nil || c == tree:
		return words[0]
	case c.HasSubCommands() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-"):
		return rest[0]
	}
	bad := slices.IndexFunc(rest, func(w string) bool {
		name, isFlag := strings.CutPrefix(w, "--")
		return isFlag && c.Flags().Lookup(name) == nil && c.InheritedFlags().Lookup(name) == nil
	})
	if bad < 0 {
		return ""
	}
	return rest[bad]
}
