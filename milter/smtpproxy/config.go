package smtpproxy

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"time"

	"spamsim/milter/filter"
)

// Errors of New and Serve.
var (
	ErrServerClosed = errors.New("smtp proxy closed")                   // Serve's after Shutdown or Close
	ErrNextHop      = errors.New("bad next hop")                        // not one of the forms of Config.NextHop
	ErrLoop         = errors.New("next hop is the proxy's own address") // mail would go round for ever
	// ErrBlind is a next hop that does not take the client's address in the way that Config demands.
	ErrBlind = errors.New("next hop does not take the client's address")
)

// BareLF says what is done with content that has a line feed without a carriage return before it.
type BareLF uint8

// What is done with bare line feeds.
const (
	NormalizeBareLF BareLF = iota // each becomes CRLF
	RejectBareLF                  // the message is refused with 550 5.5.2
)

// A Config is what a proxy is told. Zero values mean the defaults given here.
type Config struct {
	// NextHop is where mail goes: "smtp://host:port", "lmtp://host:port", "lmtp+unix:/path" or "maildir:/path". The
	// ports default to 25 and 24. Required.
	NextHop string
	// Listen are addresses, "host:port", that Serve will be given listeners for: New refuses a next hop among them.
	// Serve looks again at the listener itself.
	Listen []string
	// Hostname is the name in greetings, to the client and to the next hop, and in maildir file names. Default
	// "localhost".
	Hostname string

	// Check judges a message; nil passes all mail on as it is. The message has CRLF line ends. Check must not keep
	// or change what it is given, and should return once its context is done.
	Check filter.CheckFunc
	// Pass says what to put on a message that is not judged: filter.Skipped with reason "size", filter.Error with
	// "panic", "timeout" or "busy". nil passes it as it is.
	Pass func(env *filter.Envelope, kind filter.Kind, reason string) filter.Judgement
	// Quarantine keeps a message, with its fields added, that Check wants quarantined, and owns it once it returns
	// nil. On an error, and where Quarantine is nil, the message is delivered tagged.
	Quarantine func(env *filter.Envelope, raw []byte) error

	// Trusted peers may send to any recipient, and their word about the client's address (XFORWARD) is taken. Peers
	// on Unix sockets are trusted.
	Trusted []netip.Prefix
	// RecipientDomains are what other peers may send to: "example.com", ".example.com" for what lies below. Where
	// there are none, other peers are turned away at the greeting: an open proxy port is an open relay, since the
	// next hop trusts the proxy. With XCLIENT or NextHopProxy the next hop sees the client itself: other peers are
	// let in then, and where no domains are given each recipient is the next hop's own decision.
	RecipientDomains []string

	// ProxyPeers are load balancers, whose connections begin with a PROXY header, version 1 or 2, that tells the
	// client's address (haproxy.org/download/3.0/doc/proxy-protocol.txt). One without is closed.
	ProxyPeers []netip.Prefix

	// LMTP makes clients speak LMTP (RFC 2033) in place of SMTP: after the final dot each recipient has its own answer.
	LMTP bool
	// TLS offers STARTTLS to clients. A listener of crypto/tls speaks TLS from the first octet.
	TLS *tls.Config
	// NextHopTLS, where not nil, demands STARTTLS of the next hop and a certificate that it accepts, of the next
	// hop's name unless ServerName says another.
	NextHopTLS *tls.Config

	// XCLIENT tells the next hop the client's address and name, as if the client had come to it itself: its own rules
	// about clients then hold. Each client has connections of its own then. A next hop that does not offer the command
	// gets no mail: it must authorise the proxy (smtpd_authorized_xclient_hosts of Postfix).
	XCLIENT bool
	// NextHopProxy tells the next hop the client's address in a PROXY header of this version, 1 or 2, at the beginning
	// of each connection; each client has connections of its own. 0 sends none. The next hop must expect it
	// (smtpd_upstream_proxy_protocol of Postfix).
	NextHopProxy byte

	// Auth lets clients authenticate to the next hop, where they speak TLS or are trusted. Such a client may send to any
	// recipient.
	Auth bool

	BareLF       BareLF
	MaxMessage   int64 // octets of a message that is taken at all; 0 leaves it to the next hop
	MaxJudged    int   // octets of a message that is judged, default 10 MiB; a larger one streams on, skipped, after its header
	MemoryBudget int64 // octets of all messages held at one time, default 256 MiB, room for one at least; beyond it 452
	MaxConns     int   // connections open at once, default 250; a further client gets 421, or one that was silent for Timeouts.Busy
	MaxConnsPer  int   // of one network (/24, IPv6 /64) that is not trusted, default 50
	MaxJudging   int   // messages judged at once, default 4 for each processor; further ones wait

	Timeouts Timeouts
	Logger   *slog.Logger // nil is silent
}

// Timeouts bound each wait. The defaults fit between the 100 s that Postfix gives a before-queue filter for each
// answer (smtpd_proxy_timeout) and the minutes that RFC 5321 section 4.5.3.2 asks of a server.
type Timeouts struct {
	Command time.Duration // silence of a client between commands, default 5 min (RFC 5321 section 4.5.3.2.7)
	Busy    time.Duration // the same once MaxConns are open, of clients that are not trusted, default 10 s as Postfix has under stress
	Data    time.Duration // silence of a client amid content, default 3 min; see minRate
	Check   time.Duration // one judgement, default 5 s; then the message passes with verdict error
	Answer  time.Duration // from the client's final dot until the hand-over begins, default 60 s; then 451
	Abort   time.Duration // from the client's final dot until the next hop's, default 80 s; then it gets none
	Connect time.Duration // to connect to the next hop, default 10 s
	Reply   time.Duration // for each reply of the next hop but the last, default 60 s
	Dot     time.Duration // for the next hop's answer to the final dot, default 10 min (RFC 5321 section 4.5.3.2.6)
	Idle    time.Duration // a connection to the next hop is kept unused, default 10 s
}

// Defaults of the bounds.
const (
	defaultMaxJudged = 10 << 20
	defaultBudget    = 256 << 20
	defaultConns     = 250
	defaultConnsPer  = 50
)

// fill puts the defaults in.
func (c *Config) fill() {
	if c.Hostname == "" {
		c.Hostname = "localhost"
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	or(&c.MaxJudged, defaultMaxJudged)
	or(&c.MemoryBudget, defaultBudget)
	c.MemoryBudget = max(c.MemoryBudget, int64(c.MaxJudged)+aboveHeld) // else the largest that is judged would never be taken
	or(&c.MaxConns, defaultConns)
	or(&c.MaxConnsPer, defaultConnsPer)
	or(&c.MaxJudging, defaultJudging())
	t := &c.Timeouts
	or(&t.Command, 5*time.Minute)
	or(&t.Busy, 10*time.Second)
	or(&t.Data, 3*time.Minute)
	or(&t.Check, 5*time.Second)
	or(&t.Answer, 60*time.Second)
	or(&t.Abort, 80*time.Second)
	or(&t.Connect, 10*time.Second)
	or(&t.Reply, 60*time.Second)
	or(&t.Dot, 10*time.Minute)
	or(&t.Idle, 10*time.Second)
}

// or sets what is zero.
func or[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// nextHopError says what is wrong with Config.NextHop.
func nextHopError(url, why string) error {
	return fmt.Errorf("%w %q: %s", ErrNextHop, url, why)
}
