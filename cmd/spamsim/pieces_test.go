package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"spamsim/cmd/spamsim/internal/demo"
	"spamsim/cmd/spamsim/internal/lab"
)

// ports gives each well-known port of the pieces in configs/ one of the lab's.
type ports map[string]string

// newPorts are those of a chain: where the world comes in, spamsim, and where judged mail comes back.
func newPorts(t *testing.T) ports {
	t.Helper()
	p := ports{}
	for _, usual := range []string{"25", "10025", "10026"} {
		p[usual] = port(lab.FreeAddr(t))
	}
	return p
}

// port is the port of an address.
func port(addr string) string { return addr[strings.LastIndexByte(addr, ':')+1:] }

// addr is where the lab listens in a port's place.
func (p ports) addr(usual string) string { return "127.0.0.1:" + p[usual] }

var number = regexp.MustCompile(`\b(25|10025|10026)\b`)

// piece is a file of configs/ as it is shipped, but for its ports and the address of the world.
func (p ports) piece(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "configs", name))
	if err != nil {
		t.Fatal(err)
	}
	return p.local(string(text))
}

// local puts the lab's ports, and loopback for the world, into a text.
func (p ports) local(text string) string {
	local := strings.ReplaceAll(text, "0.0.0.0", "127.0.0.1")
	return number.ReplaceAllStringFunc(local, func(usual string) string {
		if lab := p[usual]; lab != "" {
			return lab
		}
		return usual
	})
}

// sixCopies sends a stream whose last is the sixth copy of a campaign, and checks what is delivered of each: one X-Spamsim
// field, which says bulk of the fifth and the sixth copy and of nothing else. send returns message n, counted from 1, as
// it was delivered, its lines ended by LF.
func sixCopies(t *testing.T, stream []demo.Mail, send func(n int, m demo.Mail) string) {
	t.Helper()
	copies := 0
	for i, m := range stream {
		got := send(i+1, m)
		v := verdicts(t, [][]byte{[]byte(got)})[messageID(m)]
		if m.Kind == demo.Pills {
			copies++
		}
		if want := m.Kind == demo.Pills && copies >= 5; v == "" || strings.HasPrefix(v, "bulk;") != want {
			t.Errorf("%s (copy %d): %q, want bulk %v, in\n%.600s", m.Subject, copies, v, want, got)
		}
		body := strings.ReplaceAll(string(m.Raw), "\r\n", "\n")
		if _, body, _ = strings.Cut(body, "\n\n"); !strings.HasSuffix(strings.TrimRight(got, "\n"), strings.TrimRight(body, "\n")) {
			t.Errorf("%s: the body was changed:\n%s", m.Subject, got)
		}
	}
	if copies != 6 {
		t.Errorf("%d copies were sent", copies)
	}
}

// settings are the lines of a piece without comments, their white space collapsed.
func settings(t *testing.T, name string) []string {
	t.Helper()
	var lines []string
	for line := range strings.Lines(ports{}.piece(t, name)) {
		line = strings.Join(strings.Fields(line), " ")
		if line != "" && !strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "dnl") {
			lines = append(lines, line)
		}
	}
	return lines
}

// TestPiecesInHelp: a setting of Postfix that a page of help spells out is that of configs/, and a page names the files.
func TestPiecesInHelp(t *testing.T) {
	page := func(name string) string {
		text, err := os.ReadFile("help/" + name + ".md")
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(strings.Fields(string(text)), " ")
	}
	postfix, mta, service := page("postfix"), page("mta"), page("service")
	pieces, err := filepath.Glob(filepath.Join(root, "configs/*/*"))
	if err != nil || len(pieces) < 10 {
		t.Fatalf("%d pieces, %v", len(pieces), err)
	}
	for _, path := range pieces {
		name, _ := filepath.Rel(filepath.Join(root, "configs"), path)
		folder := filepath.Dir(name)
		switch {
		case folder == "rspamd" || folder == "spamassassin": // help scanners
		case folder == "postfix" && strings.HasSuffix(name, ".cf"):
			for _, line := range settings(t, name) {
				if !strings.Contains(postfix, line) {
					t.Errorf("help postfix has no %q of %s", line, name)
				}
			}
		case folder == "grafana" || folder == "prometheus":
			if !strings.Contains(page("metrics"), "configs/"+name) {
				t.Errorf("help metrics does not name %s", name)
			}
		case folder == "debian" || strings.HasSuffix(name, ".dockerignore"): // .ci/deb, and what docker finds by its name
		case folder == "systemd" || folder == "docker":
			if !strings.Contains(service, "configs/"+name) {
				t.Errorf("help service does not name %s", name)
			}
		case !strings.Contains(mta, "configs/"+folder) || !strings.Contains(mta, filepath.Base(name)):
			t.Errorf("help mta does not name %s", name)
		}
	}
}
