package parse

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// torture is a collection of a thousand messages made to break parsers. It is not part of the repository.
const torture = "../../shared/corpora/torture.tar.xz"

func TestTorture(t *testing.T) {
	if _, err := os.Stat(torture); err != nil {
		t.Log("no collection of hard messages beside the repository: the cases of testdata stand for it")
		return
	}
	cmd := exec.Command("xz", "-dc", torture)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatalf("the collection is there, but xz is not: %v", err)
	}
	messages, lines, lost := 0, 0, 0
	for r := tar.NewReader(out); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(h.Name, ".eml") {
			continue
		}
		raw, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		m := Parse(raw, Limits{})
		check(t, m, len(raw))
		n, gone := lostLines(raw, m)
		messages, lines = messages+1, lines+n
		for _, line := range gone {
			lost++
			t.Logf("%s: %s", h.Name, line)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	// What is rightly lost: preambles and epilogues of inner multiparts, and the later messages of an mbox that
	// stands as one message behind the end of its first.
	if messages < 1000 || lines < 1000 || lost*50 > lines {
		t.Errorf("%d messages, %d lines, %d of them lost", messages, lines, lost)
	}
}

// wordy is a line of six words or more and nothing that an encoding, HTML or a header would have.
var wordy = regexp.MustCompile(`^[A-Za-z,.']+( [A-Za-z,.']+){5,}$`)

// lostLines returns how many lines of plain prose the body of a message has, and those of them that are nowhere in
// what was read of it. Messages with alternatives are left out, since one of those is not read on purpose.
func lostLines(raw []byte, m *Message) (n int, lost []string) {
	lower := strings.ToLower(string(raw))
	if strings.Contains(lower, "multipart/alternative") {
		return 0, nil
	}
	var all strings.Builder
	for _, b := range m.Blocks {
		all.WriteString(b.Text + "\n")
	}
	for _, a := range m.Attachments {
		all.Write(a.Data)
	}
	read := strings.Join(strings.Fields(all.String()+m.Hidden), " ")
	_, body, _ := strings.Cut(strings.ReplaceAll(string(raw), "\r\n", "\n"), "\n\n")
	if i, j := strings.Index(body, "--"), strings.LastIndex(body, "\n--"); strings.Contains(lower, "multipart/") && i < j {
		body = body[i:j] // what stands before and after the parts is for programs that do not know MIME
	}
	for line := range strings.Lines(body) {
		if line = strings.TrimSpace(line); !wordy.MatchString(line) {
			continue
		}
		if n++; !strings.Contains(read, line) {
			lost = append(lost, line)
		}
	}
	return n, lost
}
