package doctor

import (
	"fmt"
	"net"
	"strings"

	"spamsim/cmd/spamsim/internal/config"
)

// An Advice is lines for a file of Postfix.
type Advice struct {
	Title string   `json:"title"` // which of several ways this is
	File  string   `json:"file"`  // "main.cf", "master.cf"
	Lines []string `json:"lines"`
}

// Advise returns what is to be added for this configuration: for the milter where there is one, and where the proxy's next
// hop is a Postfix on this host for the proxy before and behind the queue, or in front of all where it introduces clients.
func Advise(c *config.Loaded) []Advice {
	var out []Advice
	if len(c.Milter.Listen) > 0 {
		out = append(out, Advice{"as a milter", "main.cf", []string{
			"smtpd_milters = " + milterWord(c.Milter.Listen[0]), "milter_default_action = accept"}})
	}
	network, hop, lmtp := hopAddress(c.SMTP.NextHop)
	host, _, err := net.SplitHostPort(hop)
	if len(c.SMTP.Listen) == 0 || lmtp || network != "tcp" || err != nil || !here(host) || strings.HasPrefix(c.SMTP.NextHop, "maildir:") {
		return out
	}
	if introduces(c) {
		return append(out, Advice{"behind spamsim, which clients come to (Postfix's own rules about clients and recipients hold)", "master.cf", behind(c, hop)})
	}
	filter := c.SMTP.Listen[0]
	back := []string{"-o smtpd_authorized_xforward_hosts=127.0.0.0/8", "-o smtpd_client_restrictions=", "-o smtpd_helo_restrictions=",
		"-o smtpd_sender_restrictions=", "-o smtpd_relay_restrictions=", "-o smtpd_recipient_restrictions=permit_mynetworks,reject",
		"-o mynetworks=127.0.0.0/8", "-o smtpd_proxy_filter=", "-o content_filter=", "-o smtpd_milters="}
	entry := func(override string) []string {
		lines := []string{hop + " inet n - y - - smtpd"}
		for _, o := range append(back, "-o receive_override_options="+override) {
			lines = append(lines, "  "+o)
		}
		return lines
	}
	before := append([]string{fmt.Sprintf("smtp inet n - y - %d smtpd", min(c.SMTP.Connections, 100)),
		"  -o smtpd_proxy_filter=" + filterWord(filter), "  -o smtpd_milters="}, entry("no_unknown_recipient_checks,no_milters")...)
	out = append(out, Advice{"before the queue (a refusal reaches the sender; without spamsim no mail is taken)", "master.cf", before})
	if filter.Network != "tcp" {
		return out
	}
	after := append([]string{"spamsim unix - - n - 10 smtp", "  -o smtp_send_xforward_command=yes", "  -o smtp_generic_maps="},
		entry("no_unknown_recipient_checks,no_header_body_checks,no_milters")...)
	title := "or behind the queue (without spamsim mail waits)"
	_, port, _ := net.SplitHostPort(filter.Addr)
	return append(out, Advice{title, "main.cf", []string{"content_filter = spamsim:[127.0.0.1]:" + port}}, Advice{title, "master.cf", after})
}

// behind is a listener that hears of each client from spamsim. It keeps what main.cf says about clients.
func behind(c *config.Loaded, hop string) []string {
	told := "smtpd_authorized_xclient_hosts=127.0.0.0/8"
	if !c.SMTP.XCLIENT {
		told = "smtpd_upstream_proxy_protocol=haproxy"
	}
	lines := []string{hop + " inet n - y - - smtpd", "  -o " + told, "  -o smtpd_proxy_filter=", "  -o content_filter="}
	if len(c.Milter.Listen) > 0 { // of spamsim: each message would be two copies
		lines = append(lines, "  -o smtpd_milters=")
	}
	return lines
}

// milterWord is an address as smtpd_milters has it. A path below the queue directory is what Postfix sees from its chroot.
func milterWord(a config.Address) string {
	if a.Network == "unix" {
		return "unix:" + strings.TrimPrefix(a.Addr, "/var/spool/postfix/")
	}
	return "inet:" + reachable(a)
}

// filterWord is an address as smtpd_proxy_filter has it.
func filterWord(a config.Address) string {
	if a.Network == "unix" {
		return milterWord(a)
	}
	return reachable(a)
}
