package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
)

// A carrier brings the index from memory to a file or back, so that one description of the format (memory.carry) serves both
// ways. Numbers are little endian and go in blocks. After the first error it moves nothing more.
type carrier struct {
	w    io.Writer // nil where it reads
	r    io.Reader
	left int64 // octets that there are still to read
	buf  []byte
	at   int // in buf, where it reads
	err  error
}

var errCut = errors.New("it is cut")

func (c *carrier) reads() bool { return c.w == nil }

// octets moves all of b.
func (c *carrier) octets(b []byte) {
	switch {
	case c.err != nil:
	case !c.reads():
		_, c.err = c.w.Write(b)
	case int64(len(b)) > c.left:
		c.err = errCut
	default:
		c.left -= int64(len(b))
		_, c.err = io.ReadFull(c.r, b)
	}
}

// block moves the numbers that do names, of size octets together.
func (c *carrier) block(size int, do func()) {
	if !c.reads() {
		c.buf = c.buf[:0]
		do()
		c.octets(c.buf)
		return
	}
	if c.err == nil && int64(size) > c.left {
		c.err = errCut
	}
	if c.err != nil {
		return
	}
	if cap(c.buf) < size {
		c.buf = make([]byte, size)
	}
	c.buf, c.at = c.buf[:size], 0
	if c.octets(c.buf); c.err == nil {
		do()
	}
}

func (c *carrier) u64(v *uint64) {
	if !c.reads() {
		c.buf = binary.LittleEndian.AppendUint64(c.buf, *v)
		return
	}
	*v = binary.LittleEndian.Uint64(c.buf[c.at:])
	c.at += 8
}

func (c *carrier) u32(v *uint32) {
	if !c.reads() {
		c.buf = binary.LittleEndian.AppendUint32(c.buf, *v)
		return
	}
	*v = binary.LittleEndian.Uint32(c.buf[c.at:])
	c.at += 4
}

func (c *carrier) u16(v *uint16) {
	if !c.reads() {
		c.buf = binary.LittleEndian.AppendUint16(c.buf, *v)
		return
	}
	*v = binary.LittleEndian.Uint16(c.buf[c.at:])
	c.at += 2
}

func (c *carrier) u8(v *uint8) {
	if !c.reads() {
		c.buf = append(c.buf, *v)
		return
	}
	*v = c.buf[c.at]
	c.at++
}

func (c *carrier) f32(v *float32) {
	bits := math.Float32bits(*v)
	c.u32(&bits)
	*v = math.Float32frombits(bits)
}

// count moves how many things follow, each of size octets and more: no more than there can be.
func (c *carrier) count(n, size int) int {
	v := uint64(n)
	c.block(8, func() { c.u64(&v) })
	if c.reads() && c.err == nil && v > uint64(c.left)/uint64(size) {
		c.err = fmt.Errorf("%w: %d things of %d octets in %d", errCut, v, size, c.left)
	}
	if c.err != nil {
		return 0
	}
	return int(v)
}

// numbers moves a few single ones.
func (c *carrier) numbers(all ...*int) {
	c.block(8*len(all), func() {
		for _, n := range all {
			v := uint64(*n)
			c.u64(&v)
			*n = int(v)
		}
	})
}

// carryPart is how many things are moved in a block.
const carryPart = 1 << 12

// words moves a list of numbers.
func (c *carrier) words(s *[]uint32) {
	n := c.count(len(*s), 4)
	if c.reads() {
		*s = make([]uint32, n)
	}
	for rest := (*s)[:n]; len(rest) > 0; {
		part := rest[:min(carryPart, len(rest))]
		rest = rest[len(part):]
		c.block(4*len(part), func() {
			for i := range part {
				c.u32(&part[i])
			}
		})
	}
}

// carryMap moves a map.
func carryMap[V ~uint64](c *carrier, m *map[uint64]V) {
	n := c.count(len(*m), 16)
	if !c.reads() {
		for k, v := range *m {
			c.block(16, func() { w := uint64(v); c.u64(&k); c.u64(&w) })
		}
		return
	}
	*m = make(map[uint64]V, n)
	for ; n > 0 && c.err == nil; n -= min(n, carryPart) {
		part := min(n, carryPart)
		c.block(16*part, func() {
			for range part {
				var k, v uint64
				c.u64(&k)
				c.u64(&v)
				(*m)[k] = V(v)
			}
		})
	}
}

// carry moves all that is known of live clusters, but for what is in the background and in the file.
func (m *memory) carry(c *carrier) {
	top := int(m.top)
	c.numbers(&top, &m.live, &m.many)
	m.top = uint32(top)
	c.words(&m.free)
	c.words(&m.vacated)
	m.carrySlab(c)
	m.carryGrown(c)
	for i := range m.handles {
		c.numbers(&m.handles[i].used)
		c.words(&m.handles[i].slots)
	}
	m.ids.carry(c)
	m.post.lists.carry(c)
	m.post.carry(c)
}

// soloOctets is what a solo takes in a snapshot.
const soloOctets = 8 + 32 + 8 + 8 + 4 + 4 + 4 + 2*2 + 3

func (c *carrier) solo(s *solo) {
	c.u64(&s.seq)
	for i := range s.nilsimsa {
		c.u64(&s.nilsimsa[i])
	}
	c.u64(&s.simhash)
	c.u64(&s.sender)
	c.u32(&s.place)
	c.u32(&s.last)
	c.f32(&s.tau)
	c.u16(&s.whole[0])
	c.u16(&s.whole[1])
	c.u8(&s.nets)
	c.u8(&s.rcpts)
	c.u8((*uint8)(&s.state))
}

func (m *memory) carrySlab(c *carrier) {
	for n := c.count(len(m.slab), slabSize*soloOctets); n > len(m.slab); {
		m.slab = append(m.slab, new([slabSize]solo))
	}
	for _, some := range m.slab {
		c.block(slabSize*soloOctets, func() {
			for i := range some {
				c.solo(&some[i])
			}
		})
	}
}

// carryGrown moves the clusters of more than a message: of each its seq, 0 for none, its heat, which its record does not have,
// and that record.
func (m *memory) carryGrown(c *carrier) {
	n := c.count(len(m.grown), 16)
	if c.reads() {
		m.grown = make([]*cluster, n)
	}
	for i := range m.grown {
		at, size, record := &cluster{}, uint32(0), []byte(nil)
		if !c.reads() && m.grown[i] != nil {
			at = m.grown[i]
			record = at.marshal()
			size = uint32(len(record))
		}
		c.block(16, func() { c.u64(&at.seq); c.f32(&at.heat); c.u32(&size) })
		if c.err != nil || at.seq == 0 {
			continue
		}
		if c.reads() {
			m.grown[i], record = at, make([]byte, min(int64(size), c.left))
		}
		if c.octets(record); c.reads() && c.err == nil {
			c.err = at.unmarshal(record)
		}
	}
}

func (a *arena) carry(c *carrier) {
	top := int(a.top)
	c.numbers(&top)
	a.top = uint32(top)
	c.words(&a.free)
	for n := c.count(len(a.pages), pageSize); n > len(a.pages); {
		a.pages = append(a.pages, new([pageSize]byte))
	}
	for _, page := range a.pages {
		c.octets(page[:])
	}
}

func (p *postings) carry(c *carrier) {
	var sizes [len(p.shards)]uint32
	c.block(8*len(p.shards), func() {
		for i := range p.shards {
			sizes[i] = uint32(len(p.shards[i].octets))
			c.u32(&p.shards[i].used)
			c.u32(&sizes[i])
		}
	})
	for i := range p.shards {
		s := &p.shards[i]
		if c.reads() {
			if int64(sizes[i]) > c.left {
				c.err = errCut
			}
			if c.err != nil {
				break
			}
			s.octets = make([]byte, sizes[i])
		}
		c.octets(s.octets)
	}
}
