package doctor

import (
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"spamsim/cmd/spamsim/internal/config"
)

// abortTime is how long the proxy goes on after a client's final dot (smtpproxy.Timeouts, Answer and Abort): an MTA that
// gives up before may send again what was delivered.
const abortTime = 80 * time.Second

// postfix looks for the ways in which Postfix and spamsim miss each other.
func (f *findings) postfix(s *Site) {
	p, c := s.Postfix, s.Config
	proxies := append(append([]config.Address(nil), c.SMTP.Listen...), c.SMTP.LMTPListen...)
	ours := 0
	for i := range p.services {
		v := &p.services[i]
		if v.command != "smtpd" {
			continue
		}
		leg := "postfix " + v.name
		milters, proxy := p.value(v, "smtpd_milters"), p.value(v, "smtpd_proxy_filter")
		if milters != "" && proxy != "" {
			f.add(leg, Danger, "smtpd_milters %s beside smtpd_proxy_filter %s: a milter sees no message there, only the envelope", milters, proxy)
		}
		if p.names(proxy, proxies) {
			ours++
			f.beforeQueue(leg, s, v)
		}
		if p.names(p.value(v, "content_filter"), proxies) {
			ours++
			f.afterQueue(leg, s, p.value(v, "content_filter"))
		}
		if p.names(milters, c.Milter.Listen) {
			ours++
			f.asMilter(leg, s)
		}
		if network, addr, _ := hopAddress(c.SMTP.NextHop); network == "tcp" && same(v.name, config.Address{Network: "tcp", Addr: addr}) {
			f.reinjection(leg, s, v, proxies)
		}
	}
	if ours == 0 {
		f.add("postfix", Lost, "no listener of Postfix hands mail to spamsim; the lines to add stand below")
	}
}

// beforeQueue looks at a listener whose filter is the proxy.
func (f *findings) beforeQueue(leg string, s *Site, v *service) {
	p, c := s.Postfix, s.Config
	f.add(leg, Good, "filters before the queue, by smtpd_proxy_filter")
	if t, ok := postfixTime(p.value(v, "smtpd_proxy_timeout")); ok && t <= abortTime {
		f.add(leg, Danger, "smtpd_proxy_timeout is %s: below spamsim's %s a slow message is delivered and then sent again. Set it to 100s",
			t, abortTime)
	}
	if strings.Contains(p.value(v, "smtpd_proxy_options"), "speed_adjust") {
		f.add(leg, Lost, "smtpd_proxy_options has speed_adjust: one refused recipient refuses the message for all")
	}
	limit := v.limit
	if limit == "-" {
		limit = p.main["default_process_limit"]
	}
	if n, err := strconv.Atoi(limit); err == nil && (n == 0 || n > c.SMTP.Connections) {
		f.add(leg, Danger, "%s processes, but smtp.connections is %d: beyond it clients hear 451 at RCPT", limit, c.SMTP.Connections)
	}
}

// afterQueue looks at the transport of a filter behind the queue.
func (f *findings) afterQueue(leg string, s *Site, filter string) {
	f.add(leg, Good, "filters behind the queue, by content_filter")
	transport, _, _ := strings.Cut(filter, ":")
	for i := range s.Postfix.services {
		v := &s.Postfix.services[i]
		if v.name == transport && v.kind == "unix" && s.Postfix.value(v, "smtp_send_xforward_command") != "yes" {
			f.add(leg, Lost, "transport %s has no smtp_send_xforward_command=yes: copies are counted as from one network, this host's", transport)
		}
	}
	if s.Config.Mode == "enforce" && (turnsAway(s.Config.Actions.Bulk) || turnsAway(s.Config.Actions.Spam)) {
		f.add(leg, Lost, "behind the queue nothing is turned away, since that makes bounces to forged senders: tempfail and reject become tag")
	}
}

func turnsAway(action string) bool { return action == "tempfail" || action == "reject" }

// asMilter looks at a listener whose milter is ours.
func (f *findings) asMilter(leg string, s *Site) {
	f.add(leg, Good, "filters by smtpd_milters")
	if action := s.Postfix.main["milter_default_action"]; action != "accept" {
		f.add(leg, Lost, "milter_default_action is %s: without spamsim no mail is taken. Set it to accept to let mail pass then", action)
	}
}

// reinjection looks at the listener that the proxy hands mail to.
func (f *findings) reinjection(leg string, s *Site, v *service, proxies []config.Address) {
	p := s.Postfix
	for _, name := range []string{"content_filter", "smtpd_proxy_filter"} {
		if p.names(p.value(v, name), proxies) {
			f.add(leg, Danger, "is the next hop, and its %s is spamsim: mail goes round for ever. Add -o %s=", name, name)
		}
	}
	again := !strings.Contains(p.value(v, "receive_override_options"), "no_milters")
	if again && p.names(p.value(v, "smtpd_milters"), s.Config.Milter.Listen) {
		f.add(leg, Danger, "is the next hop, and its milter is spamsim too: each message is counted as two copies. "+
			"Add no_milters to its receive_override_options")
	}
	if p.value(v, "smtpd_authorized_xforward_hosts") == "" {
		f.add(leg, Lost, "is the next hop, and smtpd_authorized_xforward_hosts is empty: add -o smtpd_authorized_xforward_hosts=127.0.0.0/8")
	}
}

// names tells whether one of the addresses is among those of a parameter: "host:port", "inet:host:port", "unix:path",
// "transport:[host]:port".
func (p *Postfix) names(value string, list []config.Address) bool {
	for word := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' }) {
		for _, a := range list {
			if path, ok := strings.CutPrefix(word, "unix:"); ok {
				if a.Network == "unix" && (path == a.Addr || filepath.Join(p.main["queue_directory"], path) == a.Addr) {
					return true
				}
				continue
			}
			if same(word, a) {
				return true
			}
		}
	}
	return false
}

// same tells whether Postfix's word for an address of TCP is where a is found: the port is the same, and the host too, or
// both are this one.
func same(word string, a config.Address) bool {
	host, port, err := net.SplitHostPort(a.Addr)
	if a.Network != "tcp" || err != nil {
		return false
	}
	theirs, theirPort := "", word
	if i := strings.LastIndexByte(word, ':'); i >= 0 {
		theirs, theirPort = word[:i], word[i+1:]
	}
	if i := strings.LastIndexByte(theirs, ':'); i >= 0 && !strings.HasSuffix(theirs, "]") {
		theirs = theirs[i+1:] // "inet:", or a transport's name
	}
	if i := strings.IndexByte(theirs, '['); i >= 0 {
		theirs = strings.TrimSuffix(theirs[i+1:], "]")
	}
	return theirPort == port && (theirs == host || here(theirs) && here(host))
}

// here tells whether a host is this one, or all its addresses.
func here(host string) bool {
	ip := net.ParseIP(host)
	return host == "" || host == "localhost" || ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// postfixTime reads a time of Postfix's: a number with s, m, h, d or w behind it, s where there is none.
func postfixTime(s string) (time.Duration, bool) {
	units := map[byte]time.Duration{'s': time.Second, 'm': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour, 'w': 7 * 24 * time.Hour}
	unit := time.Second
	if s != "" && units[s[len(s)-1]] != 0 {
		unit, s = units[s[len(s)-1]], s[:len(s)-1]
	}
	n, err := strconv.Atoi(s)
	return time.Duration(n) * unit, err == nil
}
