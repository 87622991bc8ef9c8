package milter

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"spamsim/milter/filter"
)

// FuzzPacket: what was written is read back, and any octets are read to their end with no more room than a packet may
// take.
func FuzzPacket(f *testing.F) {
	f.Add([]byte(packet('O', number(6)+number(0x1ff)+number(0x1fffff))))
	f.Add([]byte(packet('L', "Subject\x00 x\x00") + packet('N', "") + packet('B', "x")))
	f.Add([]byte("\x00\x00\x00\x00"))
	f.Add([]byte("\xff\xff\xff\xffX"))
	f.Add([]byte("\x00\x00\x00\x05L12"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		w := bufio.NewWriter(&out)
		p := packetReader{r: bufio.NewReader(bytes.NewReader(in)), between: func() {}, inside: func() {}}
		for {
			cmd, data, err := p.next()
			if err != nil {
				break
			}
			writePacket(w, cmd, string(data[:len(data)/2]), string(data[len(data)/2:]))
		}
		w.Flush()
		if !bytes.HasPrefix(in, out.Bytes()) {
			t.Errorf("%q was read as %q", in, out.Bytes())
		}
		if cap(p.buf) > maxPacket {
			t.Errorf("%d octets of room for a packet", cap(p.buf))
		}
	})
}

// A replay is a connection on which an MTA says what it says, whatever the answers.
type replay struct {
	net.Conn
	in  *bytes.Reader
	out bytes.Buffer
}

func (r *replay) Read(p []byte) (int, error)       { return r.in.Read(p) }
func (r *replay) Write(p []byte) (int, error)      { return r.out.Write(p) }
func (r *replay) SetReadDeadline(time.Time) error  { return nil }
func (r *replay) SetWriteDeadline(time.Time) error { return nil }
func (r *replay) Close() error                     { return nil }

// FuzzSession: an MTA may say anything. The filter is asked once for each end that came, of a message whose header
// block ends in an empty line; each answer is one of those that the protocol has; nothing stays held.
func FuzzSession(f *testing.F) {
	offer := packet('O', number(6)+number(0x1ff)+number(0x1fffff))
	old := packet('O', number(2)+number(0x3f)+number(0x7f))
	mail := packet('D', "Cj\x00mx\x00") + packet('C', "h\x004\x30\x39192.0.2.7\x00") + packet('H', "h\x00") +
		packet('D', "Mi\x004F\x00{auth_authen}\x00u\x00") + packet('M', "<a@b>\x00") + packet('R', "<c@d>\x00") +
		packet('L', "X-Spamsim\x00 forged\n\tfold\x00") + packet('N', "") + packet('B', "body\r\n") + packet('E', "")
	f.Add([]byte(offer + mail + packet('A', "") + mail + packet('Q', "")))
	f.Add([]byte(old + mail + packet('K', "") + mail))
	f.Add([]byte(offer + packet('E', "") + packet('E', "x") + packet('B', "x") + packet('A', "") + packet('L', "") + packet('L', "a") + packet('D', "") + packet('C', "")))
	f.Add([]byte(offer + packet('B', strings.Repeat("x", 3000)) + packet('E', "") + packet('M', "") + packet('R', strings.Repeat("r", 3000)) + packet('E', "")))
	f.Fuzz(func(t *testing.T, in []byte) {
		asked := 0
		s := &Server{MaxMessage: 2000, MaxHeld: 1500, Check: func(_ context.Context, env *filter.Envelope, raw []byte) filter.Judgement {
			asked++
			if len(raw) > 2*2000 || !bytes.Contains(raw, []byte("\r\n")) {
				t.Errorf("asked about %d octets: %q", len(raw), raw)
			}
			return tagged
		}}
		s.init()
		conn := &replay{in: bytes.NewReader(in)}
		c := newSession(s, conn)
		_ = c.Converse()
		c.reset()
		if n := s.held.Held(); n != 0 {
			t.Errorf("%d octets are still held", n)
		}
		n := s.Stats()
		if int64(asked) != n.Messages-n.Skipped-n.Refused {
			t.Errorf("asked %d times, counted %+v", asked, n)
		}
		p := packetReader{r: bufio.NewReader(&conn.out), between: func() {}, inside: func() {}}
		for {
			cmd, data, err := p.next()
			if err == io.EOF {
				return
			}
			if err != nil || !strings.ContainsRune("Ocimy", rune(cmd)) {
				t.Fatalf("answered %q %q, %v", cmd, data, err)
			}
		}
	})
}
