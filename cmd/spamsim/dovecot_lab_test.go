package main_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"spamsim/cmd/spamsim/internal/demo"
	"spamsim/cmd/spamsim/internal/lab"
)

// dovecotConf is a site's configuration: one user, mail in maildirs.
const dovecotConf = `protocols = imap
ssl = no
disable_plaintext_auth = no
auth_username_format = %%n
log_path = /dev/stderr
mail_location = maildir:~/Maildir
namespace inbox {
  inbox = yes
}
passdb {
  driver = passwd-file
  args = /etc/dovecot/users
}
userdb {
  driver = passwd-file
  args = /etc/dovecot/users
}
service imap-login {
  inet_listener imap {
    address = 127.0.0.1
    port = %s
  }
  inet_listener imaps {
    port = 0
  }
}
!include conf.d/90-spamsim.conf
`

// A dovecot is a client's way through spamsim into Dovecot.
type dovecot struct {
	lmtp, imap string // where the MTA comes to spamsim, and users come to Dovecot
	cell       *lab.Cell
}

// newDovecot starts one with the pieces of configs/dovecot and configs/sieve.
func newDovecot(t *testing.T) *dovecot {
	t.Helper()
	c := &dovecot{cell: lab.NewCell(t, "dovecot-core", "dovecot-imapd", "dovecot-lmtpd", "dovecot-sieve"), imap: lab.FreeAddr(t)}
	p := newPorts(t)
	c.lmtp = p.addr("10025")
	c.cell.Write("/etc/dovecot/dovecot.conf", fmt.Sprintf(dovecotConf, port(c.imap)))
	c.cell.Write("/etc/dovecot/users", "user:{PLAIN}secret:1000:1000::/home/user::\n")
	c.cell.Write("/etc/dovecot/conf.d/90-spamsim.conf", forRace(p.piece(t, "dovecot/90-spamsim.conf")))
	for _, name := range []string{"sieve/bulk.sieve", "dovecot/spamsim-spam.sieve", "dovecot/spamsim-ham.sieve"} {
		c.cell.Write("/etc/dovecot/sieve/"+filepath.Base(name), p.piece(t, name))
	}
	c.cell.Symlink("/usr/bin/spamsim", "/etc/dovecot/sieve-bin/spamsim")
	c.cell.Run(t, c.cell.Command("/usr/bin/sievec", "/etc/dovecot/sieve/"))
	c.cell.StartSpamsim(p.piece(t, "dovecot/spamsim.toml"))
	c.cell.Start("dovecot", c.cell.Command("/usr/sbin/dovecot", "-F"), []string{c.imap})
	return c
}

// forRace lifts the limit of address space where the test runs under the race detector, which reserves terabytes.
func forRace(conf string) string {
	info, _ := debug.ReadBuildInfo()
	if info == nil || !slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		return conf
	}
	return strings.Replace(conf, "vsz_limit = 4G", "vsz_limit = 0", 1)
}

// send sends a message to the user by LMTP.
func (c *dovecot) send(t *testing.T, m demo.Mail) {
	t.Helper()
	s := lab.Dial(t, c.lmtp)
	defer s.Conn.Close()
	s.Must("LHLO mta.lab.test", "MAIL FROM:<"+m.From+">", "RCPT TO:<user@site.example>", "DATA")
	if reply := s.Content(m.Raw); !strings.HasPrefix(reply, "250 ") {
		t.Fatalf("%s: %s", m.Subject, reply)
	}
}

// find returns the folder in which the user's message lies, and the message.
func (c *dovecot) find(t *testing.T, m demo.Mail) (folder, raw string) {
	t.Helper()
	for _, folder := range []string{"", ".Junk"} {
		for _, raw := range c.cell.Mails("/home/user/Maildir/" + folder) {
			if bytes.Contains(raw, []byte(messageID(m))) {
				return folder, string(raw)
			}
		}
	}
	t.Fatalf("%s was not delivered", m.Subject)
	return "", ""
}

// TestDovecot: six near-copies among other mail, sent by LMTP to spamsim and on to Debian's Dovecot. The fifth and the sixth
// are tagged as bulk and lie in Junk, everything else lies in the inbox.
func TestDovecot(t *testing.T) {
	t.Parallel()
	c := newDovecot(t)
	stream, _ := campaign(6, 6)
	sixCopies(t, stream, func(_ int, m demo.Mail) string {
		c.send(t, m)
		folder, raw := c.find(t, m)
		if bulk := strings.Contains(raw, "X-Spamsim: bulk;"); bulk != (folder == ".Junk") {
			t.Errorf("%s: bulk %v, in folder %q", m.Subject, bulk, folder)
		}
		return raw
	})
}

// TestDovecotRefuses: the answer for a recipient that Dovecot does not know is the MTA's, word for word, and the message
// goes to the other one.
func TestDovecotRefuses(t *testing.T) {
	t.Parallel()
	c := newDovecot(t)
	s := lab.Dial(t, c.lmtp)
	s.Must("LHLO mta.lab.test", "MAIL FROM:<a@lab.test>", "RCPT TO:<user@site.example>")
	const want = "550 5.1.1 <nobody@site.example> User doesn't exist: nobody@site.example"
	if reply := s.Do("RCPT TO:<nobody@site.example>"); reply != want {
		t.Errorf("the MTA heard %q, want %q", reply, want)
	}
	s.Must("DATA")
	m := demo.Stream(7)[0]
	if reply := s.Content(m.Raw); !strings.HasPrefix(reply, "250 2.0.0 <user@site.example> ") || !strings.HasSuffix(reply, " Saved") {
		t.Errorf("the MTA heard %q of the message", reply)
	}
	c.find(t, m)
}
