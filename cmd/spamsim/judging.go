package main

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/cmd/spamsim/internal/source"
	"spamsim/milter/filter"
)

// A judging stands between the doors and the filter: it counts each message by its verdict. The line of the log that each
// message has is the door's, which knows what became of it; what was measured is told at level debug.
type judging struct {
	id     string // of this host
	filter *filter.Filter
	acts   actions
	compat bool // write the compatibility fields
	log    *slog.Logger
	began  time.Time

	mu     sync.Mutex
	counts map[tally]int64
	would  *observing // nil: the actions are carried out
}

// A tally is what messages are counted by.
type tally struct{ door, verdict, reason string }

// check judges a message and counts it in the store; it is the doors' CheckFunc.
func (j *judging) check(ctx context.Context, env *filter.Envelope, raw []byte) filter.Judgement {
	return j.ask(ctx, env, raw, j.filter.Check)
}

// peek judges a message that the store is not to count.
func (j *judging) peek(ctx context.Context, env *filter.Envelope, raw []byte) filter.Judgement {
	return j.ask(ctx, env, raw, j.filter.Peek)
}

func (j *judging) ask(ctx context.Context, env *filter.Envelope, raw []byte, judge filter.CheckFunc) filter.Judgement {
	begun := time.Now()
	out := judge(ctx, env, raw)
	if ctx.Err() != nil { // the door waits no more: what it does now is told by pass
		return out
	}
	j.note(env, &out.Verdict, source.ReadHeader(raw).MessageID(), len(raw), time.Since(begun))
	out.Action, out.Reply = j.acts.of(env, &out.Verdict)
	return j.fields(out)
}

// fields adds the fields that the configuration asks for.
func (j *judging) fields(out filter.Judgement) filter.Judgement {
	if j.compat {
		return out.WithCompatibility(j.id)
	}
	return out
}

// pass is the doors' word for a message that is not judged.
func (j *judging) pass(env *filter.Envelope, kind filter.Kind, reason string) filter.Judgement {
	out := filter.Pass(j.id, kind, reason)
	j.note(env, &out.Verdict, "", 0, 0)
	return j.fields(out)
}

// note counts a message, and tells what was measured of it: never its subject or text.
func (j *judging) note(env *filter.Envelope, v *filter.Verdict, id string, octets int, took time.Duration) {
	verdict := v.Kind.String()
	j.log.LogAttrs(context.Background(), slog.LevelDebug, "judged",
		slog.String("door", env.Door), slog.String("id", env.QueueID), slog.String("message_id", id),
		slog.String("verdict", verdict), slog.String("reason", v.Reason), slog.Float64("sigma", round(v.Sigma)),
		slog.String("cluster", v.Cluster), slog.Int("copies", v.Copies), slog.Int("octets", octets), slog.Duration("took", took))
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.counts == nil {
		j.counts = map[tally]int64{}
	}
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
	for rule, n := range j.filter.Hits() {
		s.Exempt = append(s.Exempt, control.RuleStat{Rule: rule, N: n})
	}
	slices.SortFunc(s.Exempt, func(a, b control.RuleStat) int { return cmp.Compare(a.Rule, b.Rule) })
	slices.SortFunc(s.Messages, func(a, b control.VerdictStat) int {
		return cmp.Or(cmp.Compare(a.Door, b.Door), cmp.Compare(b.N, a.N), cmp.Compare(a.Verdict, b.Verdict), cmp.Compare(a.Reason, b.Reason))
	})
	return s
}
