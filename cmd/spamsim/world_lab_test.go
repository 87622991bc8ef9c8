package main_test

import (
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"spamsim/cmd/spamsim/internal/lab"
)

// ways are those by which a next hop hears of clients, with what a real Postfix needs for each.
var ways = []struct{ name, setting, option string }{
	{"XCLIENT", "xclient = true", "smtpd_authorized_xclient_hosts=127.0.0.1"},
	{"PROXY v1", "next_hop_proxy = \"v1\"", "smtpd_upstream_proxy_protocol=haproxy"},
	{"PROXY v2", "next_hop_proxy = \"v2\"", "smtpd_upstream_proxy_protocol=haproxy"},
}

// TestWorldInFrontOfPostfix: a proxy open to strangers before a real Postfix. Postfix trusts the proxy's address and yet
// refuses a stranger's foreign recipient, since it knows who sends; the site's own recipient gets the mail, and the log names
// the stranger. A peer that Postfix trusts may send anywhere, and whose address is not known (a Unix socket) is no stranger.
func TestWorldInFrontOfPostfix(t *testing.T) {
	lab.Need(t, "postfix")
	for _, way := range ways {
		t.Run(way.name, func(t *testing.T) {
			sink, addr, socket := lab.StartSink(t, lab.SinkConfig{}), lab.FreeAddr(t), filepath.Join(t.TempDir(), "s")
			postfix := lab.StartPostfix(t, lab.PostfixConfig{NextHop: sink.Addr, SMTPD: []string{way.option}, Main: []string{
				"mynetworks = 127.0.0.1/32",
				"relay_domains = site.test", "relay_transport = $default_transport",
				"smtpd_recipient_restrictions = permit_mynetworks, reject_unauth_destination", "smtpd_relay_restrictions ="}})
			lab.StartSpamsim(t, fmt.Sprintf("[smtp]\nlisten = [%q, \"unix:%s\"]\nnext_hop = \"smtp://%s\"\ntrusted = [\"192.0.2.0/24\"]\n%s\n",
				addr, socket, postfix.Addr, way.setting))
			stranger := lab.DialFrom(t, "127.0.0.2", addr)
			stranger.Must("EHLO stranger.test", "MAIL FROM:<a@stranger.test>", "RCPT TO:<b@site.test>")
			if reply := stranger.Do("RCPT TO:<c@foreign.test>"); !strings.HasPrefix(reply, "554 5.7.1 <c@foreign.test>: Relay access denied") {
				t.Errorf("a foreign recipient: %q", reply)
			}
			stranger.Must("DATA")
			if reply := stranger.Content([]byte("Subject: x\r\n\r\nx\r\n")); reply[0] != '2' {
				t.Error(reply)
			}
			postfix.WaitLog(t, `smtpd\[\d+\]: [0-9A-F]+: client=\S*\[127\.0\.0\.2\]`)
			friend := lab.DialFrom(t, "127.0.0.1", addr)
			friend.Must("EHLO friend.test", "MAIL FROM:<a@site.test>", "RCPT TO:<c@foreign.test>")
			if mails := sink.Wait(t, 1); len(mails) != 1 || !strings.Contains(string(mails[0].Content), "X-Spamsim: abstain") {
				t.Errorf("arrived %+v", mails)
			}
			if got := overSocket(t, socket); !strings.Contains(got, "\r\n250 2.1.5 Ok\r\n") {
				t.Errorf("over a Unix socket: %q", got)
			}
		})
	}
}

// overSocket asks for a recipient of the site over a Unix socket and returns all that is answered.
func overSocket(t *testing.T, path string) string {
	t.Helper()
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "EHLO x\r\nMAIL FROM:<a@site.test>\r\nRCPT TO:<b@site.test>\r\nQUIT\r\n")
	all, _ := io.ReadAll(conn)
	return string(all)
}
