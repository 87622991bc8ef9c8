package milter

import (
	"bytes"
	"cmp"
	"time"

	"spamsim/milter/filter"
)

// A message is one transaction while it comes in.
type message struct {
	open   bool // MAIL came, the end did not
	sender string
	rcpts  []string
	said   int    // how many recipients came, held or not
	raw    []byte // header fields as they are on the wire, an empty line, the body
	body   bool   // the empty line is in raw
	names  []byte // the header fields' names in lower case, each ended by NUL
	size   int    // octets that came, held or not, recipients among them
	id     string // its Message-ID, where it was in what was dropped
	over   bool   // larger than may be held: raw is gone, its rest is only counted
	full   bool   // no memory left for it: the same, but the client is to come back
}

// firstRaw is how much room a message gets at first, in octets: most fit without growing.
const firstRaw = 8 << 10

// addHeader appends a field. Without leadingSpace the MTA has cut the space after the colon off. Folds come as LF and
// go as CRLF.
func (m *message) addHeader(data []byte, spaced bool) {
	name, rest := cString(data)
	value, _ := cString(rest)
	if m.raw == nil {
		m.raw = make([]byte, 0, firstRaw)
	}
	m.raw = append(m.raw, name...)
	m.raw = append(m.raw, ':')
	if !spaced {
		m.raw = append(m.raw, ' ')
	}
	m.raw = appendCRLF(m.raw, value)
	m.raw = append(m.raw, "\r\n"...)
	m.addName(name)
}

// addName notes the name of a field.
func (m *message) addName(name []byte) { m.names = append(appendLower(m.names, name), 0) }

// appendLower appends a name in lower case. A name is ASCII (RFC 5322 section 3.6.8).
func appendLower(to, name []byte) []byte {
	for _, c := range name {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		to = append(to, c)
	}
	return to
}

// appendCRLF appends a value whose line ends, LF, become CRLF; those that are CRLF stay.
func appendCRLF(raw, value []byte) []byte {
	for {
		i := bytes.IndexByte(value, '\n')
		if i < 0 {
			return append(raw, value...)
		}
		raw = append(raw, bytes.TrimSuffix(value[:i], []byte("\r"))...)
		raw = append(raw, "\r\n"...)
		value = value[i+1:]
	}
}

// addBody appends a piece of the body, after the empty line that ends the header.
func (m *message) addBody(data []byte) {
	if !m.body {
		m.raw = append(m.raw, "\r\n"...)
		m.body = true
	}
	m.raw = append(m.raw, data...)
}

// octets is the size of the message, to a few octets where it is not held.
func (m *message) octets() int {
	if m.raw == nil {
		return m.size
	}
	return len(m.raw)
}

// drop gives up what is held of the message; its size goes on being counted.
func (m *message) drop() {
	m.id = cmp.Or(m.id, filter.MessageID(m.raw))
	m.raw, m.rcpts = nil, nil
}

// count says how many fields of a name, in lower case, the message has.
func (m *message) count(name string) int {
	n := 0
	for rest := m.names; len(rest) > 0; {
		var next []byte
		next, rest = cString(rest)
		if string(next) == name {
			n++
		}
	}
	return n
}

// envelope is what the filter is told of the transaction.
func (s *session) envelope() *filter.Envelope {
	addr := s.addr
	if addr == "" {
		addr = ipText(s.macros.clientAddr)
	}
	return &filter.Envelope{
		ClientAddr:    addr,
		Helo:          s.helo,
		Sender:        s.message.sender,
		Recipients:    s.message.rcpts,
		QueueID:       s.macros.queueID,
		Door:          "milter",
		Authenticated: s.macros.authen != "",
		Time:          time.Now(),
	}
}
