package milter

import (
	"bufio"
	"slices"
	"strings"

	"spamsim/milter/filter"
)

// heldBecause is the reason that the MTA logs for a message in its hold queue.
const heldBecause = "held by spamsim"

// answer writes what is to be done with a message: the changes, which an MTA takes only at its end, and the answer
// that ends it. What the MTA does not let us do is left out, so that the rest still happens.
func answer(w *bufio.Writer, c contract, m *message, j filter.Judgement) {
	switch j.Action {
	case filter.Reject:
		refuse(w, j.Reply, '5', actReject)
		return
	case filter.TempFail:
		refuse(w, j.Reply, '4', actTempFail)
		return
	}
	if c.may(mayChangeHeaders) {
		strip(w, m, j.Strip)
		j.Add = append(slices.Clip(j.Add), prefix(w, c, m, j.Subject)...)
	}
	if c.may(mayAddHeaders) {
		insert(w, c, j.Add)
	}
	if j.Action == filter.Quarantine && c.may(mayQuarantine) {
		writePacket(w, actQuarantine, heldBecause, "\x00")
	}
	// Continue, not accept: accept would end what milters after this one may say on some MTAs.
	writePacket(w, actContinue)
}

// strip deletes every field of the names. The highest goes first, since what stood after a deleted field moves down.
// It comes before the insertions, which move everything up.
func strip(w *bufio.Writer, m *message, names []string) {
	for _, name := range names {
		for i := m.count(strings.ToLower(name)); i > 0; i-- {
			writePacket(w, actChgHeader, number(uint32(i)), name, "\x00\x00")
		}
	}
}

// prefix puts a prefix into the first Subject field, whose number the deletions do not change: theirs are other names. Where
// there is none it returns the field that is to be added.
func prefix(w *bufio.Writer, c contract, m *message, prefix string) []filter.Field {
	if prefix == "" {
		return nil
	}
	value, ok := filter.SubjectOf(m.raw)
	if !ok || m.count("subject") == 0 {
		return []filter.Field{{Name: "Subject", Value: " " + prefix}}
	}
	writePacket(w, actChgHeader, number(1), "Subject", "\x00", c.value(filter.Prefixed(value, prefix, "\n")), "\x00")
	return nil
}

// value is a field's value as the MTA wants it.
func (c contract) value(v string) string {
	if c.protocol&leadingSpace == 0 {
		v = strings.TrimPrefix(v, " ") // the MTA adds one
	}
	return headerValue(v)
}

// insert puts the fields at the very top, above the Received field that the MTA adds and never shows. Each goes to
// place 0 and pushes those before it down, so the last is inserted first.
func insert(w *bufio.Writer, c contract, fields []filter.Field) {
	for i := len(fields) - 1; i >= 0; i-- {
		writePacket(w, actInsHeader, number(0), fields[i].Name, "\x00", c.value(fields[i].Value), "\x00")
	}
}

// headerValue drops what would end the value early (NUL) or double its line ends (CR: Postfix makes CR CR LF of CR LF).
func headerValue(s string) string {
	if !strings.ContainsAny(s, "\x00\r") {
		return s
	}
	return strings.NewReplacer("\x00", "", "\r", "").Replace(s)
}

// longestReply is the text of a reply in octets: RFC 5321 section 4.5.3.1.5 has 512 with code and CRLF.
const longestReply = 500

// refuse answers with a reply of the wanted class, or with the MTA's own words for it where the reply is none.
func refuse(w *bufio.Writer, reply string, class, plain byte) {
	if len(reply) < 3 || reply[0] != class || !isDigit(reply[1]) || !isDigit(reply[2]) || len(reply) > 3 && reply[3] != ' ' {
		writePacket(w, plain)
		return
	}
	writePacket(w, actReplyCode, replyText(reply), "\x00")
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// replyText makes a reply fit for the wire: one line of printable ASCII, each percent sign doubled, since the MTA
// takes it for a format directive.
func replyText(reply string) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, reply[:min(len(reply), longestReply)])
	return strings.ReplaceAll(clean, "%", "%%")
}
