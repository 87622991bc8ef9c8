package dccifd

import (
	"fmt"
	"strings"
	"testing"
)

// TestClients: requests as the known clients write them, octet by octet, and what they get.
func TestClients(t *testing.T) {
	r := start(t, "unix", &Server{}, says(clean))
	for _, c := range []struct {
		name, request, answer string
		envelope              string // address, sender, recipients, counted
	}{
		{"SpamAssassin looks up", "cksums grey-off \n192.0.2.7\ra.example\na.helo\n\nunknown\n\n", "A\nA\n" + cleanLine, `192.0.2.7 "" [] true`},
		{"SpamAssassin knows no client", "cksums grey-off \n\n\n\nunknown\n\n", "A\nA\n" + cleanLine, ` "" [] true`},
		{"SpamAssassin asks again", "cksums grey-off query \n192.0.2.7\na.helo\n\nunknown\n\n", "A\nA\n" + cleanLine, `192.0.2.7 "" [] false`},
		{"SpamAssassin reports", "header spam grey-off \n192.0.2.7\n\n\nunknown\n\n", "A\nA\n" + cleanLine, `192.0.2.7 "" [] true`},
		{"an old SpamAssassin", "header \n192.0.2.7\n\n\nunknown\n\n", "A\nA\n" + cleanLine, `192.0.2.7 "" [] true`},
		{"rspamd", "header\n2001:db8::1\rb.example\nb.helo\ns@example.org\none@example.net\ntwo@example.net\n\n",
			"A\nAA\n" + cleanLine, `2001:db8::1 "s@example.org" [one@example.net two@example.net] true`},
		{"rspamd without envelope", "header grey-off\n0.0.0.0\n\ntest@example.com\ntest@example.com\n\n", "A\nA\n" + cleanLine, ` "" [] true`},
		{"Exim", "header\n192.0.2.9\nHELO localhost\n<>\nr@example.net\n\n", "A\nA\n" + cleanLine, `192.0.2.9 "" [r@example.net] true`},
		{"Haraka", "header\n192.0.2.9\rc.example\nc.helo\ns@example.org\none@example.net\rtwo@example.net\rthree@example.net\n\n",
			"A\nAAA\n" + cleanLine, `192.0.2.9 "s@example.org" [one@example.net two@example.net three@example.net] true`},
		{"users' names", "header\n\n\ns@example.org\none@example.net\rjohn\ntwo@example.net\r\n\n",
			"A\nAA\n" + cleanLine, ` "s@example.org" [one@example.net two@example.net] true`},
		{"no recipients", "header\n\n\ns@example.org\n\n", "A\n\n" + cleanLine, ` "s@example.org" [] false`},
		{"no options", "\n\n\n<s@example.org>\n<r@example.net>\n\n", "A\nA\n", ` "s@example.org" [r@example.net] true`},
		{"unknown options", "log rcvd-nxt no-reject header future\n\n\n\nr@example.net\n\n", "A\nA\n" + cleanLine, ` "" [r@example.net] true`},
		{"lines that end in CRLF", "header\r\n192.0.2.7\r\nh\r\ns@example.org\r\nr@example.net\r\n\r\n", "A\nA\n" + cleanLine, `192.0.2.7 "s@example.org" [r@example.net] true`},
	} {
		message := "From: " + c.name + "\n\n.a dot\r\n\x00\xff no end"
		if got := r.request(t, c.request+message); got != c.answer {
			t.Errorf("%s: answered %q, want %q", c.name, got, c.answer)
		}
		a := r.last(t)
		if got := fmt.Sprintf("%s %q %s %v", a.env.ClientAddr, a.env.Sender, a.env.Recipients, a.counts); got != c.envelope {
			t.Errorf("%s: the filter was asked of %s, want %s", c.name, got, c.envelope)
		}
		if a.raw != message || a.env.Door != "dccifd" || a.env.Time.IsZero() {
			t.Errorf("%s: the filter was asked of %+v", c.name, a)
		}
	}
}

// TestBody: the message comes back with the line on top and any other of that name gone, or untouched with a failure.
func TestBody(t *testing.T) {
	r := start(t, "tcp", &Server{}, says(bulk))
	ask := strings.Replace(one, "header", "header body", 1)
	line := strings.TrimSuffix(bulkLine, "\n\n")
	for _, c := range []struct{ sent, want string }{
		{"Subject: x\n\nx", line + "\nSubject: x\n\nx"},
		{"Subject: x\r\n\r\nx\r\n", line + "\r\nSubject: x\r\n\r\nx\r\n"},
		{"a: b\nx-dcc-SPAMSIM-metrics: forged;\n\tbulk\nX-DCC-other-Metrics: theirs\n\nX-DCC-spamsim-Metrics: text\n",
			line + "\na: b\nX-DCC-other-Metrics: theirs\n\nX-DCC-spamsim-Metrics: text\n"},
	} {
		if got := r.request(t, ask+c.sent); got != "A\nA\n"+c.want {
			t.Errorf("of %q came back %q, want %q", c.sent, got, c.want)
		}
	}
}
