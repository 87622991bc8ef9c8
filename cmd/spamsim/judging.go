package main

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/console"
	"spamsim/cmd/spamsim/internal/control"
	"spamsim/cmd/spamsim/internal/source"
	"spamsim/milter/filter"
)

// A judging stands between the doors and the filter: it counts each message by its verdict. The line of the log that each
// message has is the door's, which knows what became of it; what was measured is told at level debug.
type judging struct {
	id     string // of this host
	log    *slog.Logger
	began  time.Time
	clock  *clock
	timed  func(door string, took time.Duration)
	recent *console.Recent        // nil where nobody watches
	rules  atomic.Pointer[ruling] // a message is judged by those that hold when its judging begins
	gate   gate                   // before the store
	next   *control.Client        // the successor, who has the store now; nil where there is none; changes while the gate is shut

	mu      sync.Mutex
	counts  map[tally]int64
	would   *observing       // nil: the actions are carried out
	before  *filter.Filter   // that of the rules before: some messages may still be judged by it
	earlier map[string]int64 // hits of the exempt rules of the filters before that
	gone    bool             // the store is let go
	left    map[string]int64 // since then, by door: messages whose judging failed
	handed  int64            // and those that the successor judged
}

// A ruling is what a reload replaces.
type ruling struct {
	filter *filter.Filter
	acts   actions
	compat bool // write the compatibility fields
}

// newJudging judges by a configuration.
func newJudging(conf *config.Loaded, f *filter.Filter, timed func(string, time.Duration), c *clock, log *slog.Logger) *judging {
	j := &judging{id: conf.ID, log: log, began: time.Now(), clock: c, timed: timed, counts: map[tally]int64{}, earlier: map[string]int64{}, left: map[string]int64{}, would: observed(conf)}
	j.rules.Store(&ruling{f, configuredActions(conf), conf.CompatibilityFields})
	return j
}

// adopt judges by another configuration from now on. What enforcing would have done is counted anew where it is another thing.
func (j *judging) adopt(conf *config.Loaded, f *filter.Filter) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.before != nil {
		addHits(j.earlier, j.before)
	}
	j.before = j.rules.Load().filter
	j.rules.Store(&ruling{f, configuredActions(conf), conf.CompatibilityFields})
	if would := observed(conf); would == nil || j.would == nil || would.acts != j.would.acts {
		j.would = would
	}
}

// addHits adds how often the exempt rules of a filter matched.
func addHits(to map[string]int64, f *filter.Filter) {
	for rule, n := range f.Hits() {
		to[rule] += n
	}
}

// hits are those of all rules since the start; j.mu is held.
func (j *judging) hits() map[string]int64 {
	out := maps.Clone(j.earlier)
	if j.before != nil {
		addHits(out, j.before)
	}
	addHits(out, j.rules.Load().filter)
	return out
}

// A tally is what messages are counted by.
type tally struct{ door, verdict, reason string }

// check judges a message and counts it in the store; it is the doors' CheckFunc.
func (j *judging) check(ctx context.Context, env *filter.Envelope, raw []byte) filter.Judgement {
	return j.ask(ctx, env, raw, true)
}

// peek judges a message that the store is not to count.
func (j *judging) peek(ctx context.Context, env *filter.Envelope, raw []byte) filter.Judgement {
	return j.ask(ctx, env, raw, false)
}

// ask has a message judged by whoever has the store. While nobody has it, it waits.
func (j *judging) ask(ctx context.Context, env *filter.Envelope, raw []byte, count bool) filter.Judgement {
	if j.gate.enter(ctx) != nil {
		return filter.Judgement{} // the door waits no more: what it does now is told by pass
	}
	defer j.gate.leave()
	if j.next != nil {
		return j.refer(ctx, env, raw, count)
	}
	env.Time = j.clock.now()
	begun, rules := time.Now(), j.rules.Load()
	judge := rules.filter.Peek
	if count {
		judge = rules.filter.Check
	}
	out := judge(ctx, env, raw)
	if ctx.Err() != nil {
		return out
	}
	took := time.Since(begun)
	j.timed(env.Door, took)
	j.note(env, &out.Verdict, raw, took)
	return j.fields(rules.acts.carriedOut(env, out), rules)
}

// fields adds the fields that the configuration asks for.
func (j *judging) fields(out filter.Judgement, rules *ruling) filter.Judgement {
	if rules.compat {
		return out.WithCompatibility(j.id)
	}
	return out
}

// pass is the doors' word for a message that is not judged.
func (j *judging) pass(env *filter.Envelope, kind filter.Kind, reason string) filter.Judgement {
	out := filter.Pass(j.id, kind, reason)
	rules := j.rules.Load()
	if kind == filter.Error {
		j.failed(env.Door)
	}
	j.note(env, &out.Verdict, nil, 0)
	out.Action, out.Reply = rules.acts.unjudged(env, kind, reason)
	return j.fields(out, rules)
}

// failed counts a message that a daemon without a store lets pass.
func (j *judging) failed(door string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.gone {
		j.left[door]++
	}
}

// note counts a message, and tells what was measured of it: never its subject or text. Raw is nil where it was not judged.
func (j *judging) note(env *filter.Envelope, v *filter.Verdict, raw []byte, took time.Duration) {
	verdict, id := v.Kind.String(), ""
	if raw != nil {
		id = source.ReadHeader(raw).MessageID()
	}
	j.recent.Note(console.Judged{Envelope: env, Verdict: v, MessageID: id, Raw: raw})
	j.log.LogAttrs(context.Background(), slog.LevelDebug, "judged",
		slog.String("door", env.Door), slog.String("id", env.QueueID), slog.String("message_id", id),
		slog.String("verdict", verdict), slog.String("reason", v.Reason), slog.Float64("sigma", round(v.Sigma)),
		slog.String("cluster", v.Cluster), slog.Int("copies", v.Copies), slog.Int("octets", len(raw)), slog.Duration("took", took))
	j.mu.Lock()
	defer j.mu.Unlock()
	j.counts[tally{env.Door, verdict, v.Reason}]++
	j.would.count(env, v)
}

// round keeps two digits after the point: more is noise in a log.
func round(x float64) float64 { return float64(int64(x*100+0.5)) / 100 }

// stats adds the daemon's counters.
func (j *judging) stats(s control.Stats) control.Stats {
	j.mu.Lock()
	defer j.mu.Unlock()
	s.Since, s.Would = &j.began, j.would.stat()
	for t, n := range j.counts {
		s.Messages = append(s.Messages, control.VerdictStat{Door: t.door, Verdict: t.verdict, Reason: t.reason, N: n})
	}
	for rule, n := range j.hits() {
		s.Exempt = append(s.Exempt, control.RuleStat{Rule: rule, N: n})
	}
	slices.SortFunc(s.Exempt, func(a, b control.RuleStat) int { return cmp.Compare(a.Rule, b.Rule) })
	slices.SortFunc(s.Messages, func(a, b control.VerdictStat) int {
		return cmp.Or(cmp.Compare(a.Door, b.Door), cmp.Compare(b.N, a.N), cmp.Compare(a.Verdict, b.Verdict), cmp.Compare(a.Reason, b.Reason))
	})
	return s
}
