package filter

import "spamsim/store"

// decide turns evidence into a verdict. It is the only place that does: same evidence and rule, same verdict.
//
// A message is bulk where it resembles a cluster improbably well (sigma) and is at least the Config.BulkCount-th copy of
// it. Bulk and spam are two axes: a label changes nothing but that mail like known good mail is exempt.
func decide(ev *store.Evidence, rule string, c *Config) Verdict {
	if ev.Abstain != "" {
		return Verdict{Kind: Abstain, Reason: ev.Abstain}
	}
	v := Verdict{Judged: true, Sigma: ev.Sigma, Threshold: c.Threshold}
	near := ev.Member && ev.Sigma >= c.Threshold
	if ev.Member {
		v.Cluster, v.Copies, v.Label = ev.Cluster, ev.Copies, ev.Label
		v.Senders, v.Nets, v.Recipients = ev.Senders, ev.Nets, ev.Rcpts
		v.Nilsimsa, v.SimHash = ev.Nilsimsa, ev.SimHash
	}
	if near && ev.Copies >= c.BulkCount {
		v.Kind = Bulk
	}
	if near && ev.Label == store.Ham {
		rule = "ham"
	}
	if rule != "" {
		v.Would, v.Kind, v.Reason = v.Kind, Exempt, rule
		if ev.Label == store.Ham && near {
			v.Would = Bulk // one message of known good bulk mail stands for all
		}
	}
	return v
}
