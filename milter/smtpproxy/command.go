package smtpproxy

import (
	"bytes"
	"strconv"
	"strings"
)

// A command is one line of a client, without its end. It is passed on as it is; what is parsed out of it serves the
// envelope and the proxy's own decisions.
type command struct {
	line string
	verb string // upper case
	args string // what follows the verb and its space
}

// parseCommand splits a line. Nothing is refused here.
func parseCommand(line []byte) command {
	s := string(line)
	verb, args, _ := strings.Cut(s, " ")
	return command{line: s, verb: strings.ToUpper(verb), args: strings.TrimSpace(args)}
}

// clean tells whether a line may be passed on: no control characters, so that no second line hides in it.
func clean(line []byte) bool {
	return bytes.IndexFunc(line, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) < 0
}

// path returns the address of MAIL or RCPT, whose arguments begin with the keyword "FROM:" or "TO:", and the
// parameters behind it. The address has its angle brackets and its source route (RFC 5321 section 4.1.1.3) cut off
// and is else as it came. ok is false where there is no address: neither brackets nor a word,
// or one with more behind it.
func (c command) path(keyword string) (addr, params string, ok bool) {
	if len(c.args) < len(keyword) || !strings.EqualFold(c.args[:len(keyword)], keyword) {
		return "", "", false
	}
	rest := strings.TrimLeft(c.args[len(keyword):], " \t")
	if !strings.HasPrefix(rest, "<") {
		addr, params, _ = strings.Cut(rest, " ")
		return addr, params, addr != ""
	}
	end := closing(rest)
	if end < 0 {
		return "", "", false
	}
	params = rest[end+1:]
	if params != "" && params[0] != ' ' && params[0] != '\t' {
		return "", "", false // "<a@b>@c": nobody knows whose address the next hop takes it for
	}
	addr, ok = cutRoute(rest[1:end])
	return addr, params, ok
}

// closing finds the ">" that ends a path, which one within a quoted local part does not; -1 where there is none.
func closing(s string) int {
	quoted := false
	for i := 0; i < len(s); i++ {
		switch {
		case quoted && s[i] == '\\':
			i++
		case s[i] == '"':
			quoted = !quoted
		case s[i] == '>' && !quoted:
			return i
		}
	}
	return -1
}

// cutRoute cuts a source route off: "@a,@b:c@d" is c@d. No domain has a quote: where one opens in the route, others may see
// the end of the path elsewhere.
func cutRoute(addr string) (mailbox string, ok bool) {
	route, mailbox, found := strings.Cut(addr, ":")
	if !found || !strings.HasPrefix(addr, "@") {
		return addr, true
	}
	return mailbox, !strings.Contains(route, `"`)
}

// size returns the value of SIZE (RFC 1870), 0 where there is none; ok is false where it is no number.
func size(params string) (n int64, ok bool) {
	for p := range strings.FieldsSeq(params) {
		if len(p) > 5 && strings.EqualFold(p[:5], "SIZE=") {
			n, err := strconv.ParseUint(p[5:], 10, 63)
			return int64(n), err == nil
		}
	}
	return 0, true
}

// domain returns what stands behind an address's last "@", in lower case without a trailing dot; "" is a local name.
func domain(addr string) string {
	at := strings.LastIndexByte(addr, '@')
	if at < 0 || strings.HasSuffix(addr, `"`) { // "a@b" within quotes is a local part alone
		return ""
	}
	return strings.TrimSuffix(strings.ToLower(addr[at+1:]), ".")
}

// listed tells whether a domain is one of the list, whose names with a leading dot stand for what lies below them.
func listed(domain string, list []string) bool {
	for _, name := range list {
		name = strings.ToLower(name)
		if domain == name || strings.HasPrefix(name, ".") && strings.HasSuffix(domain, name) {
			return true
		}
	}
	return false
}
