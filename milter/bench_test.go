package milter

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	gomilter "github.com/emersion/go-milter"
	"spamsim/milter/filter"
)

// A stock milter does on emersion/go-milter what a Server does: gathers the message and inserts one field.
type stock struct {
	gomilter.NoOpMilter
	raw bytes.Buffer
}

func (s *stock) Header(name, value string, _ *gomilter.Modifier) (gomilter.Response, error) {
	s.raw.WriteString(name + ": " + value + "\r\n")
	return gomilter.RespContinue, nil
}

func (s *stock) BodyChunk(chunk []byte, _ *gomilter.Modifier) (gomilter.Response, error) {
	s.raw.Write(chunk)
	return gomilter.RespContinue, nil
}

func (s *stock) Body(m *gomilter.Modifier) (gomilter.Response, error) {
	s.raw.Reset()
	return gomilter.RespContinue, m.InsertHeader(0, "X-Spamsim", " clean; id=mx")
}

// A load is a driver that sends messages over and over, as an MTA would: what needs no answer goes out with what follows,
// each answer is waited for.
type load struct {
	conn net.Conn
	r    *bufio.Reader
	c    contract
}

// A script is what is sent up to each answer that is waited for; the last one is that to the end of the message.
type script [][]byte

// benchLetter has 20 header fields and 5 KB.
func benchLetter() letter {
	l := hello
	l.headers = nil
	for range 20 {
		l.headers = append(l.headers, "X-Header-Of-Some-Length\x00 "+strings.Repeat("v", 50))
	}
	l.body = []string{strings.Repeat(strings.Repeat("b", 68)+"\r\n", 50)}
	return l
}

func newLoad(b *testing.B, addr string) *load {
	b.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	d := &load{conn: conn, r: bufio.NewReader(conn)}
	offer := postfix37
	_, _ = conn.Write([]byte(packet('O', number(offer.version)+number(offer.actions)+number(offer.protocol))))
	_, data, err := (&packetReader{r: d.r, between: func() {}, inside: func() {}}).next()
	if err != nil {
		b.Fatal(err)
	}
	word := func(i int) uint32 {
		return uint32(data[4*i])<<24 | uint32(data[4*i+1])<<16 | uint32(data[4*i+2])<<8 | uint32(data[4*i+3])
	}
	d.c = contract{word(0), word(1), word(2)}
	return d
}

// script makes that of one message.
func (c contract) script(l *letter) (out script) {
	part := []byte(packet('A', ""))
	event := func(cmd byte, data string) {
		part = append(part, packet(cmd, data)...)
		if c.answers(cmd) || cmd == 'E' {
			out = append(out, part)
			part = nil
		}
	}
	event('D', "M"+l.macros)
	event('M', l.from+"\x00")
	event('R', l.to[0]+"\x00")
	if c.version >= 4 && c.protocol&noData == 0 {
		event('T', "")
	}
	for _, h := range l.headers {
		event('L', h+"\x00")
	}
	event('N', "")
	for _, body := range l.body {
		event('B', body)
	}
	event('E', "")
	return out
}

// send sends a message.
func (d *load) send(s script) error {
	p := packetReader{r: d.r, between: func() {}, inside: func() {}}
	for i, part := range s {
		if _, err := d.conn.Write(part); err != nil {
			return err
		}
		for {
			cmd, _, err := p.next()
			if err != nil {
				return err
			}
			if cmd == 'c' {
				break
			}
			if cmd != 'i' || i != len(s)-1 {
				return io.ErrUnexpectedEOF
			}
		}
	}
	return nil
}

// drive sends b.N messages over eight connections.
func drive(b *testing.B, serve func(net.Listener) error, letters ...letter) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	go func() { _ = serve(l) }()
	var left atomic.Int64
	left.Store(int64(b.N))
	var loads []*load
	for range 8 {
		loads = append(loads, newLoad(b, l.Addr().String()))
	}
	var scripts []script
	octets := 0
	for i := range letters {
		scripts = append(scripts, loads[0].c.script(&letters[i]))
		octets += len(bytes.Join(scripts[i], nil))
	}
	b.ReportAllocs()
	b.SetBytes(int64(octets / len(scripts)))
	b.ResetTimer()
	var wg sync.WaitGroup
	for _, d := range loads {
		wg.Go(func() {
			defer d.conn.Close()
			for n := left.Add(-1); n >= 0; n = left.Add(-1) {
				if err := d.send(scripts[n%int64(len(scripts))]); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
}

// BenchmarkSessions holds the server against emersion/go-milter's in one run, both gathering the message and inserting
// one field: 5 KB, 20 fields, 8 connections of TCP.
func BenchmarkSessions(b *testing.B) {
	b.Run("ours", func(b *testing.B) {
		s := &Server{Check: always(filter.Judgement{Add: tagged.Add})}
		defer s.Close()
		drive(b, s.Serve, benchLetter())
	})
	b.Run("go-milter", func(b *testing.B) {
		s := &gomilter.Server{
			NewMilter: func() gomilter.Milter { return &stock{} },
			Actions:   gomilter.OptAddHeader | gomilter.OptChangeHeader | gomilter.OptQuarantine,
		}
		defer s.Close()
		drive(b, s.Serve, benchLetter())
	})
}
