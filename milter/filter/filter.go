// Package filter turns evidence into verdicts and verdicts into header fields.
//
// Evidence comes from the store; decide makes a verdict of it; the front doors carry the verdict out.
package filter

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cespare/xxhash/v2"

	"spamsim/parse"
	"spamsim/store"
)

// Config is the policy.
type Config struct {
	ID        string  // id= of the header: this host's name
	Threshold float64 // sigma, default DefaultThreshold
	BulkCount int     // distinct copies, default DefaultBulkCount
	Limits    parse.Limits
	Rules     []Rule   // exempt rules, the first that matches holds
	DKIMHosts []string // authserv-ids whose Authentication-Results are believed

	HideSubjects bool // the store keeps none of what it counts or learns
}

// The defaults of Config.
const (
	DefaultThreshold = 3
	DefaultBulkCount = 5
)

// A Filter judges messages against one store. Its methods may be called from many goroutines.
type Filter struct {
	store  *store.Store
	config Config
	rules  rules

	outbound atomic.Int64 // messages of authenticated clients that met no rule
}

// New returns a filter over an open store.
func New(s *store.Store, c Config) *Filter {
	if c.Threshold == 0 {
		c.Threshold = DefaultThreshold
	}
	if c.BulkCount == 0 {
		c.BulkCount = DefaultBulkCount
	}
	return &Filter{store: s, config: c, rules: rules{list: c.Rules, hits: make([]atomic.Int64, len(c.Rules)), hosts: c.DKIMHosts}}
}

// Check judges a message and counts it in the store, unless it carries the seal of this site, which counted it already, or
// its client is authenticated: what this site's own users send is counted apart, by Hits. It is a CheckFunc.
func (f *Filter) Check(ctx context.Context, env *Envelope, raw []byte) Judgement {
	r := f.Read(env, raw)
	j, _ := f.CheckReading(r)
	if !r.failed {
		r.trace.Release()
	}
	return j
}

// Peek judges a message and leaves no trace of it.
func (f *Filter) Peek(ctx context.Context, env *Envelope, raw []byte) Judgement {
	j, _ := f.judge(f.Read(env, raw), false)
	return j
}

// A Reading is a message made ready to be judged: all that can be done without the store, so that a replay reads many at
// a time and judges them in order.
type Reading struct {
	env     *Envelope
	message *parse.Message
	trace   *store.Trace
	x       *store.Transaction
	failed  bool
}

// Read makes a message ready to be judged. The reading may share memory with raw, and holds env.
func (f *Filter) Read(env *Envelope, raw []byte) (r *Reading) {
	defer func() {
		if p := recover(); p != nil { // one message's panic is that message's affair
			r = &Reading{env: env, failed: true}
		}
	}()
	m := parse.Parse(raw, f.config.Limits)
	return &Reading{env: env, message: m, trace: f.trace(m), x: transaction(env, m, raw)}
}

// trace is what the store is shown of a message.
func (f *Filter) trace(m *parse.Message) *store.Trace {
	t := store.NewTrace(m)
	if f.config.HideSubjects {
		t.Sample = ""
	}
	return t
}

// CheckReading judges a message as Check does, and returns the evidence that the verdict was made of, empty where judging
// failed.
func (f *Filter) CheckReading(r *Reading) (Judgement, store.Evidence) {
	return f.judge(r, true)
}

func (f *Filter) judge(r *Reading, count bool) (j Judgement, ev store.Evidence) {
	defer func() {
		if p := recover(); p != nil {
			j, ev = Pass(f.config.ID, Error, "panic"), store.Evidence{}
		}
	}()
	if r.failed {
		return Pass(f.config.ID, Error, "panic"), ev
	}
	rule := f.rules.match(r.env, r.message)
	if rule == "" && r.env.Authenticated {
		rule = outbound
		f.outbound.Add(1)
	}
	counted := f.sealed(r)
	if count && !counted && !r.env.Authenticated { // what this site's own users send is no copy of what arrives
		ev = f.store.Count(r.trace, r.x)
		counted = ev.Abstain == ""
	} else {
		ev = f.store.Judge(r.trace, r.x)
	}
	v := decide(&ev, rule, &f.config)
	if counted {
		v.Seal = f.seal(r, v.Kind.String())
	}
	return v.judgement(f.config.ID), ev
}

// transaction is what the store is told of how a message came.
func transaction(env *Envelope, m *parse.Message, raw []byte) *store.Transaction {
	x := &store.Transaction{Sender: strings.ToLower(env.Sender), Network: network(env.ClientAddr), Time: env.Time}
	if x.Time.IsZero() {
		x.Time = time.Now()
	}
	if x.Sender == "" {
		x.Sender = m.From
	}
	for _, r := range env.Recipients {
		x.Recipients = append(x.Recipients, strings.ToLower(r))
	}
	x.Message = messageKey(x, m, raw)
	return x
}

// messageKey tells a message from every other but its own retry: its Message-ID and envelope, and where it has none
// (Postfix adds one only after a filter before the queue) its octets.
func messageKey(x *store.Transaction, m *parse.Message, raw []byte) string {
	id := m.MessageID
	if id == "" {
		id = fmt.Sprintf("%016x", xxhash.Sum64(raw))
	}
	return id + "\x00" + x.Sender + "\x00" + strings.Join(x.Recipients, "\x00")
}

// network is the part of an address that one sender holds: /24, or /48 of IPv6.
func network(addr string) string {
	a, err := netip.ParseAddr(addr)
	if err != nil {
		return ""
	}
	bits := 48
	if a = a.Unmap(); a.Is4() {
		bits = 24
	}
	p, _ := a.WithZone("").Prefix(bits)
	return p.String()
}

// Outcome says what became of a message that was to be learnt or forgotten.
type Outcome struct {
	Done    bool
	Reason  string // stable word where not done: "known", "short", "unreadable", "unknown"
	Cluster string
}

// Train learns a message as known spam or known good; it is on disk once Store.Sync returns.
func (f *Filter) Train(env *Envelope, raw []byte, l Label) (Outcome, error) {
	m := parse.Parse(raw, f.config.Limits)
	return Outcome(f.store.Train(f.trace(m), transaction(env, m, raw), l)), nil
}

// Forget takes a message's contribution back.
func (f *Filter) Forget(env *Envelope, raw []byte) (Outcome, error) {
	m := parse.Parse(raw, f.config.Limits)
	return Outcome(f.store.Forget(store.NewTrace(m), transaction(env, m, raw))), nil
}

// Hits returns how often each exempt rule matched, by its name, and once there was any how much mail of authenticated
// clients was exempt as "outbound".
func (f *Filter) Hits() map[string]int64 {
	out := make(map[string]int64, len(f.rules.list))
	for i := range f.rules.list {
		out[f.rules.list[i].Name] += f.rules.hits[i].Load()
	}
	if n := f.outbound.Load(); n > 0 {
		out[outbound] += n
	}
	return out
}
