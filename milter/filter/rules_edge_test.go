package filter

import (
	"net/netip"
	"strings"
	"testing"

	"spamsim/parse"
)

func TestRuleEdges(t *testing.T) {
	list := Rule{Name: "r", ListID: "news.example.org"}
	net := Rule{Name: "r", Network: netip.MustParsePrefix("192.0.2.0/24")}
	net6 := Rule{Name: "r", Network: netip.MustParsePrefix("2001:db8::/32")}
	sender, domain := Rule{Name: "r", Sender: "News@Example.org"}, Rule{Name: "r", Sender: "@example.org"}
	rcpt := Rule{Name: "r", Recipient: "@example.net"}
	dkim := Rule{Name: "r", DKIMDomain: "example.org"}
	from := func(addr string) *Envelope { return &Envelope{Sender: addr} }
	at := func(addr string) *Envelope { return &Envelope{ClientAddr: addr} }
	to := func(addrs ...string) *Envelope { return &Envelope{Recipients: addrs} }
	const pass = "Authentication-Results: mx.example.net; spf=none; dkim=pass header.d=example.org header.s=k\n"
	for _, c := range []struct {
		name   string
		rule   Rule
		env    *Envelope
		header string
		want   bool
	}{
		{"list", list, at(""), "List-Id: News <NEWS.example.org>\n", true},
		{"list, folded", list, at(""), "list-id: News\n\t<news.example.org>\n", true},
		{"list, only in its name", list, at(""), "List-Id: news.example.org <other.example>\n", false},
		{"list, brackets in its name", list, at(""), "List-Id: \"News <of> us\"\n <news.example.org>\n", true},
		{"list, no brackets", list, at(""), "List-Id: news.example.org\n", true},
		{"no list", list, at(""), "", false},
		{"network", net, at("192.0.2.9"), "", true},
		{"network, mapped", net, at("::ffff:192.0.2.9"), "", true},
		{"network, another", net, at("192.0.3.9"), "", false},
		{"network unknown", net, at(""), "", false},
		{"network 6", net6, at("2001:db8::1"), "", true},
		{"sender", sender, from("news@example.ORG"), "", true},
		{"sender, another", sender, from("olds@example.org"), "", false},
		{"sender's domain", domain, from("x@EXAMPLE.org"), "", true},
		{"sender's domain, below", domain, from("x@a.example.org"), "", false},
		{"sender's domain, its end", domain, from("x@badexample.org"), "", false},
		{"null sender", domain, from(""), "", false},
		{"recipients", rcpt, to("a@example.net", "b@example.net"), "", true},
		{"one recipient not", rcpt, to("a@example.net", "b@example.com"), "", false},
		{"no recipients", rcpt, to(), "", false},
		{"dkim", dkim, at(""), pass, true},
		{"dkim, second field", dkim, at(""), "Authentication-Results: mx.example.net 1; spf=pass\n" + pass, true},
		{"dkim, another domain", dkim, at(""), strings.Replace(pass, "d=example", "d=sub.example", 1), false},
		{"dkim failed", dkim, at(""), strings.Replace(pass, "dkim=pass", "dkim=fail", 1), false},
		{"dkim failed, spf passed", dkim, at(""), "Authentication-Results: mx.example.net; spf=pass; dkim=fail header.d=example.org\n", false},
		{"dkim, by a stranger", dkim, at(""), strings.Replace(pass, "mx.", "mx.evil.", 1), false},
		{"dkim, forged below a stranger", dkim, at(""), "Authentication-Results: evil.example; none\n" + pass, false},
		{"no results", dkim, at(""), "", false},
		{"the zero rule", Rule{Name: "r"}, from(""), pass, false},
	} {
		m := parse.Parse([]byte(c.header+"\nbody\n"), parse.Limits{})
		r := New(nil, Config{Rules: []Rule{c.rule}, DKIMHosts: []string{"mx.example.net"}}).rules
		if got := r.match(c.env, m); (got == "r") != c.want {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

func TestFirstRuleHolds(t *testing.T) {
	f := New(nil, Config{Rules: []Rule{{Name: "a", Sender: "x@example.org"}, {Name: "b", Sender: "@example.org"}}})
	m := parse.Parse(nil, parse.Limits{})
	for addr, want := range map[string]string{"x@example.org": "a", "y@example.org": "b", "z@example.com": ""} {
		if got := f.rules.match(&Envelope{Sender: addr}, m); got != want {
			t.Errorf("%s: %q, want %q", addr, got, want)
		}
	}
	if hits := f.Hits(); hits["a"] != 1 || hits["b"] != 1 || len(hits) != 2 {
		t.Errorf("hits %v", hits)
	}
}
