package parse

import (
	"strings"
	"testing"
)

// text returns the blocks of m, one after the other.
func text(m *Message) string {
	var all []string
	for _, b := range m.Blocks {
		all = append(all, b.Text)
	}
	return strings.Join(all, "\n")
}

func TestAsText(t *testing.T) {
	m := asText([]byte("Subject: s\n\ncaf\xe9, and more"), 16)
	if got := text(m); got != "Subject: s\n\ncafé" || len(m.Defects) != 1 || m.Type != "text/plain" {
		t.Errorf("got %q, %v", got, m.Defects)
	}
}

func TestParse(t *testing.T) {
	raw := "Subject: =?utf-8?B?w6Q=?=\r\n =?utf-8?B?w7Y=?=\r\nFrom: \"a@b.example\" <C@D.example>\r\n" +
		"Message-ID: <1@d.example>\r\nContent-Type: multipart/alternative; boundary=x\r\n\r\n" +
		"--x\r\n\r\nplain\r\n--x\r\nContent-Type: text/html\r\n\r\nshown\r\n--x--\r\n"
	m := Parse([]byte(raw), Limits{})
	if m.Subject != "äö" || m.From != "c@d.example" || m.MessageID != "1@d.example" || m.Type != "multipart/alternative" {
		t.Errorf("got %q, %q, %q, %q", m.Subject, m.From, m.MessageID, m.Type)
	}
	if got := strings.TrimSpace(text(m)); got != "shown" || len(m.Defects) > 0 {
		t.Errorf("got %q, %v", got, m.Defects)
	}
}
