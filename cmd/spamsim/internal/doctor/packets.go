package doctor

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"

	"spamsim/cmd/spamsim/internal/config"
)

// maxPacket bounds an answer of a milter, in octets: that to the negotiation has 13, and more only where the milter asks for
// macros of its own.
const maxPacket = 4096

// reach connects to a listener, for no longer than everything that is asked of it may take; where nobody answers it says so and
// returns nil.
func (f *findings) reach(ctx context.Context, leg string, a config.Address) net.Conn {
	d := net.Dialer{Timeout: timeout}
	conn, err := d.DialContext(ctx, a.Network, reachable(a))
	if err != nil {
		f.add(leg, Danger, "nobody answers: %v", err)
		return nil
	}
	_ = conn.SetDeadline(time.Now().Add(timeout))
	return conn
}

// milter negotiates as Postfix 3.7 does (SMFIC_OPTNEG, version 6) and takes its leave.
func (f *findings) milter(ctx context.Context, a config.Address) {
	leg := "milter " + a.String()
	conn := f.reach(ctx, leg, a)
	if conn == nil {
		return
	}
	defer conn.Close()
	version, err := negotiate(conn)
	if err != nil {
		f.add(leg, Danger, "no milter: %v", err)
		return
	}
	f.add(leg, Good, "speaks version %d of the protocol", version)
	if a.Network == "tcp" && !loopback(a) {
		f.add(leg, Danger, "open to the network: the protocol knows no password, and whoever reaches it can have mail counted. "+
			"Listen on loopback or a Unix socket")
	}
}

// negotiate offers what Postfix offers and returns the version that is answered.
func negotiate(conn io.ReadWriter) (version uint32, err error) {
	offer := []byte{0, 0, 0, 13, 'O', 0, 0, 0, 6, 0, 0, 0x01, 0xff, 0, 0x1f, 0xff, 0xff}
	if _, err := conn.Write(offer); err != nil {
		return 0, err
	}
	var head [5]byte
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return 0, err
	}
	n := binary.BigEndian.Uint32(head[:4])
	if head[4] != 'O' || n < 13 || n > maxPacket {
		return 0, fmt.Errorf("the negotiation is answered by %d octets of type %q", n, head[4])
	}
	body := make([]byte, n-1)
	if _, err := io.ReadFull(conn, body); err != nil {
		return 0, err
	}
	_, _ = conn.Write([]byte{0, 0, 0, 1, 'Q'})
	return binary.BigEndian.Uint32(body), nil
}

// scanner asks about a message without counting it.
func (f *findings) scanner(ctx context.Context, a config.Address) {
	leg := "dccifd " + a.String()
	conn := f.reach(ctx, leg, a)
	if conn == nil {
		return
	}
	defer conn.Close()
	_, err := io.WriteString(conn, "query header\n127.0.0.1\ndoctor\n\n\n\nSubject: doctor\n\nNobody needs this.\n")
	if half, ok := conn.(interface{ CloseWrite() error }); ok && err == nil {
		err = half.CloseWrite()
	}
	if err != nil {
		f.add(leg, Danger, "a question is not taken: %v", err)
		return
	}
	s := bufio.NewScanner(io.LimitReader(conn, maxPacket))
	var lines []string
	for s.Scan() {
		lines = append(lines, s.Text())
	}
	if len(lines) == 0 || lines[0] != "A" {
		f.add(leg, Danger, "a question is answered %q", lines)
		return
	}
	f.add(leg, Good, "answers")
	if a.Network == "tcp" && !loopback(a) {
		f.add(leg, Danger, "open to the network: whoever reaches it can have mail counted. Listen on loopback or a Unix socket")
	}
}
