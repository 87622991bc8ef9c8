package main_test

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"spamsim/cmd/spamsim/internal/demo"
	"spamsim/cmd/spamsim/internal/lab"
)

// opensmtpdConf is a site's configuration: everybody's mail goes to one user's maildir.
const opensmtpdConf = `listen on 127.0.0.1 port %s
table users { "@" = "user" }
action "local" maildir "/home/user/Maildir" virtual <users>
include "/etc/smtpd.spamsim.conf"
`

// An opensmtpd is a client's way through OpenSMTPD, spamsim and OpenSMTPD again into a maildir.
type opensmtpd struct {
	addr    string
	cell    *lab.Cell
	spamsim *lab.CellServer
}

// newOpenSMTPD starts one with the pieces of configs/opensmtpd. Settings, which are TOML's top level, come before those of
// the piece.
func newOpenSMTPD(t *testing.T, recipients, settings string) *opensmtpd {
	t.Helper()
	c := &opensmtpd{cell: lab.NewCell(t, "opensmtpd")}
	p := newPorts(t)
	c.addr = p.addr("25")
	c.spamsim = c.cell.StartSpamsim(settings + p.piece(t, "opensmtpd/spamsim.toml"))
	c.cell.Write("/etc/smtpd.conf", fmt.Sprintf(opensmtpdConf, p["25"]))
	c.cell.Write("/etc/smtpd.spamsim.conf", p.piece(t, "opensmtpd/spamsim.conf"))
	c.cell.Write("/etc/mail/spamsim-recipients", recipients)
	c.cell.Folder("/var/lib/opensmtpd/empty", 0, 0o755)
	c.cell.Folder("/var/spool/smtpd", 0, 0o711)
	c.cell.Start("smtpd", c.cell.Command("/usr/sbin/smtpd", "-d", "-T", "rules"), []string{c.addr, p.addr("10026")})
	return c
}

// mails waits for n messages in the maildir and returns all.
func (c *opensmtpd) mails(t *testing.T, n int) [][]byte {
	t.Helper()
	var mails [][]byte
	lab.Eventually(t, fmt.Sprint(n, " messages in the maildir"), func() bool {
		mails = c.cell.Mails("/home/user/Maildir")
		return len(mails) >= n
	})
	return mails
}

// send sends a message and waits for it in the maildir, which by then holds n.
func (c *opensmtpd) send(t *testing.T, m demo.Mail, n int) string {
	t.Helper()
	if reply := lab.Send(t, c.addr, m.From, []string{m.To}, m.Raw); reply[0] != '2' {
		t.Fatalf("%s: %s", m.Subject, reply)
	}
	for _, raw := range c.mails(t, n) {
		if strings.Contains(string(raw), messageID(m)) {
			return string(raw)
		}
	}
	t.Fatalf("%s is not among the %d", m.Subject, n)
	return ""
}

// TestOpenSMTPD: six near-copies among other mail, sent to Debian's OpenSMTPD, which hands mail on as configs/opensmtpd has
// it. The fifth and the sixth lie in the maildir tagged as bulk, nothing else does; and nothing is turned away, though
// the settings say so: OpenSMTPD would bounce it.
func TestOpenSMTPD(t *testing.T) {
	t.Parallel()
	c := newOpenSMTPD(t, "@site.example\n", "mode = \"enforce\"\nactions.bulk = \"tempfail\"\n")
	stream, _ := campaign(6, 2)
	sixCopies(t, stream, func(n int, m demo.Mail) string { return c.send(t, m, n) })
}

// TestOpenSMTPDRefuses: who is not in the table is refused at once, from outside and by the way back from spamsim. Octets
// that SMTP stumbles over arrive.
func TestOpenSMTPDRefuses(t *testing.T) {
	c := newOpenSMTPD(t, "b@site.example\n", "")
	s := lab.Dial(t, c.addr)
	s.Must("EHLO client.lab.test", "MAIL FROM:<a@lab.test>", "RCPT TO:<b@site.example>")
	for _, rcpt := range []string{"nobody@site.example", "b@elsewhere.test"} {
		if reply := s.Do("RCPT TO:<" + rcpt + ">"); !strings.HasPrefix(reply, "550") {
			t.Errorf("%s: %s", rcpt, reply)
		}
	}
	s.Must("DATA")
	body := "8-bit \xe9\r\n.dot\r\nFrom here\r\n" + strings.Repeat("long ", 150) + "\r\n"
	if reply := s.Content([]byte("Subject: x\r\n\r\n" + body)); reply[0] != '2' {
		t.Fatal(reply)
	}
	raw := string(c.mails(t, 1)[0])
	if !strings.HasSuffix(raw, "\n\n"+strings.ReplaceAll(body, "\r\n", "\n")) || !strings.Contains(raw, "\nX-Spamsim: ") {
		t.Errorf("delivered %q", raw)
	}
}

// TestOpenSMTPDWaits: with the daemon down mail waits in OpenSMTPD's queue, and is delivered once, tagged, when it is back.
func TestOpenSMTPDWaits(t *testing.T) {
	t.Parallel()
	c := newOpenSMTPD(t, "@site.example\n", "")
	c.spamsim.Stop()
	m := demo.Stream(7)[0]
	if reply := lab.Send(t, c.addr, m.From, []string{m.To}, m.Raw); reply[0] != '2' {
		t.Fatal(reply)
	}
	lab.Eventually(t, "OpenSMTPD puts the message off", func() bool {
		return strings.Contains(c.cell.Read("/var/log/smtpd"), "mta error reason=IO Error: Connection refused")
	})
	c.spamsim.Start()
	schedule := func() *exec.Cmd { // in the package smtpctl is setgid
		cmd := c.cell.Command("/usr/sbin/smtpctl", "schedule", "all")
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: 0, Gid: lab.CellOpensmtpq}
		return cmd
	}
	lab.Eventually(t, "OpenSMTPD tries again", func() bool {
		c.cell.Run(t, schedule())
		return len(c.cell.Mails("/home/user/Maildir")) > 0
	})
	if got := verdicts(t, c.mails(t, 1)); len(got) != 1 || strings.HasPrefix(got[messageID(m)], "error") {
		t.Errorf("delivered %q", got)
	}
}
