package main

import (
	"time"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/milter/filter"
	"spamsim/store"
)

// An explainLine is what explain --json prints of a message: the keys of check, and these.
type explainLine struct {
	control.Line
	BulkCount   int            `json:"bulk_count"`
	Known       bool           `json:"known"` // counted before
	Change      []string       `json:"change"`
	Rules       []string       `json:"rules"` // that hold; the first counts
	Sender      string         `json:"sender"`
	Network     string         `json:"network"`
	Text        explainedText  `json:"text"`
	Held        int            `json:"held"`      // clusters
	CopyFrom    float64        `json:"copy_from"` // score
	Matches     []explainMatch `json:"matches"`   // best first
	First       *time.Time     `json:"first"`     // copy of the cluster spoken of
	Last        *time.Time     `json:"last"`
	Features    explainOverlap `json:"features"`
	Attachments explainOverlap `json:"attachments"`
	Core        int            `json:"core"`     // features of the cluster
	Constant    int            `json:"constant"` // of those, in nine of ten copies
	Telling     []explainHeavy `json:"telling"`
	Spans       []explainSpan  `json:"spans"`
	Left        int            `json:"left"` // words behind the spans
}

type explainedText struct {
	First     string `json:"first"` // as hashed
	Words     int    `json:"words"`
	Script    string `json:"script"`
	Nilsimsa  string `json:"nilsimsa"` // code in hex
	SimHash   string `json:"simhash"`
	Quote     int    `json:"quote"` // octets that were set apart
	Signature int    `json:"signature"`
	Footer    int    `json:"footer"`
	Hidden    int    `json:"hidden"`
}

type explainMatch struct {
	Cluster   string     `json:"cluster"`
	Subject   string     `json:"subject"`
	Copies    int        `json:"copies"` // without this message
	Label     string     `json:"label"`
	Shared    float64    `json:"shared"`     // nats
	InCluster float64    `json:"in_cluster"` // the shared part
	InMessage float64    `json:"in_message"`
	Score     float64    `json:"score"`
	Sigma     float64    `json:"sigma"`
	Takes     [3]float64 `json:"takes"`  // the scores that sigma 1, 2 and 3 take
	Needed    float64    `json:"needed"` // and the threshold
	Copy      bool       `json:"copy"`
	Spoken    bool       `json:"spoken"` // the verdict speaks of it
}

type explainOverlap struct {
	Message int `json:"message"` // looked up
	Shared  int `json:"shared"`
}

type explainHeavy struct {
	Text   string  `json:"text"`
	Weight float64 `json:"weight"` // nats
}

type explainSpan struct {
	Mark string `json:"mark"` // "shared", "differs", "unseen"
	Text string `json:"text"`
}

// newExplainLine is an explanation as JSON; no list is null.
func newExplainLine(name string, e *filter.Explanation) explainLine {
	st := &e.Store
	l := explainLine{
		Line: control.NewLine(name, e.Verdict), BulkCount: e.BulkCount, Known: st.Evidence.Known, Change: change(e),
		Rules: append([]string{}, e.Rules...), Sender: e.Sender, Network: e.Network,
		Text: explainedText{e.Text, e.Words, e.Script, e.Nilsimsa, e.SimHash, e.Apart.Quote, e.Apart.Signature, e.Apart.Footer, e.Apart.Hidden},
		Held: st.Held, CopyFrom: st.CopyFrom, Matches: []explainMatch{}, Features: overlapLine(st.Features), Attachments: overlapLine(st.Files),
		Core: st.Core, Constant: st.Constant, Telling: []explainHeavy{}, Spans: []explainSpan{}, Left: st.Left,
	}
	for i, m := range st.Matches {
		l.Matches = append(l.Matches, explainMatch{m.Cluster, m.Sample, m.Copies, m.Label.String(), m.Shared, m.InCore, m.InMessage,
			m.Score, m.Sigma, m.Chance, m.Needed, m.Copy, i == st.Spoken})
	}
	if st.Spoken >= 0 {
		first, last := st.Evidence.First.UTC(), st.Evidence.Last.UTC()
		l.First, l.Last = &first, &last
	}
	for _, s := range st.Telling {
		l.Telling = append(l.Telling, explainHeavy{s.Text, s.Weight})
	}
	for _, s := range st.Spans {
		l.Spans = append(l.Spans, explainSpan{s.Mark.String(), s.Text})
	}
	return l
}

func overlapLine(o store.Overlap) explainOverlap { return explainOverlap{o.Message, o.Shared} }
