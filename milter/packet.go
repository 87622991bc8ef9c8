package milter

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// maxPacket bounds one packet in octets. Bodies come in pieces of 64 KiB, a header field of Postfix has at most 100 KiB
// (header_size_limit); a site that raised that tenfold still fits.
const maxPacket = 1 << 20

// errPacket is wrapped by every error about a packet that no MTA sends.
var errPacket = errors.New("malformed milter packet")

// A packetReader reads packets: a length of 32 bits, high octet first, that counts what follows; a command; its data.
type packetReader struct {
	r    *bufio.Reader
	head [4]byte // here, since it would be an allocation for each packet in next
	buf  []byte  // of the packet now looked at

	// between is called before the first octet of a packet is waited for, inside before the rest is.
	between, inside func()
}

// next reads a packet. Its data is valid until the next call. The error is that of the connection where it ended
// between two packets, and wraps errPacket where it did within one.
func (p *packetReader) next() (cmd byte, data []byte, err error) {
	p.between()
	if p.head[0], err = p.r.ReadByte(); err != nil {
		return 0, nil, err
	}
	p.inside()
	if _, err := io.ReadFull(p.r, p.head[1:]); err != nil {
		return 0, nil, fmt.Errorf("%w: cut short: %v", errPacket, err)
	}
	n := binary.BigEndian.Uint32(p.head[:])
	if n == 0 || n > maxPacket {
		return 0, nil, fmt.Errorf("%w: length %d", errPacket, n)
	}
	if int(n) > cap(p.buf) {
		p.buf = make([]byte, n)
	}
	data = p.buf[:n]
	if _, err := io.ReadFull(p.r, data); err != nil {
		return 0, nil, fmt.Errorf("%w: cut short: %v", errPacket, err)
	}
	return data[0], data[1:], nil
}

// writePacket writes an answer whose data is the pieces one after the other. The writer keeps the first error.
func writePacket(w *bufio.Writer, cmd byte, pieces ...string) {
	n := 1
	for _, p := range pieces {
		n += len(p)
	}
	var head [5]byte
	binary.BigEndian.PutUint32(head[:], uint32(n))
	head[4] = cmd
	_, _ = w.Write(head[:])
	for _, p := range pieces {
		_, _ = w.WriteString(p)
	}
}

// number is 32 bits as they go over the wire.
func number(n uint32) string {
	return string(binary.BigEndian.AppendUint32(nil, n))
}
