package parse

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// describe writes what is in m, one line an item, and the text below an empty line.
func describe(m *Message) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Type: %s\nSubject: %s\nFrom: %s\nID: %s\n", m.Type, m.Subject, m.From, m.MessageID)
	for _, d := range m.Defects {
		fmt.Fprintf(&b, "Defect: %s\n", strings.TrimSpace(d.Where+" "+d.What))
	}
	for _, a := range m.Attachments {
		fmt.Fprintf(&b, "Attachment: %s %q %q\n", a.Type, a.Name, a.Data)
	}
	for _, l := range m.Links {
		fmt.Fprintf(&b, "Link: %s\n", l)
	}
	b.WriteByte('\n')
	for _, line := range strings.Split(text(m), "\n") {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// TestCases reads each testdata/NN-name.eml and compares what is in it with NN-name.text.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.eml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".eml")
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(strings.TrimSuffix(f, ".eml") + ".text")
			if err != nil {
				t.Fatal(err)
			}
			if got := describe(Parse(raw, Limits{})); got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
