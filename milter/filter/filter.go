// Package filter turns evidence into verdicts and verdicts into header fields.
package filter

import (
	"context"

	"spamsim/parse"
	"spamsim/store"
)

// Config is the policy.
type Config struct {
	ID        string  // id= of the header: this host's name
	Threshold float64 // sigma, default 3
	BulkCount int     // distinct copies, default 5
	Limits    parse.Limits
}

// A Filter judges messages against one store.
type Filter struct{}

// New returns a filter over an open store.
func New(s *store.Store, c Config) *Filter { return &Filter{} }

// Check judges a message and counts it. It is a CheckFunc.
func (f *Filter) Check(ctx context.Context, env *Envelope, raw []byte) Judgement { return Judgement{} }

// Peek judges a message and leaves no trace of it.
func (f *Filter) Peek(ctx context.Context, env *Envelope, raw []byte) Judgement { return Judgement{} }

// Outcome says what became of a message that was to be learnt or forgotten.
type Outcome struct {
	Done    bool
	Reason  string // stable word where not done: "known", "short", "unreadable", "unknown"
	Cluster string
}

// Train learns a message as known spam or known good; it is on disk once Store.Sync returns.
func (f *Filter) Train(env *Envelope, raw []byte, l Label) (Outcome, error) { return Outcome{}, nil }

// Forget takes a message's contribution back.
func (f *Filter) Forget(env *Envelope, raw []byte) (Outcome, error) { return Outcome{}, nil }

// Apply returns the message with the judgement's fields on top and the stripped ones gone; nothing else is touched.
func Apply(raw []byte, j Judgement) []byte { return raw }
