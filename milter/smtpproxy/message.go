package smtpproxy

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"time"

	"spamsim/milter/filter"
)

// An incoming is a message between the 354 and the answer to its final dot.
type incoming struct {
	*transaction
	server   *Server
	env      *filter.Envelope
	msg      *held // nil once it streams, or is only read to be refused
	dec      decoder
	id       string // the Message-ID of what was held
	scratch  []byte // of content that is not held
	size     int64  // octets of content so far
	searched int    // octets of msg in which the header does not end
	stream   bool   // content goes on as it comes
	refusal  reply  // content is read for nothing: the answer that it will get
	judged   filter.Judgement
	notKept  error     // what went wrong with the quarantine
	paid     time.Time // until when what came is enough
	started  time.Time // of the client's final dot
	answers  []reply   // of the next hop to it
}

// message takes the content of a transaction and answers its end, or DATA where there is no room for it.
func (s *Server) message(t *transaction) {
	in := &incoming{transaction: t, server: s, msg: s.hold(t.session.client.network()), env: t.envelope()}
	if in.msg == nil {
		s.counters.noMemory.Add(1)
		t.session.noData(replyNoMemory)
		return
	}
	defer in.free()
	client := t.session.client
	client.answer(replyReady)
	if client.flush() != nil || !in.receive() {
		client.answer(in.gone())
		return
	}
	in.started = time.Now()
	answer := in.settle()
	in.log(answer)
	in.answer(answer)
}

// answer tells the client how it ended: an LMTP client for each recipient, by the next hop's own answer to it where there
// is one (RFC 2033 section 4.2). They are one text: whoever says 421 closes, but not before the others have heard that the next
// hop has their mail.
func (in *incoming) answer(r reply) {
	c := in.session.client
	if !in.server.cfg.LMTP {
		c.answer(r)
		return
	}
	var all strings.Builder
	for i := range in.accepted {
		if len(in.answers) == len(in.accepted) {
			r = in.answers[i]
		}
		c.last = c.last || r.code() == 421
		all.WriteString(string(r))
	}
	c.answer(reply(all.String()))
}

// free gives the message's memory back.
func (in *incoming) free() {
	if in.msg != nil {
		in.id = in.messageID()
		in.msg.release()
		in.msg = nil
	}
}

// gone is a client that went away amid its content.
func (in *incoming) gone() reply {
	in.server.counters.aborted.Add(1)
	in.session.client.last = true
	in.server.log.Debug("client gone amid content", "client", in.env.ClientAddr)
	return replySilent
}

// settle finds the answer to the final dot.
func (in *incoming) settle() reply {
	c := &in.server.counters
	if in.dec.bareLF > 0 {
		c.bareLF.Add(1)
	}
	if in.refusal != "" {
		return in.refusal
	}
	ctx, cancel := context.WithTimeout(in.server.base, in.server.cfg.Timeouts.Abort)
	defer cancel()
	if in.stream {
		return in.commit(ctx, context.AfterFunc(ctx, in.out.abort))
	}
	defer in.session.client.watch(cancel)()
	in.judged = in.server.judge(ctx, in.env, in.msg)
	return in.act(ctx)
}

// act does what the judgement says.
func (in *incoming) act(ctx context.Context) reply {
	c := &in.server.counters
	j := &in.judged
	switch {
	case ctx.Err() != nil:
		c.aborted.Add(1)
		return replyLate
	case j.Action == filter.Reject:
		c.rejected.Add(1)
		return chosen(j.Reply, '5', replyRejected)
	case j.Action == filter.TempFail:
		c.rejected.Add(1)
		return chosen(j.Reply, '4', replyTryAgain)
	case j.Action == filter.Quarantine && in.quarantine():
		c.quarantined.Add(1)
		return replyKept
	case time.Since(in.started) > in.server.cfg.Timeouts.Answer:
		c.aborted.Add(1)
		return replyLate
	}
	stop := context.AfterFunc(ctx, in.out.abort)
	defer stop()
	if r := in.begin(ctx, in.msg.raw); r != "" {
		return r
	}
	return in.commit(ctx, stop)
}

// chosen is the judgement's own reply where it is one of its class, else the usual one.
func chosen(text string, class byte, usual reply) reply {
	if !replyLine([]byte(text)) || text[0] != class || !printable(text) {
		return usual
	}
	return reply(text + "\r\n")
}

// quarantine hands the message to the quarantine; false delivers it.
func (in *incoming) quarantine() bool {
	keep := in.server.cfg.Quarantine
	if keep == nil {
		return false
	}
	in.notKept = guard(func() error { return keep(in.env, in.tagged(in.msg.raw)) })
	return in.notKept == nil
}

// tagged is a message with the judgement's fields, or as it was where putting them on goes wrong.
func (in *incoming) tagged(raw []byte) (out []byte) {
	out = raw
	err := guard(func() error {
		out = filter.Apply(raw, in.judged)
		return nil
	})
	if err != nil {
		in.server.counters.failed.Add(1)
		in.server.log.Error("tagging failed, the message passes", "door", in.server.door(), "err", err)
	}
	return out
}

// begin asks the next hop to take content and sends the first of it with the judgement's fields. The answer is "" where
// it goes well.
func (in *incoming) begin(ctx context.Context, raw []byte) reply {
	r, err := in.out.data()
	if err != nil {
		return in.hopLost(ctx, "DATA", err)
	}
	if r.code() != 354 {
		in.server.counters.refused.Add(1)
		return r
	}
	head, body := splitHead(raw)
	in.judged.Add = slices.Concat(in.judged.Add, in.out.trace(in.env))
	if _, err = in.out.Write(in.tagged(head)); err == nil {
		_, err = in.out.Write(body)
	}
	if err != nil {
		return in.hopLost(ctx, "content", err)
	}
	return ""
}

// splitHead parts a message behind the empty line that ends its header. Fields are added and removed before it, so the
// rest need not be copied.
func splitHead(raw []byte) (head, body []byte) {
	if bytes.HasPrefix(raw, []byte("\r\n")) {
		return raw[:2], raw[2:]
	}
	end := bytes.Index(raw, []byte("\r\n\r\n"))
	if end < 0 {
		return raw, nil
	}
	return raw[:end+4], raw[end+4:]
}

// commit ends the content at the next hop and returns its answer. If stop says no, the client is gone or the time is
// over, and the message is not ended.
func (in *incoming) commit(ctx context.Context, stop func() bool) reply {
	answers, err := in.out.commit(func() bool { return !in.session.client.missed(in.started) && stop() })
	if err != nil {
		return in.hopLost(ctx, "final dot", err)
	}
	in.answers = answers
	if slices.ContainsFunc(answers, reply.ok) {
		in.server.counters.delivered.Add(1)
	} else {
		in.server.counters.refused.Add(1)
	}
	return answers[0]
}

// hopLost answers for a next hop that broke off, or was broken off since the client is gone or the time is over.
func (in *incoming) hopLost(ctx context.Context, step string, err error) reply {
	if ctx.Err() != nil || errors.Is(err, errNotSure) {
		in.server.counters.aborted.Add(1)
		return replyLate
	}
	in.server.hopFailed(step, err)
	return replyNextHop
}

// log writes the one line of a message, and another one where it should be in the quarantine and is not.
func (in *incoming) log(answer reply) {
	if in.notKept != nil {
		in.server.log.Error("quarantine failed, the message was not kept", "door", in.server.door(), "id", in.env.QueueID,
			"message_id", in.messageID(), "reply", answer.line(), "err", in.notKept)
	}
	in.server.log.LogAttrs(context.Background(), slog.LevelInfo, "message",
		slog.String("door", in.server.door()),
		slog.String("client", in.env.ClientAddr),
		slog.String("sender", in.env.Sender),
		slog.Int("recipients", len(in.env.Recipients)),
		slog.Int64("size", in.size),
		slog.Any("verdict", in.judged.Verdict.Kind),
		slog.String("reason", in.judged.Verdict.Reason),
		slog.String("cluster", in.judged.Verdict.Cluster),
		slog.String("id", in.env.QueueID),
		slog.String("message_id", in.messageID()),
		slog.Duration("took", time.Since(in.started)),
		slog.String("reply", answer.line()),
	)
}

// messageID is the message's own, also where it is held no more.
func (in *incoming) messageID() string {
	if in.msg != nil {
		return filter.MessageID(in.msg.raw)
	}
	return in.id
}

// logRefusal writes the line of a connection or of a recipient that the proxy itself turned away: nobody else can say why.
func (s *Server) logRefusal(client netip.Addr, sender, recipient string, answer reply) {
	from := ""
	if client.IsValid() {
		from = client.String()
	}
	s.log.LogAttrs(context.Background(), slog.LevelInfo, "refused",
		slog.String("door", s.door()),
		slog.String("client", from),
		slog.String("sender", sender),
		slog.String("recipient", recipient),
		slog.String("reply", answer.line()),
	)
}
