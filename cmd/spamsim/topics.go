package main

import (
	"embed"
	"strings"

	"github.com/spf13/cobra"
)

//go:embed help/*.md
var pages embed.FS

// addTopics makes each page of the folder help a topic of "spamsim help". Its first line is "# What it is about". A page that
// has the name of a command is what that command's help says.
func addTopics(root *cobra.Command) {
	entries, err := pages.ReadDir("help")
	if err != nil {
		panic(err) // the folder is embedded
	}
	for _, e := range entries {
		text, err := pages.ReadFile("help/" + e.Name())
		if err != nil {
			panic(err)
		}
		title, _, _ := strings.Cut(strings.TrimPrefix(string(text), "# "), "\n")
		name, long := strings.TrimSuffix(e.Name(), ".md"), strings.TrimSpace(string(text))
		if c, _, err := root.Find([]string{name}); err == nil && c != root {
			c.Long = long
			continue
		}
		root.AddCommand(&cobra.Command{Use: name, Short: title, Long: long})
	}
}
