package smtpproxy

import (
	"bytes"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"spamsim/milter/filter"
)

// A tape is a connection whose client has said everything already, in pieces, and then closes.
type tape struct {
	net.Conn
	in    []byte
	piece int
	out   bytes.Buffer
	done  chan struct{}
	once  sync.Once
}

func (c *tape) Read(p []byte) (int, error) {
	if len(c.in) == 0 {
		return 0, io.EOF
	}
	n := copy(p, c.in[:min(len(c.in), c.piece)])
	c.in = c.in[n:]
	return n, nil
}

func (c *tape) Write(p []byte) (int, error) { return c.out.Write(p) }

func (c *tape) Close() error {
	c.once.Do(func() { close(c.done) })
	return nil
}

func (c *tape) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1} }
func (c *tape) LocalAddr() net.Addr              { return c.RemoteAddr() }
func (c *tape) SetReadDeadline(time.Time) error  { return nil }
func (c *tape) SetWriteDeadline(time.Time) error { return nil }

// A ledger is a next hop in memory. It keeps the rules that a real one would enforce, and says where they are broken.
type ledger struct {
	t       testing.TB
	offer   features
	content [][]byte
}

func (l *ledger) features() (features, error) { return l.offer, nil }
func (l *ledger) begin() (delivery, error)    { return &entry{ledger: l}, nil }
func (l *ledger) close()                      {}

type entry struct {
	*ledger
	lines   []string
	asked   int
	taken   int
	open    bool
	over    bool
	content bytes.Buffer
}

func (e *entry) features() *features { return &e.offer }

func (e *entry) command(verb, line string) {
	if !strings.EqualFold(line[:4], verb) || strings.ContainsAny(line, "\r\n\x00") || e.open || e.over {
		e.t.Errorf("command %q, open %v, over %v", line, e.open, e.over)
	}
	e.lines = append(e.lines, line)
}

func (e *entry) mail(line string, _ xforward) {
	if len(e.lines) > 0 {
		e.t.Errorf("MAIL twice: %q", line)
	}
	e.command("MAIL", line)
}

func (e *entry) rcpt(line string) { e.command("RCPT", line) }

// next takes every address without an x.
func (e *entry) next() (reply, error) {
	if e.asked == len(e.lines) {
		e.t.Error("an answer to nothing")
		return "", errAnswer
	}
	line := e.lines[e.asked]
	e.asked++
	switch {
	case strings.Contains(line, "y"):
		return "", io.ErrUnexpectedEOF
	case strings.Contains(line, "x"):
		return "550 5.1.1 x\r\n", nil
	case e.asked > 1:
		e.taken++
	}
	return "250 2.1.5 Ok\r\n", nil
}

func (e *entry) data() (reply, error) {
	if e.asked < len(e.lines) || e.taken == 0 || e.open || e.over {
		e.t.Errorf("DATA after %q, %d answers, %d taken", e.lines, e.asked, e.taken)
	}
	e.open = true
	return replyReady, nil
}

func (e *entry) trace(*filter.Envelope) []filter.Field { return nil }

func (e *entry) Write(p []byte) (int, error) {
	if !e.open || e.over {
		e.t.Error("content out of order")
	}
	return e.content.Write(p)
}

func (e *entry) commit(sure func() bool) ([]reply, error) {
	if !sure() {
		return nil, errNotSure
	}
	e.over = true
	e.ledger.content = append(e.ledger.content, e.content.Bytes())
	return []reply{"250 2.0.0 Ok: kept\r\n"}, nil
}

func (e *entry) drop()  { e.over = true }
func (e *entry) abort() {}

// A oneShot is a listener with a single connection.
type oneShot struct {
	conn chan net.Conn
	addr net.Addr
}

func (l *oneShot) Accept() (net.Conn, error) {
	c, ok := <-l.conn
	if !ok {
		return nil, net.ErrClosed
	}
	return c, nil
}
func (l *oneShot) Close() error   { return nil }
func (l *oneShot) Addr() net.Addr { return l.addr }

// FuzzDialogue: whatever a client says, in whatever pieces, the next hop is spoken to in order, each message that it
// takes is one that the client was told of and that stood in its words with its end, and the answers are replies.
func FuzzDialogue(f *testing.F) {
	for _, s := range []string{
		"EHLO a\r\nMAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nDATA\r\nhi\r\n.\r\nQUIT\r\n",
		"HELO a\r\nMAIL FROM:<>\r\nRCPT TO:<x@d>\r\nRCPT TO:<c@d>\r\nNOOP\r\nDATA\r\n..\n.\r\nRSET\r\n.\r\nMAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nDATA\r\n.\r\n",
		"EHLO a\r\nXFORWARD ADDR=1.2.3.4\r\nMAIL FROM:<a@b>\r\nRCPT TO:<y@d>\r\nDATA\r\nMAIL FROM:<a@b>\r\nRSET\r\nEHLO b\r\n",
		"EHLO a\r\nMAIL FROM:<a@b>\r\nRCPT TO:<c@d>\r\nBDAT 6 LAST\r\nDATA\r\nDATA\r\n" + strings.Repeat("z", 300) + "\r\n.\r\n",
		"EHLO a\r\nMAIL FROM:<x@b>\r\nMAIL FROM:<a@b>\r\nDATA\r\nRCPT TO:<c@d>\r\nDATA\r\n.\r\nVRFY\r\n\r\nA\r\nQUIT\r\nNOOP\r\n",
	} {
		f.Add([]byte(s), 1, true)
		f.Add([]byte(s), 1<<20, false)
	}
	f.Fuzz(func(t *testing.T, said []byte, piece int, pipelining bool) {
		l := &ledger{t: t, offer: features{pipelining: pipelining, eightBit: true}}
		s, err := New(Config{NextHop: "smtp://127.0.0.1:1", Trusted: loopback, MaxJudged: 200, MaxMessage: 100_000})
		if err != nil {
			t.Fatal(err)
		}
		s.hop = l
		c := &tape{in: said, piece: max(1, piece), done: make(chan struct{})}
		listener := &oneShot{conn: make(chan net.Conn, 1), addr: c.LocalAddr()}
		listener.conn <- c
		close(listener.conn)
		_ = s.Serve(listener)
		<-c.done
		checkAnswers(t, c.out.String(), l.content, said)
		if st := s.Stats(); st.Held != 0 || st.Delivered != int64(len(l.content)) {
			t.Errorf("%+v, %d kept", st, len(l.content))
		}
	})
}

// checkAnswers compares what a client was told with what the next hop took.
func checkAnswers(t *testing.T, told string, kept [][]byte, said []byte) {
	t.Helper()
	n := 0
	for line := range strings.Lines(told) {
		if !replyLine([]byte(line)) || !strings.HasSuffix(line, "\r\n") {
			t.Errorf("answer %q", line)
		}
		if strings.HasSuffix(line, "Ok: kept\r\n") {
			n++
		}
	}
	if n != len(kept) {
		t.Errorf("told of %d messages, %d were kept:\n%s", n, len(kept), told)
	}
	if ends := bytes.Count(said, []byte("\n.\r\n")); len(kept) > ends { // "DATA" LF is taken for a command
		t.Errorf("%d messages of %d ends", len(kept), ends)
	}
	for _, content := range kept {
		if len(content) > 0 && !bytes.HasSuffix(content, []byte("\r\n")) {
			t.Errorf("content %q", content)
		}
	}
}
