package milter

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"spamsim/milter/filter"
)

// actionWords name the actions in the log.
var actionWords = map[filter.Action]string{
	filter.Tag: "tag", filter.Quarantine: "quarantine", filter.Reject: "reject", filter.TempFail: "tempfail",
	filter.Redirect: "redirect",
}

// report writes the message's one line in the log, and warns of what the MTA does not let us do.
func (s *session) report(env *filter.Envelope, j filter.Judgement, took time.Duration) {
	s.server.count(func(n *Stats) { n.Messages++ })
	s.server.log().LogAttrs(context.Background(), slog.LevelInfo, "message",
		slog.String("door", env.Door),
		slog.String("client", env.ClientAddr),
		slog.String("sender", env.Sender),
		slog.Int("recipients", s.message.said),
		slog.Int("size", s.message.octets()),
		slog.Any("verdict", j.Verdict.Kind),
		slog.String("reason", j.Verdict.Reason),
		slog.String("cluster", j.Verdict.Cluster),
		slog.String("id", env.QueueID),
		slog.String("message_id", cmp.Or(s.message.id, filter.MessageID(s.message.raw))),
		slog.Duration("took", took),
		slog.String("action", actionWords[j.Action]),
	)
	if why := s.contract.short(j); why != "" {
		s.server.log().Warn("the MTA does not let us "+why, "door", env.Door, "id", env.QueueID)
	}
}

// short says what of a judgement an MTA that granted little does not let happen, "" where all does.
func (c contract) short(j filter.Judgement) string {
	switch {
	case j.Action == filter.Reject || j.Action == filter.TempFail:
		return "" // always allowed
	case len(j.Add) > 0 && !c.may(mayAddHeaders):
		return "add fields"
	case len(j.Strip) > 0 && !c.may(mayChangeHeaders):
		return "delete forged fields"
	case j.Subject != "" && !c.may(mayChangeHeaders):
		return "change the Subject"
	case j.Action == filter.Quarantine && !c.may(mayQuarantine):
		return "quarantine"
	}
	return ""
}
