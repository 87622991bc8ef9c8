package smtpproxy

import (
	"io"
	"strings"
	"time"

	"github.com/emersion/go-smtp"
)

// maxRecipients bounds a transaction. Postfix sends 1,000 at most; RFC 5321 section 4.5.3.1.8 wants 100.
const maxRecipients = 10_000

// The RCPT commands of a transaction are kept, for another connection. RFC 5321 wants room for 100 of 512 octets.
const (
	maxRcptOctets    = 128 << 10
	maxTrustedOctets = 4 << 20
)

// A session is what go-smtp drives: the order of commands is its matter, what they do is here. The arguments that
// go-smtp gives are those of the canonical line that it was fed; the client's own line is in cmd.
type session struct {
	server *Server
	client *client
	cmd    command
	helo   string
	plain  bool     // said HELO
	offer  features // of the next hop, as it was at EHLO
	origin xforward // of the client's own XFORWARD, for the next transaction
	tx     *transaction
	own    *pool // next hop of this client alone; nil where it shares
	login  bool  // authenticated to the next hop, on own
}

// errAnswered makes go-smtp take a command for refused; its words are never sent.
var errAnswered = &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 3, 0}, Message: "refused"}

// Lines that stand for the client's own.
var (
	feedMail = []byte("MAIL FROM:<>\r\n")
	feedRcpt = []byte("RCPT TO:<r@r>\r\n")
	feedDot  = []byte(".\r\n")
)

// command takes a client's line and returns what go-smtp is to read in its place: nothing where the answer is given
// already.
func (s *session) command(line []byte) []byte {
	if !clean(line) {
		s.client.answer(replyBadLine)
		return nil
	}
	s.cmd = parseCommand(line)
	switch s.cmd.verb {
	case "MAIL":
		return s.when("FROM:", replyMailSyntax, feedMail)
	case "RCPT":
		return s.when("TO:", replyRcptSyntax, feedRcpt)
	case "DATA":
		return s.client.pass(line)
	}
	s.client.resolveAll() // whatever comes now may end the transaction
	switch s.cmd.verb {
	case "EHLO", "HELO", "LHLO":
		return s.greet(line)
	case "XFORWARD":
		s.client.answer(s.xforward())
		return nil
	case "STARTTLS":
		s.startTLS()
		return nil
	case "AUTH":
		s.auth()
		return nil
	case "BDAT":
		s.client.answer(s.skipChunk())
		return nil
	}
	return s.client.pass(line)
}

// when feeds a line if the client's has an address.
func (s *session) when(keyword string, syntax reply, feed []byte) []byte {
	if _, _, ok := s.cmd.path(keyword); !ok {
		s.client.answer(syntax)
		return nil
	}
	return feed
}

// greet finds out what the next hop offers before EHLO is answered.
func (s *session) greet(line []byte) []byte {
	s.helo, _, _ = strings.Cut(s.cmd.args, " ")
	s.plain = s.cmd.verb == "HELO"
	offer, err := s.route().features()
	if err != nil {
		s.server.hopFailed("greeting", err)
		s.client.answer(replyNoNextHop)
		return nil
	}
	s.offer = offer
	s.client.greeting = !s.plain
	return s.client.pass(line)
}

// skipChunk reads a chunk that was never asked for: what it holds must not be taken for commands.
func (s *session) skipChunk() reply {
	count, _, _ := strings.Cut(s.cmd.args, " ")
	n, ok := size("SIZE=" + count)
	if !ok || n > defaultMaxJudged {
		s.client.last = true
		return replyNoChunking
	}
	_ = s.client.conn.SetReadDeadline(time.Now().Add(s.server.cfg.Timeouts.Data))
	if _, err := io.CopyN(io.Discard, s.client.r, n); err != nil {
		s.client.last = true // its rest would be taken for commands
	}
	return replyNoChunking
}

// open tells whether a transaction is under way.
func (s *session) open() bool { return s.tx != nil }

// Mail begins a transaction.
func (s *session) Mail(string, *smtp.MailOptions) error {
	if s.client.leaves() {
		return s.refuse(replyStopping)
	}
	if s.helo == "" { // STARTTLS made it be forgotten
		return s.refuse(replyNoHello)
	}
	if s.tx != nil {
		s.client.resolveAll()
		if !s.tx.void() {
			return s.refuse(replyNested)
		}
		s.abandon()
	}
	sender, params, _ := s.cmd.path("FROM:")
	n, ok := size(params)
	limit := s.server.cfg.MaxMessage
	switch {
	case !ok:
		return s.refuse(replyBadSize)
	case limit > 0 && n > limit:
		return s.refuse(replyTooLarge)
	}
	out, err := s.route().begin()
	if err != nil {
		s.server.hopFailed("MAIL", err)
		if s.login {
			return s.refuse(replyNoNextHop) // it must authenticate anew
		}
		return s.refuse(replyNextHop)
	}
	s.client.served.Store(true)
	s.tx = &transaction{session: s, out: out, sender: sender, forward: s.origin}
	out.mail(s.cmd.line, s.origin)
	return s.tx.mail()
}

// refuse answers a command that is not to be passed on.
func (s *session) refuse(r reply) error {
	s.client.answer(r)
	return errAnswered
}

// Rcpt adds a recipient. Its answer is the next hop's own; go-smtp is told that all is well since it may not be known
// yet.
func (s *session) Rcpt(string, *smtp.RcptOptions) error {
	addr, _, _ := s.cmd.path("TO:")
	switch t := s.tx; {
	case t == nil:
		s.client.answer(replyNoMail)
	case !s.mayRelay(addr):
		s.server.counters.denied.Add(1)
		s.server.logRefusal(s.client.addr, t.sender, addr, replyNoRelay)
		s.client.answer(replyNoRelay)
	case t.rcpts >= maxRecipients || t.octets >= maxRcptOctets && !s.client.trusted || t.octets >= maxTrustedOctets:
		s.client.answer(replyManyRcpts)
	case t.out.features().oneAnswer && !s.server.cfg.LMTP && t.hasRecipient():
		s.client.answer(replyOneAtATime)
	default:
		t.rcpt(addr)
	}
	return nil
}

// mayRelay tells whether the client may send to an address. A local part in which another address can hide
// ("user%elsewhere@here") is for trusted clients alone: the next hop trusts the proxy and might follow it.
func (s *session) mayRelay(addr string) bool {
	if s.client.trusted || s.authenticated() {
		return true
	}
	if len(s.server.cfg.RecipientDomains) == 0 {
		return s.server.introduces() // the next hop knows whose mail it is, and decides
	}
	d := domain(addr)
	local := addr
	if d != "" {
		local = addr[:strings.LastIndexByte(addr, '@')]
	}
	if strings.ContainsAny(local, "%!@") {
		return false
	}
	return d == "" || listed(d, s.server.cfg.RecipientDomains)
}

// authenticated tells whether the client gave a certificate that is accepted, or the next hop accepted its password.
func (s *session) authenticated() bool { return s.login || s.client.certified() }

// Data takes the message. go-smtp has said 354, which nobody heard; its reader gets nothing but the final dot.
func (s *session) Data(io.Reader) error {
	s.client.feed = feedDot
	defer s.Reset()
	s.client.resolveAll()
	t := s.tx
	switch {
	case t == nil:
		s.noData(replyNoMail)
	case t.lost != "":
		s.noData(t.lost)
	case len(t.accepted) == 0:
		s.noData(replyNoRcpts)
	default:
		s.server.message(t)
		s.client.urgent()
	}
	return nil
}

// noData refuses DATA. What the client sent behind it without waiting is content, or pretends not to be: neither is
// taken for commands.
func (s *session) noData(r reply) {
	s.client.answer(r)
	if s.client.r.Buffered() > 0 {
		s.client.urgent()
		s.client.last = true
	}
}

// Reset ends the transaction, if there is one, and what XFORWARD told for it.
func (s *session) Reset() {
	s.abandon()
	s.origin = nil
}

// abandon ends the transaction. One that was handed over is not harmed.
func (s *session) abandon() {
	if s.tx != nil {
		s.tx.out.drop()
		s.tx = nil
	}
}

// Logout ends the session. A panic here would end the process.
func (s *session) Logout() error {
	s.Reset()
	s.leave()
	return nil
}
