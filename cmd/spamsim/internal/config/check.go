package config

import (
	"cmp"
	"fmt"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// check finds every value that is out of its range and says where it stands.
func check(c *Config, file string, places map[string]place) error {
	k := &checker{file: file, places: places}
	k.top(c)
	k.smtp(c)
	k.numbers(c)
	for i := range c.Exempt {
		k.exempt(c, i)
	}
	return k.err()
}

// A checker collects flaws.
type checker struct {
	file   string
	places map[string]place
	flaws  []flaw
}

// want notes a flaw of the setting at path unless ok.
func (k *checker) want(ok bool, path, format string, args ...any) {
	if ok {
		return
	}
	at, here := k.places[path]
	if !here { // the flaw lies in what is missing: point at the rule or the section
		at = k.places[path[:max(0, strings.LastIndexByte(path, '.'))]]
	}
	k.flaws = append(k.flaws, flaw{at: at, path: path, text: unnumbered(path) + " " + fmt.Sprintf(format, args...)})
}

func (k *checker) err() error {
	if len(k.flaws) == 0 {
		return nil
	}
	slices.SortStableFunc(k.flaws, func(a, b flaw) int { // some are found in the order of a map
		return cmp.Or(cmp.Compare(a.at.line, b.at.line), cmp.Compare(a.at.column, b.at.column), cmp.Compare(a.path, b.path))
	})
	out := &Errors{File: k.file}
	for _, f := range k.flaws {
		out.add(f)
	}
	return out
}

// oneOf notes a flaw unless value is among the words.
func (k *checker) oneOf(path, value string, words ...string) {
	k.want(slices.Contains(words, value), path, "is %q: write %s", value, strings.Join(quoteAll(words), " or "))
}

func quoteAll(words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = fmt.Sprintf("%q", w)
	}
	return out
}

func (k *checker) top(c *Config) {
	k.want(c.ID == "" || validID(c.ID), "id", "is %q: write up to 64 letters, digits, dots, hyphens or underscores", c.ID)
	k.oneOf("mode", c.Mode, "observe", "enforce")
	k.actions(c)
	k.oneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
	k.oneOf("log.format", c.Log.Format, "text", "json")
	k.oneOf("limits.overload", c.Limits.Overload, "pass", "tempfail")
	k.oneOf("smtp.bare_lf", c.SMTP.BareLF, "normalize", "reject")
	k.want(c.StateDir == "" || strings.HasPrefix(c.StateDir, "/"), "state_dir", "is %q: write a path from the root", c.StateDir)
}

// actions checks what is done with mail. To reject needs somebody's word that it is spam: bulk alone may be a newsletter.
func (k *checker) actions(c *Config) {
	if c.Actions.Bulk == "reject" {
		k.want(false, "actions.bulk", "is \"reject\": bulk mail that nobody has labelled may be a newsletter that people want, and what is "+
			"rejected is lost to them. Write \"tag\", \"quarantine\", \"redirect\" or \"tempfail\" here, and actions.spam = \"reject\" for "+
			"campaigns that \"spamsim train --spam\" has labelled")
	} else {
		k.oneOf("actions.bulk", c.Actions.Bulk, "tag", "quarantine", "redirect", "tempfail")
	}
	k.oneOf("actions.spam", c.Actions.Spam, "tag", "quarantine", "redirect", "tempfail", "reject")
	for path, v := range map[string]string{"actions.bulk_subject": c.Actions.BulkSubject, "actions.spam_subject": c.Actions.SpamSubject} {
		k.want(v == "" || subject.MatchString(v) && !strings.Contains(v, "=?"), path,
			"is %q: write up to 32 printable letters and signs of ASCII without blanks at the ends, such as \"[bulk]\"", v)
	}
	for path, v := range map[string]string{"actions.bulk": c.Actions.Bulk, "actions.spam": c.Actions.Spam} {
		k.want(v != "redirect" || c.Actions.RedirectTo != "", path, "is \"redirect\" and needs actions.redirect_to: the address that such mail goes to")
	}
	k.want(c.Actions.RedirectTo == "" || address.MatchString(c.Actions.RedirectTo), "actions.redirect_to", "is %q: write an address, such as \"spam@example.com\"", c.Actions.RedirectTo)
}

// subject is a prefix of a Subject. With "=?" it would be taken for the beginning of an encoded word (RFC 2047).
var subject = regexp.MustCompile(`^[!-~]([ -~]{0,30}[!-~])?$`)

// address is one that needs no quotes, in ASCII.
var address = regexp.MustCompile(`^[A-Za-z0-9.!#$%&'*+/=?^_{|}~-]+@([A-Za-z0-9-]+\.)*[A-Za-z0-9-]+$`)

var wordID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

var domain = regexp.MustCompile(`^\.?([A-Za-z0-9_-]+\.)*[A-Za-z0-9_-]+$`)

// validID tells whether a name may stand in the header as it is.
func validID(s string) bool { return wordID.MatchString(s) }

func (k *checker) smtp(c *Config) {
	k.want(validHop(c.SMTP.NextHop), "smtp.next_hop",
		"is %q: write \"smtp://host:port\", \"lmtp://host:port\", \"lmtp+unix:/path\" or \"maildir:/path\"", c.SMTP.NextHop)
	socket, unix := strings.CutPrefix(c.SMTP.NextHop, "lmtp+unix:")
	k.want(!unix || len(socket) <= longestSocket, "smtp.next_hop", "names a socket of more than %d octets, which nobody can", longestSocket)
	for _, d := range c.SMTP.RecipientDomains {
		k.want(domain.MatchString(d), "smtp.recipient_domains", "names %q: write \"example.com\" or \".example.com\"", d)
	}
	k.listeners(c)
	k.access(c)
	k.encryption(c)
	k.http(c)
	k.peers(c)
}

// peers checks what is shared with other nodes; whether the address is one, the daemon finds when it starts.
func (k *checker) peers(c *Config) {
	on := c.Peers.URL.Reveal() != ""
	scheme, _, _ := strings.Cut(c.Peers.URL.Reveal(), "://")
	k.want(!on || brokerScheme.MatchString(scheme), "peers.url", "is no address of a broker: write \"rediss://user:password@host:6379\", or with the "+
		"scheme redis, unix, or either of the first two with +cluster or +sentinel")
	k.want(!on || c.Peers.KeyFile != "", "peers.url", "needs peers.key_file: by whose key the nodes of a site know each other")
	for path, v := range map[string]string{"peers.key_file": c.Peers.KeyFile, "peers.ca": c.Peers.CA} {
		k.want(v == "" || strings.HasPrefix(v, "/"), path, "is %q: write a path from the root", v)
	}
	k.want(c.Peers.CA == "" || strings.HasPrefix(scheme, "rediss"), "peers.ca", "has no effect unless peers.url begins with rediss")
}

var brokerScheme = regexp.MustCompile(`^(unix|rediss?(\+cluster|\+sentinel)?)$`)

// shortestToken is in octets: what a guesser must not get through.
const shortestToken = 16

// token68 is what may stand behind "Bearer" (RFC 6750 section 2.1).
var token68 = regexp.MustCompile(`^[A-Za-z0-9._~+/-]+=*$`)

// http checks that nobody off this machine reads the counters without a token, nor the token on its way.
func (k *checker) http(c *Config) {
	token := c.HTTP.Token.Reveal()
	for _, a := range c.HTTP.Listen {
		k.want(token != "" || a.local(), "http.listen", "names %s, which is not of loopback: set http.token, which those who ask must bring", a)
		k.want(c.TLS.Certificate != "" || a.local(), "http.listen", "names %s, which is not of loopback: set tls.certificate and tls.key, lest the token be read on its way", a)
	}
	k.want(token == "" || len(token) >= shortestToken && token68.MatchString(token), "http.token",
		"is no token: write %d or more letters, digits and -._~+/, such as \"openssl rand -hex 20\" prints", shortestToken)
}

// longestSocket is how many octets the path of a Unix socket may have: sun_path has 108 on Linux, with a NUL at the end.
const longestSocket = 107

// listeners checks that no address is taken twice and none is the next hop.
func (k *checker) listeners(c *Config) {
	seen := map[Address]string{}
	for _, l := range []struct {
		path string
		list []Address
	}{{"smtp.listen", c.SMTP.Listen}, {"smtp.lmtp_listen", c.SMTP.LMTPListen}, {"milter.listen", c.Milter.Listen},
		{"dccifd.listen", c.Dccifd.Listen}, {"http.listen", c.HTTP.Listen}} {
		for _, a := range l.list {
			k.want(seen[a] == "" || strings.HasSuffix(a.Addr, ":0"), l.path, "names %s, which %s has already", a, seen[a])
			seen[a] = l.path
			k.want(a.Network != "unix" || len(a.Addr) <= longestSocket, l.path, "names %s: no client can name a socket of more than %d octets", a, longestSocket)
		}
	}
	for _, a := range slices.Concat(c.SMTP.Listen, c.SMTP.LMTPListen) {
		k.want(!loops(a, c.SMTP.NextHop), "smtp.next_hop", "is %s, where spamsim itself listens: mail would go round for ever", a)
	}
}

// The shortest prefixes of networks that are one site's: 10.0.0.0/8 and fc00::/7 are private, a shorter one is not.
const (
	widest4 = 8
	widest6 = 7
)

// access checks who is let in, so that no setting makes an open relay.
func (k *checker) access(c *Config) {
	for _, l := range []struct {
		path string
		list []Network
	}{{"smtp.trusted", c.SMTP.Trusted}, {"smtp.proxy_protocol", c.SMTP.ProxyProtocol}} {
		for _, n := range l.list {
			widest := widest6
			if n.Addr().Is4() {
				widest = widest4
			}
			k.want(n.Bits() >= widest, l.path, "names %s: so large a network is not the site's own, and who is in it could send anywhere", n)
		}
	}
	plain := !spoken(c.SMTP.NextHop)
	k.want(!c.SMTP.XCLIENT || !plain, "smtp.xclient", "is for a next hop that is a server: smtp://host:port or lmtp://host:port")
	k.want(slices.Contains([]string{"", "v1", "v2"}, c.SMTP.NextHopProxy), "smtp.next_hop_proxy", "is %q: write \"v1\" or \"v2\", or \"\" for none", c.SMTP.NextHopProxy)
	k.want(c.SMTP.NextHopProxy == "" || !plain, "smtp.next_hop_proxy", "is for a next hop that is a server: smtp://host:port or lmtp://host:port")
	k.want(c.SMTP.NextHopProxy == "" || !c.SMTP.XCLIENT, "smtp.next_hop_proxy", "and smtp.xclient are two ways to tell the same: write one of them")
	k.want(!c.SMTP.Auth || !plain, "smtp.auth", "is for a next hop that is a server: smtp://host:port or lmtp://host:port")
}

// spoken tells whether a next hop speaks SMTP or LMTP.
func spoken(hop string) bool { return !strings.HasPrefix(hop, "maildir:") }

// encryption checks the settings of TLS on both sides.
func (k *checker) encryption(c *Config) {
	k.oneOf("smtp.next_hop_tls", c.SMTP.NextHopTLS, "off", "require")
	demanded := c.SMTP.NextHopTLS == "require"
	k.want(!demanded || spoken(c.SMTP.NextHop), "smtp.next_hop_tls", "is for a next hop that is a server: smtp://host:port or lmtp://host:port")
	for path, v := range map[string]string{"smtp.next_hop_name": c.SMTP.NextHopName, "smtp.next_hop_ca": c.SMTP.NextHopCA} {
		k.want(v == "" || demanded, path, "has no effect unless next_hop_tls is \"require\"")
	}
	k.want(c.SMTP.NextHopName == "" || domain.MatchString(c.SMTP.NextHopName) && c.SMTP.NextHopName[0] != '.',
		"smtp.next_hop_name", "is %q: write a host's name, such as \"mx.example.com\"", c.SMTP.NextHopName)
	for path, v := range map[string]string{"smtp.next_hop_ca": c.SMTP.NextHopCA, "tls.certificate": c.TLS.Certificate, "tls.key": c.TLS.Key} {
		k.want(v == "" || strings.HasPrefix(v, "/"), path, "is %q: write a path from the root", v)
	}
	k.want(c.TLS.Certificate == "" || c.TLS.Key != "", "tls.certificate", "needs tls.key: the file of its key")
	k.want(c.TLS.Key == "" || c.TLS.Certificate != "", "tls.key", "needs tls.certificate: the file of its certificate")
}

// loops tells whether the next hop is the listener itself, as far as names alone can tell.
func loops(a Address, hop string) bool {
	if a.Network == "unix" {
		return strings.TrimPrefix(hop, "lmtp+") == a.String()
	}
	hopHost, hopPort, ok := serverOf(hop)
	if !ok {
		return false
	}
	host, port, _ := net.SplitHostPort(a.Addr)
	local := func(h string) bool { ip := net.ParseIP(h); return h == "localhost" || ip != nil && ip.IsLoopback() }
	any := func(h string) bool { ip := net.ParseIP(h); return h == "" || ip != nil && ip.IsUnspecified() }
	return port == hopPort && (host == hopHost || local(hopHost) && (local(host) || any(host)))
}

// validHop tells whether a next hop has one of the four forms.
func validHop(hop string) bool {
	if host, port, ok := serverOf(hop); ok {
		n, err := strconv.ParseUint(port, 10, 16)
		return host != "" && validHost(host) && err == nil && n > 0
	}
	scheme, path, _ := strings.Cut(hop, ":")
	slashes := len(path) - len(strings.TrimLeft(path, "/"))
	switch scheme {
	case "lmtp+unix": // behind two slashes a host would stand
		return slashes > 0 && slashes != 2 && slashes < len(path)
	case "maildir":
		return slashes < 2 && slashes < len(path)
	}
	return false
}

// serverOf returns the host and the port of a next hop that is reached by TCP; 25 and 24 go without saying.
func serverOf(hop string) (host, port string, ok bool) {
	scheme, rest, _ := strings.Cut(hop, "://")
	usual := map[string]string{"smtp": "25", "lmtp": "24"}[scheme]
	rest = strings.TrimRight(rest, "/")
	host, port, err := net.SplitHostPort(rest)
	if err != nil && !strings.Contains(rest, ":") {
		host, port = rest, usual
	}
	return host, port, usual != ""
}

// How few and how many copies bulk.count may ask for.
const (
	MinBulkCount = 2
	MaxBulkCount = 1_000_000
)

func (k *checker) numbers(c *Config) {
	between(k, "smtp.connections", c.SMTP.Connections, 1, 100_000)
	between(k, "smtp.connections_per_network", c.SMTP.PerNetwork, 1, 100_000)
	between(k, "bulk.count", c.Bulk.Count, MinBulkCount, MaxBulkCount)
	between(k, "limits.max_judged_size", c.Limits.MaxJudgedSize, 1<<10, 1<<30)
	if _, here := k.places["limits.memory"]; here {
		between(k, "limits.memory", c.Limits.Memory, c.Limits.MaxJudgedSize, 1<<40)
	} else {
		k.want(c.Limits.MaxJudgedSize <= c.Limits.Memory, "limits.max_judged_size", "is %v: set limits.memory, which is %v, to as much", c.Limits.MaxJudgedSize, c.Limits.Memory)
	}
	k.want(c.Bulk.Threshold >= 1 && c.Bulk.Threshold <= 8, "bulk.threshold", "is %v: write a number from 1 to 8", c.Bulk.Threshold)
	between(k, "store.clusters", c.Store.Clusters, 1000, 100_000_000)
	k.within("store.window", c.Store.Window, time.Hour, 366*day)
	k.within("limits.stop_time", c.Limits.StopTime, time.Second, 10*time.Minute)
}

// between notes a flaw unless lo <= v <= hi.
func between[T cmp.Ordered](k *checker, path string, v, lo, hi T) {
	k.want(v >= lo && v <= hi, path, "is %v: write %v to %v", v, lo, hi)
}

func (k *checker) within(path string, v Duration, lo, hi time.Duration) {
	k.want(v.Duration >= lo && v.Duration <= hi, path, "is %v: write %v to %v", v, Duration{lo}, Duration{hi})
}

// exempt checks rule i: a name of its own that may stand in the header, and one thing to match.
func (k *checker) exempt(c *Config, i int) {
	e, at := c.Exempt[i], "exempt["+itoa(i)+"]"
	k.want(validID(e.Name), at+".name", "is %q: write up to 64 letters, digits, dots, hyphens or underscores", e.Name)
	for _, other := range c.Exempt[:i] {
		k.want(e.Name != other.Name, at+".name", "is %q, as another rule's is", e.Name)
	}
	n := 0
	for _, set := range []bool{e.ListID != "", e.Network != nil, e.Sender != "", e.Recipient != "", e.DKIMDomain != ""} {
		if set {
			n++
		}
	}
	k.want(n == 1, at, "rule %q has %d conditions: write exactly one of list_id, network, sender, recipient, dkim_domain", e.Name, n)
	k.want(e.DKIMDomain == "" || len(c.DKIMHosts) > 0, at+".dkim_domain", "needs dkim_hosts: whose word it is that a signature is good")
	for path, v := range map[string]string{at + ".sender": e.Sender, at + ".recipient": e.Recipient} {
		k.want(v == "" || strings.Contains(v, "@"), path, "is %q: write an address, or \"@domain\" for all of a domain", v)
	}
}
