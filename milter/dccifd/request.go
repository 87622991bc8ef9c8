package dccifd

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"spamsim/milter/filter"
)

// maxEnvelope is the most octets of the lines before the message: a thousand recipients of the longest kind (RFC 5321
// section 4.5.3.1 has 256 octets for a path).
const maxEnvelope = 256 << 10

// errRequest is a request that breaks off before its message, or that says more than is allowed.
var errRequest = errors.New("bad request")

// A request is what a client says before the message.
type request struct {
	query  bool // judge, do not count
	header bool // answer with the header line
	body   bool // answer with the message, the header line on top

	env     filter.Envelope
	answers int // recipients that the client waits to hear of
}

// counts tells whether the message is one that is delivered to somebody and not only asked about.
func (r *request) counts() bool { return !r.query && r.answers > 0 }

// A lineReader reads the lines before the message.
type lineReader struct {
	r    *bufio.Reader
	left int // octets that may yet come
}

// next returns a line without its end, and without a CR before that: a client that ends lines by CRLF means no name.
func (l *lineReader) next() (string, error) {
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		if l.left -= len(part); l.left < 0 {
			return "", fmt.Errorf("%w: more than %d octets before the message", errRequest, maxEnvelope)
		}
		line = append(line, part...)
		switch {
		case err == nil:
			return string(bytes.TrimRight(line, "\r\n")), nil
		case errors.Is(err, io.EOF):
			return "", fmt.Errorf("%w: it ends before the message", errRequest)
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
}

// readRequest reads up to the empty line before the message. begun is called once the client has said something.
func readRequest(r *bufio.Reader, begun func()) (*request, error) {
	l := lineReader{r: r, left: maxEnvelope}
	var fixed [4]string
	for i := range fixed {
		line, err := l.next()
		if err != nil {
			return nil, err
		}
		if fixed[i] = line; i == 0 {
			begun()
		}
	}
	q := &request{}
	q.options(fixed[0])
	addr, _, _ := strings.Cut(fixed[1], "\r")
	q.env = filter.Envelope{ClientAddr: known(addr, "0.0.0.0"), Helo: fixed[2], Sender: known(path(fixed[3]), placeholder), Door: "dccifd"}
	for {
		line, err := l.next()
		if err != nil || line == "" {
			return q, err
		}
		q.recipients(line)
	}
}

// options takes the first line. What is not known here changes nothing.
func (r *request) options(line string) {
	for _, word := range strings.Fields(line) {
		switch word {
		case "query":
			r.query = true
		case "header", "cksums": // there are no checksums to show beside the header
			r.header = true
		case "body":
			r.body = true
		}
	}
}

// recipients takes one line of them. The protocol has one recipient in a line, and after a CR the local user who that is;
// Haraka joins all recipients by CRs. An address tells itself from a user's name by its at-sign.
func (r *request) recipients(line string) {
	for i, name := range strings.Split(line, "\r") {
		if i > 0 && !strings.Contains(name, "@") {
			continue
		}
		r.answers++
		if rcpt := known(known(path(name), placeholder), "unknown"); rcpt != "" {
			r.env.Recipients = append(r.env.Recipients, rcpt)
		}
	}
}

// placeholder is what rspamd writes for a sender or a recipient that it was not told.
const placeholder = "test@example.com"

// known is what a client said, "" where that is its word for not knowing.
func known(said, unknown string) string {
	if said == unknown {
		return ""
	}
	return said
}

// path is an address without angle brackets, which some clients put around it; <> is the null sender.
func path(said string) string {
	if inside, ok := strings.CutPrefix(said, "<"); ok {
		return strings.TrimSuffix(inside, ">")
	}
	return said
}
