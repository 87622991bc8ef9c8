package main

import (
	"net/netip"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/milter/filter"
)

// policy is what the configuration says of judging.
func policy(c *config.Loaded) filter.Config {
	p := filter.Config{ID: c.ID, Threshold: c.Bulk.Threshold, BulkCount: c.Bulk.Count, DKIMHosts: c.DKIMHosts, HideSubjects: !c.Store.Subjects}
	for _, e := range c.Exempt {
		rule := filter.Rule{Name: e.Name, ListID: e.ListID, Sender: e.Sender, Recipient: e.Recipient, DKIMDomain: e.DKIMDomain}
		if e.Network != nil {
			rule.Network = e.Network.Prefix
		}
		p.Rules = append(p.Rules, rule)
	}
	return p
}

// prefixes are the networks as the other packages take them.
func prefixes(list []config.Network) []netip.Prefix {
	out := make([]netip.Prefix, len(list))
	for i, n := range list {
		out[i] = n.Prefix
	}
	return out
}
