package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// phrases stand in the text of a licence.
var phrases = map[string]string{
	"MIT": "Permission is hereby granted, free of charge", "Apache-2.0": "Apache License",
	"BSD-2-Clause": "Redistribution and use in source and binary forms", "BSD-3-Clause": "Redistribution and use in source and binary forms",
}

// TestLicences: the page names the modules of go.mod, each under a licence that is known here, and that its own text is of where
// it is on this machine.
func TestLicences(t *testing.T) {
	page, err := os.ReadFile("help/licences.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^  ([a-z]\S+\.\S+/\S+) +(\S+)`).FindAllStringSubmatch(string(page), -1) {
		named[m[1]] = m[2]
	}
	cmd := exec.Command("go", "list", "-deps", "-test", "-f", "{{with .Module}}{{.Path}} {{.Dir}}{{end}}", "./...")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	dirs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		path, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		dirs[path] = dir
	}
	file, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	required := regexp.MustCompile(`(?m)^\t(\S+) v\S+`).FindAllStringSubmatch(string(file), -1)
	for _, r := range required {
		checkLicence(t, r[1], named[r[1]], dirs[r[1]])
		delete(named, r[1])
	}
	for module := range named {
		t.Errorf("the page names %s, which go.mod does not", module)
	}
	if len(required) < 10 {
		t.Errorf("go.mod requires %d modules", len(required))
	}
}

func checkLicence(t *testing.T, module, licence, dir string) {
	t.Helper()
	phrase := phrases[licence]
	if phrase == "" {
		t.Errorf("%s: licence %q", module, licence)
		return
	}
	texts, _ := filepath.Glob(filepath.Join(dir, "*[lL][iI][cC][eE][nN]*"))
	if dir == "" || len(texts) == 0 {
		return // its source was not fetched: nothing that is built here needs it
	}
	for _, path := range texts {
		if text, err := os.ReadFile(path); err == nil && strings.Contains(plain(string(text)), plain(phrase)) {
			return
		}
	}
	t.Errorf("%s: its licence is not %s", module, licence)
}

// plain is a text in lower case and on one line.
func plain(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }
