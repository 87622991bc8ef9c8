package smtpproxy

import (
	"errors"
	"slices"
	"strings"
)

// mechanisms are those of SASL that pass through a relay: they bind to no channel, whose ends the proxy would be, and
// negotiate no layer of their own beneath what follows.
var mechanisms = []string{"PLAIN", "LOGIN", "CRAM-MD5", "SCRAM-SHA-1", "SCRAM-SHA-256", "SCRAM-SHA-512", "XOAUTH2", "OAUTHBEARER"}

// errLogin is a connection that a client has authenticated, and that is gone: nobody else can open it again.
var errLogin = errors.New("authenticated connection is gone")

// authWord is what the client is offered of the next hop's mechanisms: "" in plain text, but to trusted peers.
func (s *session) authWord() string {
	if !s.server.cfg.Auth || s.login || !s.client.secure() && !s.client.trusted {
		return ""
	}
	word := "AUTH"
	for m := range strings.FieldsSeq(s.offer.auth) {
		if slices.Contains(mechanisms, strings.ToUpper(m)) {
			word += " " + m
		}
	}
	if word == "AUTH" {
		return ""
	}
	return word
}

// auth lets the client authenticate to the next hop, line by line (RFC 4954). The connection on which that succeeds
// serves this client's mail from then on.
func (s *session) auth() {
	c := s.client
	mechanism, _, _ := strings.Cut(s.cmd.args, " ")
	switch {
	case s.login || s.open():
		c.answer(replyNoAuthNow)
		return
	case s.authWord() == "":
		c.answer(replyNotHere)
		return
	case !slices.Contains(strings.Fields(strings.ToUpper(s.authWord()))[1:], strings.ToUpper(mechanism)):
		c.answer(replyNoMechanism)
		return
	}
	r, err := s.authConnection()
	if err == nil {
		err = s.converse(r)
	}
	if err != nil {
		s.server.hopFailed("AUTH", err)
		s.leave()
		c.answer(replyNoNextHop)
	}
}

// authConnection is one that no other client uses.
func (s *session) authConnection() (*remote, error) {
	own, ok := s.route().(*pool)
	if !ok {
		return nil, errLogin
	}
	if own != s.own {
		s.own = newPool(s.server, own.network, own.address, own.lmtp)
	}
	if r := s.own.take(); r != nil {
		return r, nil
	}
	return s.own.dial()
}

// converse passes what the two sides say on until the next hop has decided.
func (s *session) converse(r *remote) error {
	line := s.cmd.line
	for {
		answer, err := r.ask(line)
		if err != nil {
			r.close()
			return err
		}
		if answer.code() != 334 {
			if answer.code() == 235 {
				s.login = true
				s.own.bind()
			}
			s.own.put(r)
			s.client.answer(answer)
			return nil
		}
		s.client.answer(answer)
		said, err := s.client.next()
		if err != nil {
			r.close()
			return nil // next has said what there is to say
		}
		line = "*" // RFC 4954 section 4: the client gives up
		if clean(said) {
			line = string(said)
		}
	}
}
