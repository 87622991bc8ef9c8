package main_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"spamsim/cmd/spamsim/internal/demo"
	"spamsim/cmd/spamsim/internal/lab"
)

// eximConf is a site's configuration, with the pieces of configs/exim in their places: main section, ACL, router,
// transport. Mail for site.example, but for nobody there, ends in a sink, and no other is taken. A connection is good for
// three messages: spamsim opens another one then.
const eximConf = `primary_hostname = mx.lab.test
spool_directory = /var/spool/exim4
log_file_path = /var/log/exim4/%%s
keep_environment =
pid_file_path = /run/exim4.pid
host_lookup =
rfc1413_query_timeout = 0s
tls_advertise_hosts =
domainlist local_domains = site.example
domainlist relay_to_domains =
acl_smtp_rcpt = acl_check_rcpt
smtp_accept_max_per_connection = 3
%[1]s
begin acl
acl_check_rcpt:
%[2]s
  require domains = +local_domains
          message = relay not permitted
  require verify = recipient
  accept
begin routers
%[3]s
sink:
  driver = manualroute
  domains = +local_domains
  local_parts = !nobody
  transport = sink
  route_list = * 127.0.0.1 byname
  self = send
begin transports
%[4]s
sink:
  driver = smtp
  port = %[5]s
  allow_localhost
  message_linelength_limit = 2147483647
begin retry
* * F,1h,1m
`

// An eximChain is a client's way through Exim, spamsim and Exim again into a sink.
type eximChain struct {
	addr    string
	sink    *lab.Sink
	cell    *lab.Cell
	spamsim *lab.CellServer
}

// newEximChain starts one with the pieces of configs/exim, of which the router and the transport are named by a prefix.
// Settings, which are TOML's top level, come before those of the pieces.
func newEximChain(t *testing.T, prefix, settings string) *eximChain {
	t.Helper()
	c := &eximChain{cell: lab.NewCell(t, "exim4-daemon-light"), sink: lab.StartSink(t, lab.SinkConfig{})}
	p := newPorts(t)
	c.addr = p.addr("25")
	c.spamsim = c.cell.StartSpamsim(settings + p.piece(t, "exim/spamsim.toml"))
	c.cell.Write("/etc/exim4/exim4.conf", fmt.Sprintf(eximConf, p.piece(t, "exim/main"), p.piece(t, "exim/acl"),
		p.piece(t, "exim/"+prefix+"router"), p.piece(t, "exim/"+prefix+"transport"), port(c.sink.Addr)))
	for _, dir := range []string{"/var/spool/exim4", "/var/log/exim4"} {
		c.cell.Folder(dir, lab.CellExim, 0o750)
	}
	c.cell.Start("exim", c.exim("-bdf"), []string{c.addr, p.addr("10026")},
		"/var/log/exim4/panic")
	return c
}

// exim is Exim's program with its configuration.
func (c *eximChain) exim(args ...string) *exec.Cmd { return c.cell.Command("/usr/sbin/exim4", args...) }

// send sends a message and waits for the n-th at the sink: judging is in the order of delivery, not of sending.
func (c *eximChain) send(t *testing.T, m demo.Mail, n int) string {
	t.Helper()
	if reply := lab.Send(t, c.addr, m.From, []string{m.To}, m.Raw); reply[0] != '2' {
		t.Fatalf("%s: %s", m.Subject, reply)
	}
	return string(bytes.ReplaceAll(c.sink.Wait(t, n)[n-1].Content, []byte("\r\n"), []byte("\n")))
}

// TestExim: six near-copies among other mail, sent to Debian's Exim, which hands mail on as configs/exim has it, over LMTP
// or through "spamsim check". The fifth and the sixth come out tagged as bulk, nothing else does; and nothing is turned
// away, though the settings say so: Exim would bounce it.
func TestExim(t *testing.T) {
	for _, prefix := range []string{"", "check-"} {
		t.Run("exim/"+prefix+"router", func(t *testing.T) {
			t.Parallel()
			c := newEximChain(t, prefix, "mode = \"enforce\"\nactions.bulk = \"tempfail\"\n")
			stream, _ := campaign(6, 3)
			sixCopies(t, stream, func(n int, m demo.Mail) string { return c.send(t, m, n) })
		})
	}
}

// TestEximRefuses: a recipient that Exim does not know is refused at once, and so is one of another domain: the way
// through spamsim opens nothing. A message to two goes on as one, once.
func TestEximRefuses(t *testing.T) {
	for _, prefix := range []string{"", "check-"} {
		t.Run("exim/"+prefix+"router", func(t *testing.T) {
			t.Parallel()
			c := newEximChain(t, prefix, "")
			s := lab.Dial(t, c.addr)
			s.Must("EHLO client.lab.test", "MAIL FROM:<a@lab.test>")
			for _, rcpt := range []string{"nobody@site.example", "b@elsewhere.test"} {
				if reply := s.Do("RCPT TO:<" + rcpt + ">"); !strings.HasPrefix(reply, "550") {
					t.Errorf("%s: %s", rcpt, reply)
				}
			}
			s.Must("RCPT TO:<b@site.example>", "RCPT TO:<c@site.example>", "DATA")
			body := "8-bit \xe9\r\n.dot\r\nFrom here\r\n" + strings.Repeat("long ", 1000) + "\r\n"
			s.Content([]byte("Subject: x\r\n\r\n" + body))
			m := c.sink.Wait(t, 1)[0]
			if len(m.To) != 2 || !strings.HasPrefix(m.From, "MAIL FROM:<a@lab.test>") || !strings.HasSuffix(string(m.Content), "\r\n\r\n"+body) {
				t.Errorf("delivered %q %q %q", m.From, m.To, m.Content)
			}
		})
	}
}

// TestEximWaits: with the daemon down, or the program gone, mail waits in Exim's queue, and is delivered once, tagged, when
// it is back.
func TestEximWaits(t *testing.T) {
	for _, prefix := range []string{"", "check-"} {
		t.Run("exim/"+prefix+"router", func(t *testing.T) {
			t.Parallel()
			c := newEximChain(t, prefix, "")
			const program = "/usr/bin/spamsim"
			c.spamsim.Stop()
			c.cell.Rename(program, program+".gone")
			m := demo.Stream(7)[0]
			if reply := lab.Send(t, c.addr, m.From, []string{m.To}, m.Raw); reply[0] != '2' {
				t.Fatal(reply)
			}
			lab.Eventually(t, "Exim puts the message off", func() bool {
				return strings.Contains(c.cell.Read("/var/log/exim4/main"), " == "+m.To+" ")
			})
			c.cell.Rename(program+".gone", program)
			c.spamsim.Start()
			c.cell.Run(t, c.exim("-qff"))
			mails := [][]byte{bytes.ReplaceAll(c.sink.Wait(t, 1)[0].Content, []byte("\r\n"), []byte("\n"))}
			if got := verdicts(t, mails)[messageID(m)]; got == "" || strings.HasPrefix(got, "error") {
				t.Errorf("delivered %q", mails)
			}
			if n := len(c.sink.Mails()); n != 1 {
				t.Errorf("delivered %d times", n)
			}
		})
	}
}
