package control

import "spamsim/milter/filter"

// A Line is what check --json and POST /check say of a message.
type Line struct {
	Name       string   `json:"name"`
	Verdict    string   `json:"verdict"`
	Bulk       bool     `json:"bulk"`
	Reason     string   `json:"reason"`
	Would      string   `json:"would,omitempty"` // of an exempt one: the verdict without the exemption
	Sigma      *float64 `json:"sigma"`           // null: it was not judged
	Threshold  float64  `json:"threshold"`
	Nilsimsa   int      `json:"nilsimsa"`
	SimHash    int      `json:"simhash"`
	Cluster    *string  `json:"cluster"`
	Copies     int      `json:"copies"`
	Senders    int      `json:"senders"`
	Nets       int      `json:"nets"`
	Recipients int      `json:"recipients"`
	Label      string   `json:"label"`
}

// NewLine says a verdict on a message of that name.
func NewLine(name string, v filter.Verdict) Line {
	l := Line{
		Name: name, Verdict: v.Kind.String(), Bulk: v.Kind == filter.Bulk, Reason: v.Reason, Threshold: v.Threshold,
		Nilsimsa: v.Nilsimsa, SimHash: v.SimHash, Copies: v.Copies, Senders: v.Senders.N, Nets: v.Nets.N,
		Recipients: v.Recipients.N, Label: v.Label.String(),
	}
	if v.Kind == filter.Exempt {
		l.Would = v.Would.String()
	}
	if v.Judged {
		l.Sigma = &v.Sigma
	}
	if v.Cluster != "" {
		l.Cluster = &v.Cluster
	}
	return l
}
