package doctor

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/textproto"
	"strings"
	"time"

	"spamsim/cmd/spamsim/internal/config"
)

// A talk is a conversation with an SMTP or LMTP server.
type talk struct {
	conn  net.Conn
	text  *textproto.Conn
	lmtp  bool
	offer map[string]string // keywords of the last EHLO in upper case, with their parameters
}

// dial connects, from an address of this host where from is not nil.
func dial(ctx context.Context, network, addr string, from net.Addr) (*talk, error) {
	d := net.Dialer{Timeout: timeout, LocalAddr: from}
	conn, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &talk{conn: conn, text: textproto.NewConn(conn)}, nil
}

// reachable is the address by which this host reaches a listener: one that is bound to all addresses is here too.
func reachable(a config.Address) string {
	host, port, err := net.SplitHostPort(a.Addr)
	if a.Network == "unix" || err != nil {
		return a.Addr
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

func (t *talk) close() { t.text.Close() }

// ask sends a line and reads the reply; "" sends nothing.
func (t *talk) ask(line string) (code int, text string, err error) {
	_ = t.conn.SetDeadline(time.Now().Add(timeout))
	if line != "" {
		if err := t.text.PrintfLine("%s", line); err != nil {
			return 0, "", err
		}
	}
	code, text, err = t.text.ReadResponse(0)
	if err != nil {
		return 0, "", err
	}
	return code, text, nil
}

// must is ask for what has to be answered 2xx.
func (t *talk) must(line string) (string, error) {
	code, text, err := t.ask(line)
	what := line
	if what == "" {
		what = "the connection"
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("%s is not answered: %w", what, err)
	case code/100 != 2:
		return "", fmt.Errorf("%s is answered %d %s", what, code, firstLine(text))
	}
	return text, nil
}

// greet reads the greeting and says EHLO, or LHLO.
func (t *talk) greet(name string) error {
	if _, err := t.must(""); err != nil {
		return err
	}
	return t.hello(name)
}

func (t *talk) hello(name string) error {
	verb := "EHLO "
	if t.lmtp {
		verb = "LHLO "
	}
	text, err := t.must(verb + name)
	if err != nil {
		return err
	}
	t.offer = map[string]string{}
	for _, line := range strings.Split(text, "\n")[1:] {
		word, args, _ := strings.Cut(line, " ")
		t.offer[strings.ToUpper(word)] = args
	}
	return nil
}

func (t *talk) offers(word string) bool {
	_, ok := t.offer[word]
	return ok
}

// startTLS goes on over TLS and says hello again.
func (t *talk) startTLS(ctx context.Context, c *tls.Config, name string) (*tls.ConnectionState, error) {
	if _, err := t.must("STARTTLS"); err != nil {
		return nil, err
	}
	conn := tls.Client(t.conn, c)
	_ = conn.SetDeadline(time.Now().Add(timeout))
	if err := conn.HandshakeContext(ctx); err != nil {
		return nil, fmt.Errorf("TLS handshake: %w", err)
	}
	t.conn, t.text = conn, textproto.NewConn(conn)
	state := conn.ConnectionState()
	return &state, t.hello(name)
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
