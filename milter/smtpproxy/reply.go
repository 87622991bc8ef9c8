package smtpproxy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// A reply is one answer of a server, its lines as they came, each with its CRLF; "" is none.
type reply string

// Replies of the proxy itself. The client sees fixed text, never an error's words.
const (
	replyReady       reply = "354 End data with <CR><LF>.<CR><LF>\r\n"
	replyMailOk      reply = "250 2.1.0 Ok\r\n"
	replyRcptOk      reply = "250 2.1.5 Ok\r\n"
	replyOk          reply = "250 2.0.0 Ok\r\n"
	replyKept        reply = "250 2.0.0 Ok: quarantined\r\n"
	replyNextHop     reply = "451 4.3.0 Next hop not available, try again later\r\n"
	replyLate        reply = "451 4.3.0 Message could not be handed on in time, try again later\r\n"
	replyTryAgain    reply = "451 4.7.1 Message refused for now, try again later\r\n"
	replyOneAtATime  reply = "452 4.5.3 One recipient at a time, send the others a copy of their own\r\n"
	replyManyRcpts   reply = "452 4.5.3 Too many recipients\r\n"
	replyNoMemory    reply = "452 4.3.1 Insufficient memory, try again later\r\n"
	replyNoSpace     reply = "452 4.3.1 Insufficient system storage\r\n"
	replyStopping    reply = "421 4.3.2 Service shutting down\r\n"
	replyNoNextHop   reply = "421 4.3.0 Next hop not available, try again later\r\n"
	replyBusy        reply = "421 4.7.0 Too many connections, try again later\r\n"
	replySilent      reply = "421 4.4.2 Timeout\r\n"
	replyDenied      reply = "554 5.7.1 Access denied\r\n"
	replyNoRelay     reply = "550 5.7.1 Relay access denied\r\n"
	replyBareLF      reply = "550 5.5.2 Message contains bare line feeds\r\n"
	replyTooLarge    reply = "552 5.3.4 Message size exceeds limit\r\n"
	replyNoChunking  reply = "502 5.5.1 CHUNKING is not offered\r\n"
	replyLongLine    reply = "500 5.5.2 Line too long\r\n"
	replyBadLine     reply = "500 5.5.2 Control characters in command\r\n"
	replyMailSyntax  reply = "501 5.5.4 Syntax: MAIL FROM:<address>\r\n"
	replyRcptSyntax  reply = "501 5.5.4 Syntax: RCPT TO:<address>\r\n"
	replyBadSize     reply = "501 5.5.4 Bad SIZE\r\n"
	replyNested      reply = "503 5.5.1 Nested MAIL command\r\n"
	replyNoMail      reply = "503 5.5.1 Need MAIL command\r\n"
	replyInMail      reply = "503 5.5.1 MAIL transaction in progress\r\n"
	replyNoRcpts     reply = "554 5.5.1 No valid recipients\r\n"
	replyRejected    reply = "550 5.7.1 Message refused\r\n"
	replyStartTLS    reply = "220 2.0.0 Ready to start TLS\r\n"
	replyHasTLS      reply = "503 5.5.1 TLS is active already\r\n"
	replyNoHello     reply = "503 5.5.1 Send EHLO first\r\n"
	replyNoAuthNow   reply = "503 5.5.1 AUTH not now\r\n"
	replyNoMechanism reply = "504 5.5.4 Mechanism not offered\r\n"
	replyNotHere     reply = "502 5.5.1 Command not implemented\r\n"
	replyNotTrusted  reply = "550 5.7.0 Not authorized\r\n"
	replyBadXforward reply = "501 5.5.4 Bad XFORWARD attribute\r\n"
)

// code returns the reply's number, 0 where there is no reply.
func (r reply) code() int {
	if len(r) < 3 {
		return 0
	}
	return int(r[0]-'0')*100 + int(r[1]-'0')*10 + int(r[2]-'0')
}

// ok tells whether the reply is 2yz.
func (r reply) ok() bool { return r != "" && r[0] == '2' }

// line returns the reply's first line without its end, for the log.
func (r reply) line() string {
	for i := range len(r) {
		if r[i] == '\r' || r[i] == '\n' {
			return string(r[:i])
		}
	}
	return string(r)
}

// errReply is an answer that is none: no three digits, lines of different codes, or too long.
var errReply = errors.New("malformed reply")

// maxReply bounds one reply of the next hop, octets. EHLO replies of some hundred octets are the longest in practice.
const maxReply = 64 << 10

// readReply reads one reply with all its lines. Its line ends become CRLF.
func readReply(r *bufio.Reader) (reply, error) {
	var text []byte
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			if errors.Is(err, io.EOF) && len(line)+len(text) > 0 {
				err = io.ErrUnexpectedEOF
			}
			if errors.Is(err, bufio.ErrBufferFull) {
				err = errReply
			}
			return "", err
		}
		line = trimEnd(line)
		if !replyLine(line) || len(text) > 0 && string(text[:3]) != string(line[:3]) || len(text)+len(line) > maxReply {
			return "", fmt.Errorf("%w: %.60q", errReply, line)
		}
		last := len(line) == 3 || line[3] == ' '
		if text == nil && last {
			return reply(line) + "\r\n", nil
		}
		text = append(append(text, line...), '\r', '\n')
		if last {
			return reply(text), nil
		}
	}
}

// trimEnd cuts LF or CRLF off.
func trimEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line
}

// replyLine tells whether a line is one of a reply (RFC 5321 section 4.2).
func replyLine(l []byte) bool {
	return len(l) >= 3 && '2' <= l[0] && l[0] <= '5' && digit(l[1]) && digit(l[2]) &&
		(len(l) == 3 || l[3] == ' ' || l[3] == '-')
}

func digit(c byte) bool { return '0' <= c && c <= '9' }
