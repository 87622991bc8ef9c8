package smtpproxy

import (
	"time"

	"spamsim/milter/filter"
)

// A transaction is one mail on its way, from MAIL to the answer to its final dot.
type transaction struct {
	session  *session
	out      delivery
	sender   string
	forward  xforward
	ahead    bool     // MAIL was answered here
	mailed   reply    // the next hop's answer to MAIL, "" until it was read
	rcpts    int      // RCPT commands passed on
	octets   int      // of these
	accepted []string // recipients that the next hop took
	lost     reply    // the next hop is gone: what every further command is answered
}

// mail answers MAIL, which is queued: later if the client has sent more already, ahead of the next hop if the client
// waits and the next hop pipelines, else by the next hop's own answer.
func (t *transaction) mail() error {
	c := t.session.client
	switch {
	case c.more():
		c.later(t.readMail)
	case t.out.features().pipelining:
		t.ahead = true
		c.answer(replyMailOk)
	default:
		r := t.readMail()
		c.answer(r)
		if !r.ok() {
			t.session.abandon()
			return errAnswered
		}
	}
	return nil
}

// readMail reads the next hop's answer to MAIL.
func (t *transaction) readMail() reply {
	t.mailed = t.read()
	return t.mailed
}

// read reads the next hop's answer to a command. Once the next hop is lost no more is read.
func (t *transaction) read() reply {
	if t.lost != "" {
		return t.lost
	}
	r, err := t.out.next()
	switch {
	case err != nil:
		t.session.server.hopFailed("envelope", err)
		t.lose(replyNextHop)
	case r.code() == 421:
		t.lose(r)
	case r[0] == '3':
		t.lose(replyNextHop)
	default:
		return r
	}
	return t.lost
}

// lose gives the next hop up.
func (t *transaction) lose(r reply) {
	t.lost = r
	t.out.drop()
}

// rcpt queues a recipient and answers it when the next hop has.
func (t *transaction) rcpt(addr string) {
	c := t.session.client
	if t.lost != "" {
		c.answer(t.lost)
		return
	}
	t.rcpts++
	t.octets += len(t.session.cmd.line)
	t.out.rcpt(t.session.cmd.line)
	c.later(func() reply { return t.readRcpt(addr) })
}

// readRcpt reads the next hop's answer to RCPT, and before the first one that to MAIL where it was answered ahead. A
// refusal of that MAIL is then what every recipient is answered.
func (t *transaction) readRcpt(addr string) reply {
	if t.ahead && t.mailed == "" {
		t.readMail()
	}
	r := t.read()
	if t.lost == "" && t.ahead && !t.mailed.ok() {
		return t.mailed
	}
	if r.ok() {
		t.accepted = append(t.accepted, addr)
	}
	return r
}

// hasRecipient tells whether the next hop took one.
func (t *transaction) hasRecipient() bool {
	t.session.client.resolveAll()
	return len(t.accepted) > 0
}

// void tells whether there is nothing to this transaction: the next hop refused MAIL, or is gone.
func (t *transaction) void() bool {
	return t.lost != "" || t.mailed != "" && !t.mailed.ok()
}

// envelope is what the filter is told.
func (t *transaction) envelope() *filter.Envelope {
	s := t.session
	env := &filter.Envelope{
		Helo: s.helo, Sender: t.sender, Recipients: t.accepted, Door: s.server.door(), Time: time.Now(),
		Authenticated: s.authenticated(),
	}
	if s.client.addr.IsValid() {
		env.ClientAddr = s.client.addr.String()
	}
	t.forward.describe(env)
	return env
}
