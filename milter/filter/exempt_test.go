package filter

import (
	"net/netip"
	"testing"

	"spamsim/parse"
)

func TestRules(t *testing.T) {
	env := &Envelope{ClientAddr: "192.0.2.7", Sender: "News@Example.com", Recipients: []string{"a@example.net", "b@example.net"}}
	const signed = "Authentication-Results: mx.example.net (1); spf=fail; dkim=pass header.d=example.com\r\n"
	const forged = "Authentication-Results: elsewhere; dkim=pass header.d=example.com\r\n"
	for name, c := range map[string]struct {
		rule   Rule
		header string
		want   bool
	}{
		"list":                {Rule{ListID: "news.example.com"}, "List-Id: News <NEWS.example.com>\r\n", true},
		"other list":          {Rule{ListID: "news.example.com"}, "List-Id: <x.news.example.com>\r\n", false},
		"network":             {Rule{Network: netip.MustParsePrefix("192.0.2.0/24")}, "", true},
		"other network":       {Rule{Network: netip.MustParsePrefix("198.51.100.0/24")}, "", false},
		"sender":              {Rule{Sender: "news@example.com"}, "", true},
		"sender's domain":     {Rule{Sender: "@EXAMPLE.com"}, "", true},
		"part of a domain":    {Rule{Sender: "@ample.com"}, "", false},
		"all recipients":      {Rule{Recipient: "@example.net"}, "", true},
		"one of two":          {Rule{Recipient: "a@example.net"}, "", false},
		"signed":              {Rule{DKIMDomain: "example.com"}, signed, true},
		"signed by another":   {Rule{DKIMDomain: "example.org"}, signed, false},
		"said by a stranger":  {Rule{DKIMDomain: "example.com"}, forged, false},
		"below a stranger's":  {Rule{DKIMDomain: "example.com"}, forged + signed, false},
		"failed":              {Rule{DKIMDomain: "example.com"}, "Authentication-Results: mx.example.net; dkim=fail header.d=example.com\r\n", false},
		"nothing to match by": {Rule{}, signed, false},
	} {
		c.rule.Name = "it"
		f := New(nil, Config{Rules: []Rule{c.rule}, DKIMHosts: []string{"mx.example.net"}})
		m := parse.Parse([]byte(c.header+"\r\nbody\r\n"), parse.Limits{})
		if got := f.rules.match(env, m) == "it"; got != c.want {
			t.Errorf("%s: %v", name, got)
		}
		if hits := f.Hits()["it"]; hits != map[bool]int64{true: 1}[c.want] {
			t.Errorf("%s: %d hits", name, hits)
		}
	}
}
