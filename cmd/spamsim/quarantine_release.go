package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/textproto"
	"strings"
	"time"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/quarantine"
	"spamsim/milter/smtpproxy"
)

// releaseTime bounds one message's release: the next hop has ten minutes for its last answer (RFC 5321 section 4.5.3.2.6).
const releaseTime = 12 * time.Minute

// A refusal is a recipient for whom the next hop did not take a message.
type refusal struct {
	recipient string
	reply     *textproto.Error
}

type refusals []refusal

// err names each; where all are for now only, trying again may help.
func (r refusals) err() error {
	var errs []error
	temp := true
	for _, one := range r {
		errs = append(errs, fmt.Errorf("%s: %w", one.recipient, one.reply))
		temp = temp && one.reply.Code < 500
	}
	if temp {
		return tempError{errors.Join(errs...)}
	}
	return errors.Join(errs...)
}

// sendOn hands a message to the configured next hop and returns the recipients for whom it was not taken. An error is that
// nobody has it, as far as is known.
//
// It goes through a proxy of its own, which judges nothing: so every form of next hop is reached as serve reaches it. The
// proxy speaks LMTP, since that has an answer for each recipient.
func sendOn(ctx context.Context, conf *config.Loaded, env *quarantine.Envelope, raw []byte) (refusals, error) {
	demanded, err := hopTLS(conf.SMTP)
	if err != nil {
		return nil, err
	}
	proxy, err := smtpproxy.New(smtpproxy.Config{NextHop: conf.SMTP.NextHop, Hostname: conf.ID, NextHopTLS: demanded, LMTP: true,
		NextHopProxy: proxyVersion(conf.SMTP), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, err
	}
	defer proxy.Close()
	conn, theirs, err := connected() // peers on Unix sockets are trusted
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	// Where the proxy ends before it takes the connection nobody else does.
	defer theirs.Close()
	go func() { _ = proxy.Serve(&onlyOne{conn: theirs, closed: make(chan struct{})}) }() // until Close
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	_ = conn.SetDeadline(time.Now().Add(releaseTime))
	refused, err := (&lmtp{textproto.NewConn(conn)}).send(conf.ID, env, raw)
	if err != nil && ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return refused, err
}

// An lmtp is a client's side of LMTP (RFC 2033).
type lmtp struct{ *textproto.Conn }

// ask sends a command and reads the reply, which must be of the class.
func (c *lmtp) ask(class int, format string, args ...any) (string, error) {
	if err := c.PrintfLine(format, args...); err != nil {
		return "", tempError{err}
	}
	return c.reply(class)
}

// reply reads a reply of the class. A refusal for now, and a broken connection, may pass.
func (c *lmtp) reply(class int) (string, error) {
	_, text, err := c.ReadResponse(class)
	var said *textproto.Error
	if err != nil && (!errors.As(err, &said) || said.Code < 500) {
		err = tempError{err}
	}
	return text, err
}

// send delivers a message.
func (c *lmtp) send(name string, env *quarantine.Envelope, raw []byte) (refusals, error) {
	if _, err := c.reply(2); err != nil {
		return nil, err
	}
	offer, err := c.ask(2, "LHLO %s", name)
	if err != nil {
		return nil, err
	}
	if env.Client != "" { // a log of the next hop then names the client
		if _, err := c.ask(2, "XFORWARD ADDR=%s", xforwardAddr(env.Client)); err != nil {
			return nil, err
		}
	}
	if _, err := c.ask(2, "MAIL FROM:<%s>%s", env.Sender, mailParameters(offer, env, raw)); err != nil {
		return nil, err
	}
	taken, refused, err := c.recipients(env.Recipients)
	if err != nil || len(taken) == 0 {
		return refused, err
	}
	if _, err := c.ask(3, "DATA"); err != nil {
		return nil, err
	}
	w := c.DotWriter()
	if _, err := w.Write(raw); err != nil {
		return nil, tempError{err} // without its end nobody takes it
	}
	if err := w.Close(); err != nil {
		return nil, tempError{err}
	}
	for _, to := range taken {
		_, err := c.reply(2)
		var said *textproto.Error
		switch {
		case errors.As(err, &said):
			refused = append(refused, refusal{to, said})
		case err != nil:
			return nil, fmt.Errorf("whether it was taken is not known: %w", err)
		}
	}
	return refused, nil
}

// recipients asks for each.
func (c *lmtp) recipients(all []string) (taken []string, refused refusals, err error) {
	for _, to := range all {
		_, err := c.ask(2, "RCPT TO:<%s>", to)
		var said *textproto.Error
		switch {
		case errors.As(err, &said):
			refused = append(refused, refusal{to, said})
		case err != nil:
			return nil, nil, err
		default:
			taken = append(taken, to)
		}
	}
	return taken, refused, nil
}

// mailParameters are those that the message needs and the next hop offers: 8-bit content, addresses in UTF-8.
func mailParameters(offer string, env *quarantine.Envelope, raw []byte) (out string) {
	if !ascii(string(raw)) && offers(offer, "8BITMIME") {
		out += " BODY=8BITMIME"
	}
	if !ascii(env.Sender+strings.Join(env.Recipients, "")) && offers(offer, "SMTPUTF8") {
		out += " SMTPUTF8"
	}
	return out
}

func ascii(s string) bool { return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0 }

// offers tells whether a keyword is a line of an EHLO or LHLO reply.
func offers(reply, keyword string) bool {
	for line := range strings.SplitSeq(reply, "\n") {
		if word, _, _ := strings.Cut(line, " "); strings.EqualFold(word, keyword) {
			return true
		}
	}
	return false
}

// xforwardAddr is an address as XFORWARD has it.
func xforwardAddr(addr string) string {
	if strings.Contains(addr, ":") {
		return "IPV6:" + addr
	}
	return addr
}
