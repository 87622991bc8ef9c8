package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOriginal holds "code" against what the original nilsimsa program, version 0.2.4, printed for the same arguments.
// Where that said something on standard error, it exited 0, and ours exits 2.
func TestOriginal(t *testing.T) {
	data, err := os.ReadFile("testdata/nilsimsa-0.2.4.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range bytes.Lines(data) {
		var v struct {
			Name           string
			Args           []string
			Files          []string `json:"files_b64"`
			Stdout, Stderr string
		}
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		n++
		t.Run(v.Name, func(t *testing.T) {
			dir := t.TempDir()
			args := append([]string{"code", "--nilsimsa"}, v.Args...)
			for i, b64 := range v.Files {
				raw, err := base64.StdEncoding.DecodeString(b64)
				if err != nil {
					t.Fatal(err)
				}
				file := filepath.Join(dir, fmt.Sprintf("f%d", i))
				if err := os.WriteFile(file, raw, 0o644); err != nil {
					t.Fatal(err)
				}
				args = append(args, file)
			}
			var stdout, stderr bytes.Buffer
			got := run(args, strings.NewReader(""), &stdout, &stderr)
			if stdout.String() != v.Stdout {
				t.Errorf("%v printed\n%swant\n%s", args, stdout.String(), v.Stdout)
			}
			said := strings.NewReplacer("spamsim: ", "nilsimsa: ", dir, "cli").Replace(stderr.String())
			if said != v.Stderr {
				t.Errorf("%v said %q, want %q", args, said, v.Stderr)
			}
			if want := statusOf(v.Stderr != ""); got != want {
				t.Errorf("%v: status %d, want %d", args, got, want)
			}
		})
	}
	if n < 16 {
		t.Fatalf("%d rows", n)
	}
}

func statusOf(bad bool) int {
	if bad {
		return statusUsage
	}
	return statusDone
}

// FuzzOriginal cuts any bytes as the original program did: what is left of a message is its end, and what an mbox's
// messages hold is in the file, no more than that and in its order.
func FuzzOriginal(f *testing.F) {
	f.Add([]byte("From a\nSubject: x\r\n\r\n>From b\n\nFrom c\n"))
	f.Add([]byte("\n\n\r\r"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if body := afterHeader(raw); !bytes.HasSuffix(raw, body) {
			t.Fatalf("%q is not the end of %q", body, raw)
		}
		rest := raw
		for _, m := range originalMbox(raw) {
			for line := range bytes.Lines(m) {
				i := bytes.Index(rest, line)
				if i < 0 {
					t.Fatalf("%q is not in the file", line)
				}
				rest = rest[i+len(line):]
			}
		}
	})
}
