package main_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"spamsim/cmd/spamsim/internal/demo"
	"spamsim/cmd/spamsim/internal/lab"
)

// A deliverer is a delivery agent of Debian's in a cell, which reads a piece of configs/ as a user's own file and writes each
// message through "spamsim check".
type deliverer struct {
	cell    *lab.Cell
	spamsim *lab.CellServer
	command func() *exec.Cmd
}

// deliverers are the agents' packages, and the pieces by where a user has them.
var deliverers = map[string]struct{ file, piece string }{
	"procmail": {".procmailrc", "procmail/procmailrc"},
	"maildrop": {".mailfilter", "maildrop/mailfilter"},
}

// newDeliverer makes one with a daemon beside it, and an empty maildir.
func newDeliverer(t *testing.T, name string) *deliverer {
	t.Helper()
	d := &deliverer{cell: lab.NewCell(t, name)}
	d.spamsim = d.cell.StartSpamsim("state_dir = \"/var/lib/spamsim\"\n[smtp]\nlisten = []\n")
	agent := deliverers[name]
	path := "/home/user/" + agent.file
	d.cell.Write(path, ports{}.piece(t, agent.piece))
	if err := os.Chmod(d.cell.Dir+path, 0o600); err != nil { // else maildrop does not believe it
		t.Fatal(err)
	}
	if err := os.Chown(d.cell.Dir+path, lab.CellUser, lab.CellUser); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{"", "/.Junk"} {
		for _, sub := range []string{"", "/tmp", "/new", "/cur"} {
			d.cell.Folder("/home/user/Maildir"+folder+sub, lab.CellUser, 0o700)
		}
	}
	d.command = func() *exec.Cmd {
		cmd := lab.As(d.cell.Command("/usr/bin/"+name), lab.CellUser, lab.CellSpamsim)
		cmd.Env = []string{"PATH=/usr/bin", "HOME=/home/user", "LOGNAME=user", "GORACE=atexit_sleep_ms=0"}
		return cmd
	}
	return d
}

// deliver has a message delivered, as an MTA does, and returns the folder in which it lies, and the message.
func (d *deliverer) deliver(t *testing.T, m demo.Mail) (folder, raw string) {
	t.Helper()
	cmd := d.command()
	cmd.Stdin = bytes.NewReader(bytes.ReplaceAll(m.Raw, []byte("\r\n"), []byte("\n")))
	out := d.cell.Run(t, cmd)
	for _, folder := range []string{"", "/.Junk"} {
		for _, raw := range d.cell.Mails("/home/user/Maildir" + folder) {
			if bytes.Contains(raw, []byte(messageID(m))) {
				return folder, string(raw)
			}
		}
	}
	t.Fatalf("%s was not delivered: %s", m.Subject, out)
	return "", ""
}

// TestDeliveryAgents: six near-copies among other mail, delivered by Debian's procmail and maildrop. The fifth and the sixth
// are tagged as bulk and lie in Junk, everything else lies in the inbox. Without a daemon and without the program mail
// is delivered all the same.
func TestDeliveryAgents(t *testing.T) {
	for name := range deliverers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDeliverer(t, name)
			stream, extra := campaign(6, 1)
			sixCopies(t, stream, func(_ int, m demo.Mail) string {
				folder, raw := d.deliver(t, m)
				if bulk := strings.Contains(raw, "X-Spamsim: bulk;"); bulk != (folder == "/.Junk") {
					t.Errorf("%s: bulk %v, in folder %q", m.Subject, bulk, folder)
				}
				return raw
			})
			d.spamsim.Stop()
			if _, raw := d.deliver(t, extra); !strings.Contains(raw, "X-Spamsim: error; reason=store") {
				t.Errorf("without a daemon, and without rights to the store, delivered %q", raw)
			}
			d.cell.Rename("/usr/bin/spamsim", "/usr/bin/spamsim.gone")
			next := demo.Issue(7)
			plain := strings.ReplaceAll(string(next.Raw), "\r\n", "\n")
			if folder, raw := d.deliver(t, next); folder != "" || strings.TrimSpace(raw) != strings.TrimSpace(plain) {
				t.Errorf("without the program, delivered into %q: %q", folder, raw)
			}
		})
	}
}
