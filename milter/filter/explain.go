package filter

import (
	"errors"
	"fmt"
	"strings"

	"spamsim/parse"
	"spamsim/store"
)

// An Explanation is everything that went into a verdict.
type Explanation struct {
	Verdict   Verdict
	Threshold float64  // sigma
	BulkCount int      // copies
	Rules     []string // the exempt rules that the message meets, by name, in their order: the first holds

	Sender     string // as judged
	Network    string // "" where unknown
	Recipients int

	Text     string // as hashed: the author's own words, folded; the first ExplainText octets
	Words    int    // that the text has; a CJK bigram is one
	Script   string // "latin", "cjk", "other"
	Nilsimsa string // codes of the text in hex
	SimHash  string
	Apart    Apart

	Store store.Explanation
}

// Apart is how much of a message's text was set apart, in octets. Where nothing else is left it is judged all the same.
type Apart struct{ Quote, Signature, Footer, Hidden int }

// ExplainText is how much of a text an explanation quotes, in octets.
const ExplainText = 2000

// ErrExplain is the failure of an explanation.
var ErrExplain = errors.New("the message could not be judged")

// Explain judges a message as Peek does and says why. It counts nothing, not even the hits of rules.
func (f *Filter) Explain(env *Envelope, raw []byte) (e Explanation, err error) {
	defer func() {
		if p := recover(); p != nil {
			e, err = Explanation{}, fmt.Errorf("%w: panic", ErrExplain)
		}
	}()
	r := f.Read(env, raw)
	if r.failed {
		return Explanation{}, fmt.Errorf("%w: panic", ErrExplain)
	}
	e = Explanation{
		Threshold: f.config.Threshold, BulkCount: f.config.BulkCount, Rules: f.rules.all(env, r.message),
		Sender: r.x.Sender, Network: r.x.Network, Recipients: len(r.x.Recipients),
		Text: strings.ToValidUTF8(r.trace.Text[:min(len(r.trace.Text), ExplainText)], ""), Words: r.trace.Tokens,
		Script: r.trace.Script.String(), Nilsimsa: r.trace.Nilsimsa.String(), SimHash: fmt.Sprintf("%016x", r.trace.SimHash),
		Apart: apart(r.message), Store: f.store.Explain(r.trace, r.x, f.config.Threshold),
	}
	rule := ""
	if len(e.Rules) > 0 {
		rule = e.Rules[0]
	}
	e.Verdict = decide(&e.Store.Evidence, rule, &f.config)
	return e, nil
}

// all returns the names of the rules that a message meets, of its own users' mail "outbound" last. It counts no hits.
func (r *rules) all(env *Envelope, m *parse.Message) []string {
	var out []string
	for i := range r.list {
		if r.meets(&r.list[i], env, m) {
			out = append(out, r.list[i].Name)
		}
	}
	if env.Authenticated {
		out = append(out, outbound)
	}
	return out
}

func apart(m *parse.Message) Apart {
	a := Apart{Hidden: len(m.Hidden)}
	for _, b := range m.Blocks {
		switch b.Kind {
		case parse.Quote, parse.Head:
			a.Quote += len(b.Text)
		case parse.Signature:
			a.Signature += len(b.Text)
		case parse.Footer:
			a.Footer += len(b.Text)
		}
	}
	return a
}
