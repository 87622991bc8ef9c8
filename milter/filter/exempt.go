package filter

import (
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"

	"spamsim/parse"
)

// A Rule lets bulk mail pass as exempt. Exactly one field beside Name is set. The zero rule matches nothing.
type Rule struct {
	Name       string       // stands in the header and the counters
	ListID     string       // the List-Id between its angle brackets (RFC 2919); a sender can write any
	Network    netip.Prefix // of the sending host
	Sender     string       // an envelope sender, or "@domain"
	Recipient  string       // an envelope recipient, or "@domain"
	DKIMDomain string       // a domain that has signed, by the word of a trusted host (RFC 8601)
}

// rules are those of the site, and how often each matched.
type rules struct {
	list  []Rule
	hits  []atomic.Int64
	hosts []string // authserv-ids that are believed
}

// outbound is the reason why mail of authenticated clients is exempt.
const outbound = "outbound"

// match returns the name of the first rule that the message meets, "" where it meets none.
func (r *rules) match(env *Envelope, m *parse.Message) string {
	for i := range r.list {
		if r.meets(&r.list[i], env, m) {
			r.hits[i].Add(1)
			return r.list[i].Name
		}
	}
	return ""
}

func (r *rules) meets(rule *Rule, env *Envelope, m *parse.Message) bool {
	switch {
	case rule.ListID != "":
		return strings.EqualFold(listID(m), rule.ListID)
	case rule.Network.IsValid():
		addr, err := netip.ParseAddr(env.ClientAddr)
		return err == nil && rule.Network.Contains(addr.Unmap())
	case rule.Sender != "":
		return addressMatches(rule.Sender, env.Sender)
	case rule.Recipient != "":
		for _, rcpt := range env.Recipients {
			if !addressMatches(rule.Recipient, rcpt) {
				return false // one verdict speaks for all recipients
			}
		}
		return len(env.Recipients) > 0
	case rule.DKIMDomain != "":
		return signedBy(m, r.hosts, rule.DKIMDomain)
	}
	return false
}

// addressMatches compares an address with a pattern, an address or "@domain".
func addressMatches(pattern, addr string) bool {
	if domain, ok := strings.CutPrefix(pattern, "@"); ok {
		i := strings.LastIndexByte(addr, '@')
		return i >= 0 && strings.EqualFold(addr[i+1:], domain)
	}
	return strings.EqualFold(pattern, addr)
}

// listID returns what stands between the angle brackets of the first List-Id, the last ones, since the words before them may hold
// some (RFC 2919, section 3); where there are none, all of it.
func listID(m *parse.Message) string {
	for _, f := range m.Fields {
		if strings.EqualFold(f.Name, "List-Id") {
			id, _, _ := strings.Cut(f.Value[strings.LastIndexByte(f.Value, '<')+1:], ">")
			return strings.TrimSpace(id)
		}
	}
	return ""
}

// signedBy says whether an Authentication-Results field of a trusted host says that a domain's signature passed. Only the
// fields above the first that is not of a trusted host count: a sender can write those below.
func signedBy(m *parse.Message, hosts []string, domain string) bool {
	for _, f := range m.Fields {
		if !strings.EqualFold(f.Name, "Authentication-Results") {
			continue
		}
		host, results := readResults(f.Value)
		if !listed(hosts, host) {
			return false
		}
		if slices.ContainsFunc(results, func(r result) bool { return r.passed(domain) }) {
			return true
		}
	}
	return false
}
