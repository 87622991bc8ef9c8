package smtpproxy

import (
	"bytes"
	"time"

	"spamsim/milter/filter"
)

// What clients that are not trusted must send amid content, octets a second: one that sends an octet a minute would keep
// a connection and memory for ever.
const (
	minRate  = 100 // once Timeouts.Data is over; modems sent ten times as much
	busyRate = 500 // once MaxConns are open and Timeouts.Busy is over, as Postfix asks for under stress (smtpd_min_data_rate)
)

// deadline is until when the next octets of content must come, after so many more came. What comes fast pays ahead, for another
// Timeouts.Data at most.
func (in *incoming) deadline(now time.Time, came int) time.Time {
	wait := in.server.cfg.Timeouts.Data
	if in.session.client.trusted {
		return now.Add(wait)
	}
	in.paid = in.paid.Add(time.Duration(came) * time.Second / minRate)
	if most := now.Add(wait); in.paid.After(most) {
		in.paid = most
	}
	return now.Add(wait - max(0, now.Sub(in.paid)))
}

// receive reads content to its end: held in memory, or passed on once it is too large to be judged, or for nothing
// once it is sure to be refused. false is a client that went away or fell silent, or is to make room.
func (in *incoming) receive() bool {
	c, n, done := in.session.client, 0, false
	defer c.resume()
	now, took := time.Now(), time.Duration(0)
	in.paid = now
	for !done {
		in.paid = in.paid.Add(took)
		if !c.awaitContent(now, n, took, in.deadline(now, n)) {
			return false
		}
		if _, err := c.r.Peek(1); err != nil {
			return false
		}
		src, _ := c.r.Peek(c.r.Buffered())
		c.passOn()
		came := time.Now()
		n, done = in.take(src)
		_, _ = c.r.Discard(n)
		now = time.Now()
		took = now.Sub(came)
	}
	return true
}

// take decodes what has come.
func (in *incoming) take(src []byte) (n int, done bool) {
	grown := len(src) + in.dec.crs + bytes.Count(src, []byte("\n")) // each bare LF becomes two octets
	if in.msg == nil {
		in.scratch, n, done = in.dec.decode(in.scratch[:0], src)
		in.size += int64(len(in.scratch))
	} else if !in.msg.room(grown) {
		in.server.counters.noMemory.Add(1)
		in.refuse(replyNoMemory)
		return in.take(src)
	} else {
		in.msg.raw, n, done = in.dec.decode(in.msg.raw, src)
		in.size = int64(len(in.msg.raw))
	}
	in.limits(done)
	if in.stream {
		in.forward()
	}
	return n, done
}

// limits decides what the content so far, or all of it where it is done, is too large for.
func (in *incoming) limits(done bool) {
	cfg := &in.server.cfg
	switch {
	case in.refusal != "":
	case in.dec.bareLF > 0 && cfg.BareLF == RejectBareLF:
		in.refuse(replyBareLF)
	case cfg.MaxMessage > 0 && in.size > cfg.MaxMessage:
		in.server.counters.tooLarge.Add(1)
		in.refuse(replyTooLarge)
	case in.msg == nil || len(in.msg.raw) <= cfg.MaxJudged:
	case done || !in.inHeader():
		in.skip()
	case len(in.msg.raw) > 2*cfg.MaxJudged:
		in.server.counters.tooLarge.Add(1)
		in.refuse(replyTooLarge)
	}
}

// inHeader tells whether the header goes on behind what is held: a forged field may yet come, and one may be cut in two here.
func (in *incoming) inHeader() bool {
	raw := in.msg.raw
	from := max(0, in.searched-len("\r\n\r"))
	in.searched = len(raw)
	return filter.HasHeader(raw) && !bytes.Contains(raw[from:], []byte("\r\n\r\n"))
}

// refuse reads on for nothing.
func (in *incoming) refuse(r reply) {
	in.refusal, in.stream = r, false
	if in.judged.Verdict.Kind == filter.Clean { // which nobody has found
		in.judged.Verdict = filter.Verdict{Kind: filter.Skipped, Reason: "refused"}
	}
	in.free()
	in.out.drop()
}

// skip sends what is held on its way, unjudged.
func (in *incoming) skip() {
	in.server.counters.skipped.Add(1)
	in.judged = in.server.pass(in.env, filter.Skipped, "size")
	if r := in.begin(in.server.base, in.msg.raw); r != "" {
		in.refuse(r)
		return
	}
	in.stream = true
	in.free()
	in.scratch = in.scratch[:0]
}

// forward passes on what was decoded last.
func (in *incoming) forward() {
	if _, err := in.out.Write(in.scratch); err != nil {
		in.refuse(in.hopLost(in.server.base, "content", err))
	}
	in.scratch = in.scratch[:0]
}
