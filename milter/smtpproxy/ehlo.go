package smtpproxy

import (
	"strconv"
	"strings"
)

// hello is the answer to EHLO: what the next hop offers and the proxy carries. PIPELINING is the proxy's own, since it
// takes commands in a row whether or not the next hop does. CHUNKING is not offered, nor is any keyword that is not
// known here.
func (s *session) hello() reply {
	words := []string{s.server.cfg.Hostname, "PIPELINING"}
	add := func(offered bool, word string) {
		if offered {
			words = append(words, word)
		}
	}
	add(s.offer.size || s.server.cfg.MaxMessage > 0, s.sizeWord())
	add(s.offer.eightBit, "8BITMIME")
	add(s.offer.enhanced, "ENHANCEDSTATUSCODES")
	add(s.offer.utf8, "SMTPUTF8")
	add(s.offer.dsn, "DSN")
	add(s.offersTLS(), "STARTTLS")
	add(s.authWord() != "", s.authWord())
	add(s.client.trusted, "XFORWARD "+strings.Join(forwardNames, " "))
	var b strings.Builder
	for i, w := range words {
		sep := "-"
		if i == len(words)-1 {
			sep = " "
		}
		b.WriteString("250" + sep + w + "\r\n")
	}
	return reply(b.String())
}

// sizeWord is SIZE with the lower of the two limits.
func (s *session) sizeWord() string {
	limit := s.offer.maxSize
	if own := s.server.cfg.MaxMessage; limit == 0 || own > 0 && own < limit {
		limit = own
	}
	if limit == 0 {
		return "SIZE"
	}
	return "SIZE " + strconv.FormatInt(limit, 10)
}
