package dccifd

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"spamsim/milter/door"
	"spamsim/milter/filter"
)

// verdict finds out what is to be said of the message. raw is nil where it was too large to be kept. The error is that of
// a server which is cut.
func (c *session) verdict(q *request, raw []byte, size int) (*filter.Verdict, error) {
	s := c.server
	q.env.Time = time.Now()
	if size > s.maxMessage() {
		s.count(func(n *Stats) { n.Skipped++ })
		return s.pass(&q.env, filter.Skipped, "size"), nil
	}
	ask := s.Peek
	if q.counts() {
		ask = s.Check
	}
	d := s.init()
	ctx, cancel := context.WithTimeout(d.Context(), s.judgeTimeout())
	defer cancel()
	answers := d.Ask(ctx, ask, &q.env, raw)
	var a door.Answer
	select {
	case a = <-answers: // which is none where the time is over, even if it came before that was noticed
	case <-ctx.Done():
		d.Leave(answers, &s.held, c.held)
		c.held = 0
	}
	switch {
	case ctx.Err() == nil && !a.Panicked:
		return &a.Verdict, nil
	case ctx.Err() == nil:
		return s.failed(&q.env, "panic"), nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return s.failed(&q.env, "timeout"), nil
	}
	return nil, ErrServerClosed
}

// failed is the verdict on a message on which judging itself failed.
func (s *Server) failed(env *filter.Envelope, reason string) *filter.Verdict {
	s.count(func(n *Stats) { n.Failed++ })
	s.log().Error("judging failed", "door", env.Door, "reason", reason)
	return s.pass(env, filter.Error, reason)
}

// pass is the verdict on a message that was not judged.
func (s *Server) pass(env *filter.Envelope, kind filter.Kind, reason string) *filter.Verdict {
	if s.Pass == nil {
		return &filter.Verdict{Kind: kind, Reason: reason}
	}
	j := s.Pass(env, kind, reason)
	return &j.Verdict
}

// report writes the message's one line in the log, with the keys that every door has.
func (s *Server) report(env *filter.Envelope, v *filter.Verdict, raw []byte, size int, took time.Duration) {
	s.count(func(n *Stats) { n.Messages++ })
	s.log().LogAttrs(context.Background(), slog.LevelInfo, "message",
		slog.String("door", env.Door),
		slog.String("client", env.ClientAddr),
		slog.String("sender", env.Sender),
		slog.Int("recipients", len(env.Recipients)),
		slog.Int("size", size),
		slog.Any("verdict", v.Kind),
		slog.String("reason", v.Reason),
		slog.String("cluster", v.Cluster),
		slog.String("id", env.QueueID),
		slog.String("message_id", filter.MessageID(raw)),
		slog.Duration("took", took),
		slog.String("action", "tag"),
	)
}
