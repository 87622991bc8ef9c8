package smtpproxy

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pires/go-proxyproto"

	"spamsim/milter/filter"
)

type (
	judgement = filter.Judgement
	envelope  = filter.Envelope
	checkFunc = filter.CheckFunc
)

// What a fake next hop can do in place of an answer.
const (
	hangUp  = "hang up"  // close the connection
	silence = "silence"  // say nothing, for as long as the connection lasts
	garbage = "nonsense" // say what is no reply
)

// offer is what a fake next hop offers unless told otherwise.
var offer = []string{"PIPELINING", "SIZE 104857600", "8BITMIME", "ENHANCEDSTATUSCODES", "SMTPUTF8", "DSN", "CHUNKING",
	"STARTTLS", "X-UNHEARD-OF", "XFORWARD NAME ADDR PORT PROTO HELO IDENT SOURCE"}

// A fake is a next hop whose answers a test decides.
type fake struct {
	addr  string
	offer []string
	lmtp  bool
	proxy bool        // reads a PROXY header before it says anything
	tls   *tls.Config // of STARTTLS; nil takes it and goes on in plain text
	// answer is asked for each step: a command line, "greeting", or "." for the final dot. "" is the usual answer.
	answer func(conn int, line string) string

	l    net.Listener
	wg   sync.WaitGroup
	mu   sync.Mutex
	open map[net.Conn]bool
	said []string // lines of all connections
	from []string // the client of each connection, as its PROXY header says
	kept []kept
	cut  int      // contents without a final dot
	torn []string // these
	row  int      // commands behind which a further one lay already
	n    int      // connections
}

// A kept is a message that was accepted.
type kept struct {
	conn     int
	envelope []string // MAIL and RCPT lines
	content  []byte
	secure   bool // came over TLS
}

// newFake starts a next hop. Fields are to be set by the function.
func newFake(t testing.TB, set func(*fake)) *fake {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{addr: l.Addr().String(), offer: offer, l: l, open: map[net.Conn]bool{}}
	if set != nil {
		set(f)
	}
	f.wg.Go(f.accept)
	t.Cleanup(f.stop)
	return f
}

func (f *fake) url() string {
	if f.lmtp {
		return "lmtp://" + f.addr
	}
	return "smtp://" + f.addr
}

func (f *fake) stop() {
	f.l.Close()
	f.mu.Lock()
	for c := range f.open {
		c.Close()
	}
	f.mu.Unlock()
	f.wg.Wait()
}

// cutAll closes the connections that are open.
func (f *fake) cutAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for c := range f.open {
		c.Close()
	}
}

func (f *fake) accept() {
	for {
		conn, err := f.l.Accept()
		if err != nil {
			return
		}
		f.mu.Lock()
		f.n++
		c := &fakeConn{fake: f, conn: conn, r: bufio.NewReader(conn), n: f.n}
		f.open[conn] = true
		f.mu.Unlock()
		f.wg.Go(func() {
			c.serve()
			conn.Close()
			f.mu.Lock()
			delete(f.open, conn)
			f.mu.Unlock()
		})
	}
}

// mails returns what was accepted so far.
func (f *fake) mails() []kept {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.kept)
}

// lines returns the command lines of so far.
func (f *fake) lines() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.said)
}

// clients returns what the PROXY headers of so far say.
func (f *fake) clients() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.from)
}

// counts returns how many connections there were and how many contents were cut.
func (f *fake) counts() (conns, cut int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.n, f.cut
}

// inRow returns how many commands came together with a further one.
func (f *fake) inRow() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.row
}

type fakeConn struct {
	*fake
	conn net.Conn
	r    *bufio.Reader
	n    int
	mail kept
	took int // recipients
}

func (c *fakeConn) serve() {
	if c.proxy {
		h, err := proxyproto.Read(c.r)
		if err != nil {
			return
		}
		c.mu.Lock()
		c.from = append(c.from, fmt.Sprintf("v%d %v %v", h.Version, h.SourceAddr, h.DestinationAddr))
		c.mu.Unlock()
	}
	if !c.say(c.decide("greeting", "220 hop.test ESMTP")) {
		return
	}
	for {
		line, err := c.r.ReadString('\n')
		if err != nil {
			return
		}
		line = strings.TrimRight(line, "\r\n")
		c.mu.Lock()
		c.said = append(c.said, line)
		if c.r.Buffered() > 0 {
			c.row++
		}
		c.mu.Unlock()
		if !c.command(line) {
			return
		}
	}
}

func (c *fakeConn) decide(step, usual string) string {
	if c.fake.answer != nil {
		if a := c.fake.answer(c.n, step); a != "" {
			return a
		}
	}
	return usual
}

// say sends a reply, lines parted by LF; false ends the connection.
func (c *fakeConn) say(r string) bool {
	switch r {
	case hangUp:
		return false
	case silence:
		_, _ = io.Copy(io.Discard, c.r)
		return false
	}
	_, err := io.WriteString(c.conn, strings.ReplaceAll(r, "\n", "\r\n")+"\r\n")
	return err == nil && !strings.HasPrefix(r, "421") && !strings.HasPrefix(r, "221")
}

func (c *fakeConn) command(line string) bool {
	verb, _, _ := strings.Cut(strings.ToUpper(line), " ")
	usual := "250 2.0.0 Ok"
	switch verb {
	case "EHLO", "LHLO":
		usual = c.keywords()
	case "DATA":
		usual = "354 go ahead"
	case "QUIT":
		usual = "221 2.0.0 Bye"
	}
	r := c.decide(line, usual)
	if r[0] == '2' || r[0] == '3' {
		switch verb {
		case "MAIL":
			c.mail, c.took = kept{conn: c.n, envelope: []string{line}}, 0
		case "RCPT":
			c.mail.envelope = append(c.mail.envelope, line)
			c.took++
		case "DATA":
			return c.say(r) && (r[:3] != "354" || c.content())
		}
	}
	return c.say(r) && (verb != "STARTTLS" || c.tls == nil || r[0] != '2' || c.encrypt())
}

// encrypt goes on over TLS.
func (c *fakeConn) encrypt() bool {
	conn := tls.Server(c.conn, c.tls)
	c.conn, c.r = conn, bufio.NewReader(conn)
	return conn.Handshake() == nil
}

func (c *fakeConn) keywords() string {
	c.mu.Lock()
	lines := append([]string{"hop.test"}, c.offer...)
	c.mu.Unlock()
	for i := range lines {
		sep := "-"
		if i == len(lines)-1 {
			sep = " "
		}
		lines[i] = "250" + sep + lines[i]
	}
	return strings.Join(lines, "\n")
}

// content reads a message and answers it: once, or with LMTP for each recipient.
func (c *fakeConn) content() bool {
	if step := c.decide("content", ""); step != "" {
		_, _ = c.r.Peek(1)
		return c.say(step)
	}
	wire, ok := readWire(c.r)
	if !ok {
		c.mu.Lock()
		c.cut++
		c.torn = append(c.torn, string(wire))
		c.mu.Unlock()
		return false
	}
	answers := 1
	if c.lmtp {
		answers = c.took
	}
	for range answers {
		r := c.decide(".", fmt.Sprintf("250 2.0.0 Ok: queued as %d", c.n))
		if r[0] == '2' {
			c.mail.content = unstuff(wire)
			_, c.mail.secure = c.conn.(*tls.Conn)
			c.mu.Lock()
			c.kept = append(c.kept, c.mail)
			c.mu.Unlock()
		}
		if !c.say(r) {
			return false
		}
	}
	return true
}

// readWire reads up to CRLF.CRLF, and no octet more.
func readWire(r *bufio.Reader) (wire []byte, ok bool) {
	for {
		line, err := r.ReadBytes('\n')
		wire = append(wire, line...)
		if err != nil {
			return wire, false
		}
		if bytes.HasSuffix(wire, []byte("\r\n.\r\n")) || len(wire) == 3 && string(wire) == ".\r\n" {
			return wire[:len(wire)-3], true
		}
	}
}
