package smtpproxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

// A remote is one connection to an SMTP or LMTP server, greeted and ready for a transaction.
type remote struct {
	conn     net.Conn
	r        *bufio.Reader
	w        []byte // commands not sent yet
	offer    features
	timeouts *Timeouts
	reused   bool      // it lay unused for a while and may have died since
	headed   bool      // a PROXY header went ahead
	tainted  bool      // it answered something with an error: no further transaction
	astray   bool      // an answer did not come as it should: the next one might be that one
	since    time.Time // of when it lies unused
	heard    time.Time // of its last answer
	unbind   func() bool
}

// errGreeting is a next hop that does not let us in.
var errGreeting = errors.New("next hop refuses")

// dial connects and says hello. EHLO gives way to HELO where the server does not know it.
func (p *pool) dial() (*remote, error) {
	if p.login {
		return nil, errLogin
	}
	t := &p.server.cfg.Timeouts
	ctx, cancel := context.WithTimeout(p.server.base, t.Connect)
	defer cancel()
	var d net.Dialer
	conn, err := d.DialContext(ctx, p.network, p.address)
	if err != nil {
		return nil, fmt.Errorf("connecting to next hop: %w", err)
	}
	p.server.counters.hopDials.Add(1)
	r := &remote{conn: conn, r: bufio.NewReader(conn), timeouts: t}
	r.unbind = context.AfterFunc(p.server.base, func() { conn.Close() })
	if err := p.greet(r); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// greet brings a connection to where a transaction may begin.
func (p *pool) greet(r *remote) error {
	cfg := &p.server.cfg
	if p.origin.version != 0 {
		if err := r.write([]byte(p.origin.header(r.conn))); err != nil {
			return fmt.Errorf("PROXY header to next hop: %w", err)
		}
		r.headed = true
	}
	if answer, err := r.read(r.timeouts.Reply); err != nil {
		return fmt.Errorf("greeting of next hop: %w", err)
	} else if !answer.ok() {
		return fmt.Errorf("%w: %s", errGreeting, answer.line())
	}
	err := r.hello(cfg.Hostname, p.lmtp)
	if err == nil && cfg.NextHopTLS != nil {
		ctx, cancel := context.WithTimeout(p.server.base, handshakeTime)
		defer cancel()
		if err = r.startTLS(ctx, cfg.NextHopTLS, p.host()); err == nil {
			err = r.hello(cfg.Hostname, p.lmtp)
		}
	}
	if err == nil {
		err = p.introduce(r)
	}
	return err
}

// hello says EHLO, or LHLO. A next hop that expects no PROXY header takes it for a command, and its answer to that is what is
// read here first: then nothing is what it seems, and EHLO does not give way to HELO.
func (r *remote) hello(name string, lmtp bool) error {
	verb := "EHLO"
	if lmtp {
		verb = "LHLO"
	}
	answer, err := r.ask(verb + " " + name)
	if err == nil && r.headed && answer[0] != '4' && answer.code() != 250 {
		return fmt.Errorf("%w: after a PROXY header it answers %s with %s", ErrBlind, verb, answer.line())
	}
	if err == nil && !lmtp && answer[0] == '5' {
		answer, err = r.ask("HELO " + name)
	}
	if err != nil {
		return fmt.Errorf("%s to next hop: %w", verb, err)
	}
	if !answer.ok() {
		return fmt.Errorf("%w %s: %s", errGreeting, verb, answer.line())
	}
	r.offer = parseFeatures(answer)
	r.offer.oneAnswer = lmtp
	return nil
}

// ask sends one command and reads its answer.
func (r *remote) ask(line string) (reply, error) {
	r.queue(line)
	if err := r.send(); err != nil {
		return "", err
	}
	return r.read(r.timeouts.Reply)
}

// queue puts a command behind those to be sent.
func (r *remote) queue(line string) {
	r.w = append(append(r.w, line...), '\r', '\n')
}

// send sends what is queued, in one write.
func (r *remote) send() error {
	if len(r.w) == 0 {
		return nil
	}
	err := r.write(r.w)
	r.w = r.w[:0]
	return err
}

// write sends octets as they are.
func (r *remote) write(p []byte) error {
	_ = r.conn.SetWriteDeadline(time.Now().Add(r.timeouts.Reply))
	_, err := r.conn.Write(p)
	return err
}

// read reads one answer.
func (r *remote) read(wait time.Duration) (reply, error) {
	_ = r.conn.SetReadDeadline(time.Now().Add(wait))
	answer, err := readReply(r.r)
	if err != nil {
		r.astray = true
		return "", err
	}
	r.heard = time.Now()
	r.tainted = r.tainted || answer[0] >= '4'
	return answer, nil
}

// quit takes leave without waiting for the answer.
func (r *remote) quit() {
	_ = r.conn.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = r.conn.Write([]byte("QUIT\r\n"))
	r.close()
}

// close ends the connection as it is.
func (r *remote) close() {
	r.unbind()
	r.conn.Close()
}
