package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestManual: each command and topic has a page, which tells each of its flags, and those below it.
func TestManual(t *testing.T) {
	root := newRoot(&app{})
	pages := manual(root)
	plain := strings.NewReplacer(`\-`, "-", `\(aq`, "'", `\(dq`, `"`, `\e`, `\`)
	var look func(c *cobra.Command, page string)
	look = func(c *cobra.Command, page string) {
		for _, flag := range regexp.MustCompile(`--[a-z][\w-]*`).FindAllString(c.NonInheritedFlags().FlagUsages(), -1) {
			if !strings.Contains(page, flag) {
				t.Errorf("%s: %s is not told", c.CommandPath(), flag)
			}
		}
		if !strings.Contains(page, c.Short) {
			t.Errorf("%s: %q is not told", c.CommandPath(), c.Short)
		}
		for _, sub := range c.Commands() {
			look(sub, page)
		}
	}
	index := plain.Replace(pages["spamsim.1"])
	n := 1
	for _, c := range root.Commands() {
		if c.Name() == "help" || c.Name() == "completion" {
			continue // of every program of this kind
		}
		name := "spamsim-" + c.Name()
		page := pages[name+".1"] + pages[name+".7"]
		if n++; page == "" || !strings.Contains(index, name+" (") {
			t.Errorf("no page for %s, or it is not listed", name)
		}
		look(c, plain.Replace(page))
	}
	if n != len(pages) {
		t.Errorf("%d pages, want %d", len(pages), n)
	}
}

func TestRoff(t *testing.T) {
	const text = "# Title\n\nA 'line'\n.is no request\n  a\\b --all\n  'c'\n\nand \"more\"\nA HEADING"
	const want = ".sp\nA \\(aqline\\(aq\n\\&.is no request\n.nf\n  a\\eb \\-\\-all\n  \\(aqc\\(aq\n.sp\n.fi\nand \\(dqmore\\(dq\n.SH A HEADING\n"
	if got := manText(text); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestManualIsRoff lets groff read the pages, where it is installed: no page has anything that it warns of.
func TestManualIsRoff(t *testing.T) {
	groff, err := exec.LookPath("groff")
	if err != nil {
		t.Log("no groff here: TestManual alone has looked at the pages")
		return
	}
	dir := t.TempDir()
	if got := run([]string{"man", dir}, strings.NewReader(""), &bytes.Buffer{}, os.Stderr); got != statusDone {
		t.Fatalf("status %d", got)
	}
	files, err := filepath.Glob(dir + "/*.[17]")
	if err != nil || len(files) < 20 {
		t.Fatalf("%q, %v", files, err)
	}
	out, err := exec.Command(groff, append([]string{"-man", "-Tutf8", "-Kutf8", "-ww", "-z"}, files...)...).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestCompletions: the shells' completions are made from the same commands, and are scripts that the shells can read.
func TestCompletions(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish"} {
		var out bytes.Buffer
		if got := run([]string{"completion", shell}, strings.NewReader(""), &out, os.Stderr); got != statusDone || !strings.Contains(out.String(), "__spamsim") {
			t.Errorf("%s: status %d, %d octets", shell, got, out.Len())
		}
		if _, err := exec.LookPath(shell); err != nil || shell == "fish" {
			continue
		}
		cmd := exec.Command(shell, "-n")
		cmd.Stdin = &out
		if said, err := cmd.CombinedOutput(); err != nil || len(said) > 0 {
			t.Errorf("%s: %v, %s", shell, err, said)
		}
	}
	for words, want := range map[string]string{"ba": "backtest\t", "config ": "diff\t"} {
		var out bytes.Buffer
		args := append([]string{"__complete"}, strings.Split(words, " ")...)
		if got := run(args, strings.NewReader(""), &out, &bytes.Buffer{}); got != statusDone || !strings.Contains(out.String(), want) {
			t.Errorf("%q: status %d, %q", words, got, out.String())
		}
	}
}
