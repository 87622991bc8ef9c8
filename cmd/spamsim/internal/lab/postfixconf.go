package lab

import (
	"fmt"
	"slices"
	"strings"
)

// A PostfixConfig says how a private Postfix stands to the filter and to the next hop. The zero value takes mail from
// loopback for any domain and delivers it into a maildir.
type PostfixConfig struct {
	Addr, Inject  string   // host:port of the two listeners; "" picks free ports
	NextHop       string   // host:port of the SMTP server that gets all mail; "" delivers to the maildir
	ProxyFilter   string   // smtpd_proxy_filter of the clients' listener
	ContentFilter string   // host:port of an after-queue filter
	Milters       []string // smtpd_milters of the clients' listener: "inet:127.0.0.1:port", "unix:/path"
	Main          []string // further lines of main.cf, "name = value"
	SMTPD         []string // further options of the clients' listener, "name=value"
	Master        []string // lines of master.cf; a listener that they define is not made otherwise
}

// main is main.cf. No DNS, no rate limits, nobody's files but its own.
func (c PostfixConfig) main(dir string) string {
	lines := []string{
		"compatibility_level = 3.6",
		"config_directory = " + dir + "/conf",
		"queue_directory = " + dir + "/queue",
		"data_directory = " + dir + "/data",
		"meta_directory = /etc/postfix",
		"maillog_file = " + dir + "/log",
		"maillog_file_prefixes = " + dir,
		"inet_interfaces = 127.0.0.1",
		"inet_protocols = ipv4",
		"myhostname = mx.lab.test",
		"mydestination =",
		"mynetworks = 127.0.0.0/8",
		"alias_maps =",
		"disable_dns_lookups = yes",
		"smtp_host_lookup = native",
		"smtpd_peername_lookup = no",
		"smtpd_client_event_limit_exceptions = static:all",
		"smtpd_recipient_restrictions = permit_mynetworks, reject",
		"smtpd_authorized_xforward_hosts = 127.0.0.0/8",
		"smtpd_authorized_xclient_hosts = 127.0.0.0/8",
		"smtputf8_enable = yes",
		"message_size_limit = 0",
		"mailbox_size_limit = 0",
		"virtual_mailbox_limit = 0",
	}
	if c.NextHop != "" {
		host, port, _ := strings.Cut(c.NextHop, ":")
		lines = append(lines, "default_transport = smtp:["+host+"]:"+port, "local_transport = $default_transport")
	} else {
		lines = append(lines,
			"virtual_mailbox_domains = static:all",
			"virtual_mailbox_base = "+dir+"/mail",
			"virtual_mailbox_maps = static:inbox/",
			"virtual_minimum_uid = 1",
			"virtual_uid_maps = static:65534",
			"virtual_gid_maps = static:65534",
		)
	}
	return strings.Join(override(lines, c.Main), "\n") + "\n"
}

// override puts lines behind others and drops those whose setting they have again. Postfix warns of each such setting, in
// every process: the warnings at its start fill the socket of postlogd, which waits for ever to warn itself there.
func override(lines, by []string) []string {
	named := func(line string) string { name, _, _ := strings.Cut(line, " ="); return name }
	kept := slices.DeleteFunc(lines, func(line string) bool {
		return slices.ContainsFunc(by, func(b string) bool { return named(b) == named(line) })
	})
	return append(kept, by...)
}

// services are the rest of master.cf: what delivers mail, none of it chrooted.
const services = `
postlog   unix-dgram n - n - 1 postlogd
pickup    unix n - n 60 1 pickup
cleanup   unix n - n - 0 cleanup
qmgr      unix n - n 300 1 qmgr
rewrite   unix - - n - - trivial-rewrite
bounce    unix - - n - 0 bounce
defer     unix - - n - 0 bounce
trace     unix - - n - 0 bounce
verify    unix - - n - 1 verify
proxymap  unix - - n - - proxymap
smtp      unix - - n - - smtp
relay     unix - - n - - smtp
lmtp      unix - - n - - lmtp
error     unix - - n - - error
retry     unix - - n - - error
discard   unix - - n - - discard
virtual   unix - n n - - virtual
anvil     unix - - n - 1 anvil
scache    unix - - n - 1 scache
`

// contentFilter is the delivery agent that hands mail to an after-queue filter.
const contentFilter = `filter unix - - n - 20 smtp
 -o smtp_send_xforward_command=yes
 -o smtp_generic_maps=
`

// master is master.cf: the clients' listener, the re-injection listener as Postfix's manual has it, and the services.
func (c PostfixConfig) master() string {
	var b strings.Builder
	listener := func(addr string, options ...string) {
		if slices.ContainsFunc(c.Master, func(l string) bool { return strings.HasPrefix(l, addr+" inet ") }) {
			return
		}
		fmt.Fprintf(&b, "%s inet n - n - - smtpd\n", addr)
		for _, o := range options {
			fmt.Fprintf(&b, " -o %s\n", o)
		}
	}
	clients := c.SMTPD
	if c.ProxyFilter != "" {
		clients = append(clients, "smtpd_proxy_filter="+c.ProxyFilter)
	}
	if c.ContentFilter != "" {
		host, port, _ := strings.Cut(c.ContentFilter, ":")
		clients = append(clients, "content_filter=filter:["+host+"]:"+port)
	}
	if len(c.Milters) > 0 {
		clients = append(clients, "smtpd_milters="+strings.Join(c.Milters, ","))
	}
	listener(c.Addr, clients...)
	listener(c.Inject,
		"content_filter=", "smtpd_proxy_filter=", "smtpd_milters=",
		"receive_override_options=no_unknown_recipient_checks,no_header_body_checks,no_milters",
		"smtpd_client_restrictions=", "smtpd_helo_restrictions=", "smtpd_sender_restrictions=",
		"smtpd_relay_restrictions=", "smtpd_recipient_restrictions=permit_mynetworks,reject",
	)
	for _, line := range c.Master {
		b.WriteString(line + "\n")
	}
	b.WriteString(contentFilter)
	b.WriteString(services)
	return b.String()
}
