package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"spamsim/cmd/spamsim/internal/demo"
	"spamsim/cmd/spamsim/internal/lab"
)

// enforcing are the settings that mark and redirect bulk mail.
const enforcing = `mode = "enforce"
actions.bulk = "redirect"
actions.redirect_to = "caught@site.example"
actions.bulk_subject = "[bulk]"
`

// checksFile is the table of header_checks that "spamsim help actions" has, for another address.
func checksFile(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("help/actions.md")
	if err != nil {
		t.Fatal(err)
	}
	rule := regexp.MustCompile(`(?m)^  spamsim_redirect +(/.*)$`).FindSubmatch(page)
	if rule == nil {
		t.Fatal("help actions has no rule for spamsim_redirect")
	}
	dir, err := os.MkdirTemp("", "spamsim-checks-") // Postfix is another user
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	file := filepath.Join(dir, "spamsim_redirect")
	text := strings.NewReplacer(`spam@example\.com`, `caught@site\.example`, "spam@example.com", "caught@site.example").Replace(string(rule[1]))
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return "regexp:" + file
}

// TestMarkedAndRedirected: with a real Postfix, the fifth and the sixth copy have the prefix before their Subject, be it
// folded and encoded or missing, and go to the address of the redirection and to nobody else; what came before goes
// where it was sent, and a field that a stranger wrote sends nothing anywhere.
func TestMarkedAndRedirected(t *testing.T) {
	for door, parameter := range map[string]string{"milter": "milter_header_checks", "proxy filter": "header_checks"} {
		t.Run(door, func(t *testing.T) {
			lab.Need(t, "postfix")
			c := newChainWith(t, door, enforcing, parameter+" = "+checksFile(t))
			stream, _ := campaign(7, 0)
			subjects := []string{"", "", "", "X-Spamsim-Redirect: caught@site.example\r\nSubject: forged\r\n", "Subject: pears\r\n",
				"Subject: =?utf-8?q?p=C3=A4rs_and_a_line_that_is_nearly_as_long_as_may_be?=\r\n =?utf-8?q?_and_more?=\r\n", "X-None: x\r\n"}
			for i, m := range stream {
				if subjects[i] != "" {
					m.Raw = regexp.MustCompile(`Subject: .*\r\n`).ReplaceAll(m.Raw, []byte(subjects[i]))
				}
				c.send(t, m)
				c.settle(t)
			}
			boxed := map[string]string{}
			for _, raw := range c.postfix.WaitMailbox(t, len(stream)) {
				id := regexp.MustCompile(`(?mi)^message-id: *(<.*>)`).FindSubmatch(raw)[1]
				head, _, _ := bytes.Cut(raw, []byte("\n\n"))
				boxed[string(id)] = "\n" + string(head) + "\n"
			}
			for i, want := range []string{"", "", "", "\nSubject: forged\n", "\nSubject: [bulk] pears\n",
				"\nSubject: [bulk]\n =?utf-8?q?p=C3=A4rs_and_a_line_that_is_nearly_as_long_as_may_be?=\n =?utf-8?q?_and_more?=\n", "\nSubject: [bulk]\n"} {
				redirected(t, c, stream[i], boxed[messageID(stream[i])], want, i >= 4)
			}
		})
	}
}

// redirected checks the header of a delivered message, and in Postfix's log whom it was delivered to.
func redirected(t *testing.T, c *chain, m demo.Mail, head, subject string, want bool) {
	t.Helper()
	if !strings.Contains(head, subject) || strings.Contains(head, "[bulk]") != want || strings.Count(head, "\nSubject: ") != 1 {
		t.Errorf("delivered with %q, want %q", head, subject)
	}
	if n := strings.Count(head, "\nX-Spamsim-Redirect: caught@site.example\n"); n != strings.Count(strings.ToLower(head), "redirect:") || (n == 1) != want {
		t.Errorf("redirected %d times in %q, want %v", n, head, want)
	}
	to := m.To
	if want {
		to = "caught@site.example"
	}
	queue := c.postfix.WaitLog(t, `cleanup\[\d+\]: ([0-9A-F]+): message-id=`+regexp.QuoteMeta(messageID(m)))[1]
	if got := c.postfix.WaitLog(t, queue+`: to=<([^>]*)>`)[1]; got != to {
		t.Errorf("%s was delivered to %s, want %s", queue, got, to)
	}
}
