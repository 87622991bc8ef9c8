package main_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pagesOf are the pages for people, by their names.
func pagesOf(t *testing.T) map[string]string {
	t.Helper()
	paths, err := filepath.Glob("help/*.md")
	if err != nil || len(paths) < 10 {
		t.Fatalf("%d pages of help, %v", len(paths), err)
	}
	out := map[string]string{}
	for _, path := range append(paths, filepath.Join(root, "README.md"), filepath.Join(root, "CONTRIBUTING.md")) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.Base(path)] = string(text)
	}
	return out
}

// programs are those that the pages tell the reader to run. A line that is set in and begins with one is a command.
var programs = []string{"spamsim", "./spamsim", "go", "make", "git", ".ci/deb", "curl", "ssh", "openssl", "docker", "install", "cp", "mv",
	"rm", "mkdir", "ln", "chmod", "chown", "adduser", "gpasswd", "apt-get", "dpkg", "systemctl", "postfix", "postconf", "postmap", "postqueue",
	"postsuper", "newaliases", "swaks", "sendmail", "crontab", "kill"}

// remark is what stands behind a command: two spaces or more, or a number sign.
var remark = regexp.MustCompile(`\s{2,}\S.*|\s+# .*`)

// prompt is what stands before a command: that of a shell, or the pipe of procmail's recipes.
var prompt = regexp.MustCompile(`^(\$|\|) `)

// commandsOf are the commands of a page, in their order.
func commandsOf(page string) []string {
	var out []string
	for line := range strings.Lines(strings.ReplaceAll(page, " \\\n", " ")) {
		text := prompt.ReplaceAllString(strings.TrimSpace(line), "")
		if first, _, _ := strings.Cut(text, " "); strings.HasPrefix(line, "  ") && slices.Contains(programs, first) {
			if first == "curl" { // its second line is set in
				text = strings.Join(strings.Fields(text), " ")
			}
			out = append(out, remark.ReplaceAllString(text, ""))
		}
	}
	return out
}

// TestCommandsOf: what is taken for a command, and where it ends.
func TestCommandsOf(t *testing.T) {
	page := "spamsim stands here in prose\n\n  spamsim stats        what was seen\n    ./spamsim check a.eml # judge\n  $ spamsim top\n" +
		"  spamsim.db   the store\n  curl -d @a \\\n    http://x\n  spamsim campaigns label 1 --name 'our letter'\n  :0 fw\n  | spamsim check --tag\n"
	want := []string{"spamsim stats", "./spamsim check a.eml", "spamsim top", "curl -d @a http://x", "spamsim campaigns label 1 --name 'our letter'", "spamsim check --tag"}
	if got := commandsOf(page); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestPagesAreTried: a command in a page is either one that TestPages runs or one that says why not; and neither list has
// what no page has.
func TestPagesAreTried(t *testing.T) {
	known, found := map[string]bool{}, map[string]string{}
	for _, s := range story {
		known[s.command] = true
	}
	for command, why := range untried {
		if known[command] || why == "" {
			t.Errorf("%q is tried and listed as untried, or without a reason", command)
		}
		known[command] = true
	}
	for name, page := range pagesOf(t) {
		for _, command := range commandsOf(page) {
			found[command] = name
		}
	}
	for _, command := range slices.Sorted(maps.Keys(found)) {
		if !known[command] {
			t.Errorf("%s: nobody tries %q: it wants a step in the story of TestPages, or a reason why not", found[command], command)
		}
	}
	for _, command := range slices.Sorted(maps.Keys(known)) {
		if found[command] == "" {
			t.Errorf("no page has %q any more", command)
		}
	}
}
