package smtpproxy

import (
	"net"
	"net/url"
	"strings"

	"spamsim/milter/filter"
)

// A nextHop is where mail goes.
type nextHop interface {
	// features says what the next hop offers. An error means that it cannot be reached.
	features() (features, error)
	// begin opens a transaction.
	begin() (delivery, error)
	// close gives up what is kept for later transactions.
	close()
}

// A delivery is one transaction at the next hop. Commands are queued by mail and rcpt and go out together when an
// answer is asked for. Any error means that the transaction is lost; whoever began it calls drop.
type delivery interface {
	// features says what this very connection offers.
	features() *features
	// mail queues MAIL with its arguments as the client gave them, and the XFORWARD attributes to be sent before.
	mail(line string, forward xforward)
	// rcpt queues RCPT.
	rcpt(line string)
	// next returns the answer to the oldest command that was queued and not asked for.
	next() (reply, error)
	// data asks to send content. An answer other than 354 ends the transaction. It is called once next returned all
	// answers.
	data() (reply, error)
	// trace returns the fields that the next hop's kind of delivery puts on a message, below the judgement's.
	trace(env *filter.Envelope) []filter.Field
	// Write sends content, which has CRLF line ends.
	Write(content []byte) (int, error)
	// commit ends the content and returns the answers: one, or with LMTP one for each recipient that was accepted.
	// Before it says anything that makes the message final it asks sure, and returns errNotSure where that says no.
	commit(sure func() bool) ([]reply, error)
	// drop ends the transaction without a delivery. After a commit without error it does nothing.
	drop()
	// abort makes whatever the owner waits for fail soon. It may be called from any goroutine, and before sure said
	// yes only.
	abort()
}

// features are the parts of an EHLO reply that matter here.
type features struct {
	pipelining bool
	size       bool
	maxSize    int64 // of SIZE; 0 is no fixed limit
	eightBit   bool
	utf8       bool
	dsn        bool
	enhanced   bool
	forward    []string // attributes of XFORWARD, upper case
	client     []string // of XCLIENT
	auth       string   // mechanisms of AUTH
	startTLS   bool
	oneAnswer  bool // LMTP: an answer to each recipient after the final dot, so none for all
}

// parseFeatures reads the lines of an EHLO reply after the first.
func parseFeatures(r reply) features {
	var f features
	lines := strings.Split(strings.TrimSuffix(string(r), "\r\n"), "\r\n")
	for _, l := range lines[1:] {
		word, args, _ := strings.Cut(l[min(4, len(l)):], " ")
		switch strings.ToUpper(word) {
		case "PIPELINING":
			f.pipelining = true
		case "SIZE":
			f.size = true
			f.maxSize = number(args)
		case "8BITMIME":
			f.eightBit = true
		case "SMTPUTF8":
			f.utf8 = true
		case "DSN":
			f.dsn = true
		case "ENHANCEDSTATUSCODES":
			f.enhanced = true
		case "XFORWARD":
			f.forward = strings.Fields(strings.ToUpper(args))
		case "XCLIENT":
			f.client = strings.Fields(strings.ToUpper(args))
		case "AUTH":
			f.auth = args
		case "STARTTLS":
			f.startTLS = true
		}
	}
	return f
}

// number reads a decimal number, 0 where it is none.
func number(s string) int64 {
	n, ok := size("SIZE=" + strings.TrimSpace(s))
	if !ok {
		return 0
	}
	return n
}

// parseNextHop makes what Config.NextHop describes.
func parseNextHop(s *Server) (nextHop, error) {
	raw := s.cfg.NextHop
	scheme, rest, _ := strings.Cut(raw, ":")
	switch scheme {
	case "smtp", "lmtp":
		u, err := url.Parse(raw)
		if err != nil || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" {
			return nil, nextHopError(raw, "want "+scheme+"://host:port")
		}
		port := u.Port()
		if port == "" {
			port = map[string]string{"smtp": "25", "lmtp": "24"}[scheme]
		}
		return newPool(s, "tcp", net.JoinHostPort(u.Hostname(), port), scheme == "lmtp"), nil
	case "lmtp+unix", "maildir":
		path := "/" + strings.TrimLeft(rest, "/")
		if path == "/" || strings.HasPrefix(rest, "//") && !strings.HasPrefix(rest, "///") { // behind two a host stands
			return nil, nextHopError(raw, "want "+scheme+":/path")
		}
		if scheme == "maildir" {
			return newMaildir(s, path)
		}
		return newPool(s, "unix", path, true), nil
	}
	return nil, nextHopError(raw, "want smtp://host:port, lmtp://host:port, lmtp+unix:/path or maildir:/path")
}
