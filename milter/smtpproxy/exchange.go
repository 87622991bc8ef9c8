package smtpproxy

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"spamsim/milter/filter"
)

// Errors of a delivery.
var (
	errNotSure = errors.New("given up before the final dot")
	errAnswer  = errors.New("unexpected answer")
)

// An exchange is a transaction at an SMTP or LMTP server.
//
// Commands go out together where the server pipelines. A connection that was kept may have died since: if it ends
// before it answers anything, all commands so far go again to a new one, once. So they do if it ends at DATA after the
// content took long to come, since servers wait for minutes only, Postfix under stress for 10 s. No content was sent, so
// nothing can happen twice.
type exchange struct {
	pool   *pool
	remote *remote
	mu     sync.Mutex // of abort, and of whoever puts another remote
	ended  bool       // by abort
	said   []saying   // commands of which not all are answered; sent and heard count them
	sent   int
	heard  int
	ready  []reply // answers that next was not asked for yet
	spoken bool    // the server answered something in this transaction
	taken  int     // recipients that the server took
	enc    encoder
	buf    *[]byte // of content not sent yet
	inData bool
	done   bool
}

// A saying is a command line and what its answer is for.
type saying struct {
	line string
	kind sayingKind
	ok   bool // was answered so
}

type sayingKind uint8

const (
	sayMail sayingKind = iota
	sayRcpt
	sayForward // nobody asks for the answer
)

// Sizes, octets.
const (
	// maxGroup bounds the commands sent in one write: their answers must find room on their way while nobody reads
	// them (RFC 2920 section 3.1).
	maxGroup = 16 << 10
	// maxPiece is how much content is stuffed and sent at once. A message below it leaves in one write, its dot
	// included.
	maxPiece = 64 << 10
)

var pieces = sync.Pool{New: func() any { b := make([]byte, 0, maxPiece+maxPiece/2); return &b }}

func (x *exchange) features() *features { return &x.remote.offer }

func (x *exchange) mail(line string, forward xforward) {
	for _, l := range forward.lines("XFORWARD", x.remote.offer.forward) {
		x.said = append(x.said, saying{line: l, kind: sayForward})
	}
	x.said = append(x.said, saying{line: line, kind: sayMail})
}

func (x *exchange) rcpt(line string) { x.said = append(x.said, saying{line: line, kind: sayRcpt}) }

func (x *exchange) next() (reply, error) {
	for len(x.ready) == 0 {
		if err := x.hear(); err != nil {
			return "", err
		}
	}
	r := x.ready[0]
	x.ready = x.ready[1:]
	return r, nil
}

// hear reads one answer, once the commands up to its own are sent.
func (x *exchange) hear() error {
	r, err := x.tryHear()
	if x.remote.reused && !x.spoken && (err != nil || r.code() == 421) {
		if err = x.again(); err == nil {
			r, err = x.tryHear()
		}
	}
	if err != nil {
		return err
	}
	x.spoken = true
	s := &x.said[x.heard]
	x.heard++
	s.ok = r.ok()
	if s.kind == sayRcpt && s.ok {
		x.taken++
	}
	if s.kind != sayForward || r.code() == 421 {
		x.ready = append(x.ready, r)
	}
	return nil
}

func (x *exchange) tryHear() (reply, error) {
	if x.heard == x.sent {
		if err := x.send(); err != nil {
			return "", err
		}
	}
	return x.remote.read(x.remote.timeouts.Reply)
}

// send sends the next commands: one, or where the server pipelines as many as go in one write.
func (x *exchange) send() error {
	if x.sent == len(x.said) {
		return fmt.Errorf("%w: nothing was asked", errAnswer)
	}
	for x.sent < len(x.said) && len(x.remote.w) < maxGroup {
		x.remote.queue(x.said[x.sent].line)
		x.sent++
		if !x.remote.offer.pipelining {
			break
		}
	}
	return x.remote.send()
}

// trace is nothing: a relay leaves the message as it is.
func (x *exchange) trace(*filter.Envelope) []filter.Field { return nil }

func (x *exchange) Write(content []byte) (int, error) {
	if x.buf == nil {
		x.buf = pieces.Get().(*[]byte)
	}
	for rest := content; len(rest) > 0; {
		n := min(len(rest), maxPiece/2)
		*x.buf = x.enc.encode(*x.buf, rest[:n])
		rest = rest[n:]
		if len(*x.buf) >= maxPiece {
			if err := x.flush(); err != nil {
				return 0, err
			}
		}
	}
	return len(content), nil
}

// flush sends the content at hand.
func (x *exchange) flush() error {
	err := x.remote.write(*x.buf)
	*x.buf = (*x.buf)[:0]
	return err
}

func (x *exchange) commit(sure func() bool) ([]reply, error) {
	if _, err := x.Write(nil); err != nil {
		return nil, err
	}
	*x.buf = x.enc.end(*x.buf)
	if !sure() {
		return nil, errNotSure
	}
	if err := x.flush(); err != nil {
		return nil, err
	}
	answers, err := x.verdicts()
	if err != nil {
		return nil, err
	}
	x.finish()
	x.pool.put(x.remote)
	return answers, nil
}

// verdicts reads the answers to the final dot. Of several, those that were read hold, whatever becomes of the others:
// the next hop has the message for these recipients.
func (x *exchange) verdicts() ([]reply, error) {
	want := 1
	if x.remote.offer.oneAnswer {
		want = x.taken
	}
	answers := make([]reply, 0, want)
	for len(answers) < want {
		r, err := x.remote.read(x.remote.timeouts.Dot)
		if err == nil && r[0] == '3' {
			err = fmt.Errorf("%w to final dot: %s", errAnswer, r.line())
		}
		if err != nil && len(answers) == 0 {
			return nil, err
		}
		if err != nil {
			x.remote.astray = true
			return append(answers, slices.Repeat([]reply{replyNextHop}, want-len(answers))...), nil
		}
		answers = append(answers, r)
	}
	return answers, nil
}

// finish ends the exchange's part.
func (x *exchange) finish() {
	x.done = true
	if x.buf != nil {
		*x.buf = (*x.buf)[:0]
		pieces.Put(x.buf)
		x.buf = nil
	}
}

func (x *exchange) abort() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ended = true
	x.remote.conn.Close()
}

func (x *exchange) drop() {
	if x.done {
		return
	}
	x.finish()
	switch {
	case x.inData:
		x.remote.close()
	case x.sent == 0:
		x.pool.put(x.remote)
	case x.pool.login && x.heard == x.sent && !x.remote.astray: // else an older answer would be taken for that to RSET
		if r, err := x.remote.ask("RSET"); err == nil && r.ok() {
			x.pool.put(x.remote)
		} else {
			x.remote.close()
		}
	default:
		x.remote.quit()
	}
}
