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

// A judging stands between the doors and the filter: it writes the log line of each message and counts it.
type judging struct {
	filter *filter.Filter
	log    *slog.Logger
	began  time.Time

	mu     sync.Mutex
	counts map[tally]int64
}

// A tally is what messages are counted by.
type tally struct{ door, verdict, reason string }

// check judges a message; it is the doors' CheckFunc.
func (j *judging) check(ctx context.Context, env *filter.Envelope, raw []byte) filter.Judgement {
	begun := time.Now()
	out := j.filter.Check(ctx, env, raw)
	j.note(env, &out.Verdict, source.MessageID(raw), len(raw), time.Since(begun))
	return out
}

// pass is the doors' word for a message that is not judged.
func (j *judging) pass(env *filter.Envelope, kind filter.Kind, reason string) filter.Judgement {
	out := pass(nil, kind, reason)
	j.note(env, &out.Verdict, "", 0, 0)
	return out
}

// note writes the one line of a message, never with its subject or text, and counts it. The keys and their order are
// fixed.
func (j *judging) note(env *filter.Envelope, v *filter.Verdict, id string, octets int, took time.Duration) {
	verdict := kindWord(v.Kind)
	j.log.LogAttrs(context.Background(), slog.LevelInfo, "message",
		slog.String("door", env.Door), slog.String("verdict", verdict), slog.String("reason", v.Reason),
		slog.Float64("sigma", round(v.Sigma)), slog.String("cluster", v.Cluster), slog.Int("copies", v.Copies),
		slog.String("queue_id", env.QueueID), slog.String("message_id", id), slog.String("client", env.ClientAddr),
		slog.String("sender", env.Sender), slog.Int("recipients", len(env.Recipients)), slog.Int("octets", octets),
		slog.Float64("ms", round(float64(took)/float64(time.Millisecond))))
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.counts == nil {
		j.counts = map[tally]int64{}
	}
	j.counts[tally{env.Door, verdict, v.Reason}]++
}

// round keeps two digits after the point: more is noise in a log.
func round(x float64) float64 { return float64(int64(x*100+0.5)) / 100 }

// stats adds the daemon's counters.
func (j *judging) stats(s control.Stats) control.Stats {
	j.mu.Lock()
	defer j.mu.Unlock()
	s.Since = j.began
	for t, n := range j.counts {
		s.Messages = append(s.Messages, control.VerdictStat{Door: t.door, Verdict: t.verdict, Reason: t.reason, N: n})
	}
	slices.SortFunc(s.Messages, func(a, b control.VerdictStat) int {
		return cmp.Or(cmp.Compare(a.Door, b.Door), cmp.Compare(b.N, a.N), cmp.Compare(a.Verdict, b.Verdict), cmp.Compare(a.Reason, b.Reason))
	})
	return s
}
