package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// A record is a cluster as bytes, all numbers little endian unless said: a version byte; label byte; copies u32; first and
// last i64, Unix seconds; tau as the bits of a float32; Nilsimsa code 4 x u64; SimHash u64; elements: u16 how many, then
// each id u32, count, since, weight a byte each; three tallies (senders, networks, recipients): u16 how many, u32 over,
// then each key u64 and count u32; name: u8 octets, then those, UTF-8; sample: the rest, UTF-8.

// Version 3 has ids of 32 bits, of which the high ones and the lowest make those of today. Version 2 has no name beside. Version 1 has none and differs in that the lowest bit of an id says nothing (octetBit) and that one id stood for a whole attachment:
// its ids are read as those of text, and what they were of attachments matches nothing any more.
const (
	recordVersion     = 4
	recordOfLongIDs   = 3
	recordWithoutName = 2
	recordWithoutBit  = 1
)

// ErrRecord is wrapped by errors about a record of the store that cannot be read.
var ErrRecord = errors.New("damaged record")

func (c *cluster) marshal() []byte {
	le := binary.LittleEndian
	b := make([]byte, 0, 128+7*c.elements.len()+12*(len(c.senders.seen)+len(c.nets.seen)+len(c.rcpts.seen)))
	b = append(b, recordVersion, byte(c.label))
	b = le.AppendUint32(b, c.copies)
	b = le.AppendUint64(b, uint64(c.first))
	b = le.AppendUint64(b, uint64(c.last))
	b = le.AppendUint32(b, math.Float32bits(c.tau))
	for _, w := range c.nilsimsa {
		b = le.AppendUint64(b, w)
	}
	b = le.AppendUint64(b, c.simhash)
	b = le.AppendUint16(b, uint16(c.elements.len()))
	for _, e := range c.elements.unpack() {
		b = append(le.AppendUint32(b, e.id), e.count, e.since, e.w)
	}
	for _, t := range []*tally{&c.senders, &c.nets, &c.rcpts} {
		b = le.AppendUint32(le.AppendUint16(b, uint16(len(t.seen))), t.over)
		for _, s := range t.seen {
			b = le.AppendUint32(le.AppendUint64(b, s.key), s.n)
		}
	}
	name := ""
	if c.name != nil {
		name = *c.name
	}
	b = append(append(b, byte(len(name))), name...)
	return append(b, c.sample...)
}

// unmarshal reads a record. Nothing of data is kept.
func (c *cluster) unmarshal(data []byte) error {
	r := reader{data: data}
	version := r.byte()
	id := func(id uint32) uint32 { return idOf(id) | id&octetBit }
	switch version {
	case recordVersion:
		id = func(id uint32) uint32 { return id & idMask }
	case recordOfLongIDs, recordWithoutName:
	case recordWithoutBit:
		id = idOf
	default:
		return fmt.Errorf("%w: version %d", ErrRecord, version)
	}
	c.label = Label(r.byte())
	c.copies = r.u32()
	c.first, c.last = int64(r.u64()), int64(r.u64())
	c.tau = r.float32()
	for i := range c.nilsimsa {
		c.nilsimsa[i] = r.u64()
	}
	c.simhash = r.u64()
	es := make([]element, r.room(elementSize))
	for i := range es {
		es[i] = element{id(r.u32()), r.byte(), max(1, r.byte()), r.byte()}
	}
	c.elements = pack(nil, es)
	for _, t := range []*tally{&c.senders, &c.nets, &c.rcpts} {
		t.read(&r)
	}
	if version >= recordOfLongIDs {
		c.setName(string(r.take(int(r.byte()))))
	}
	c.sample = string(r.data)
	if r.cut {
		return fmt.Errorf("%w: it is cut", ErrRecord)
	}
	if c.label > Ham || c.copies == 0 {
		return fmt.Errorf("%w: label %d, %d copies", ErrRecord, c.label, c.copies)
	}
	return nil
}

// elementSize is how many octets an element takes in a record.
const elementSize = 7

// read takes a tally off the front of a record.
func (t *tally) read(r *reader) {
	n := r.u16()
	t.over = r.u32()
	for range min(n, exactTally) {
		t.seen = append(t.seen, tallied{r.u64(), r.u32()})
	}
}

// A reader takes numbers off the front of data; past the end they are 0 and cut is set.
type reader struct {
	data []byte
	cut  bool
}

func (r *reader) take(n int) []byte {
	if len(r.data) < n {
		r.cut, r.data = true, nil
		return make([]byte, n)
	}
	b := r.data[:n]
	r.data = r.data[n:]
	return b
}

func (r *reader) byte() byte       { return r.take(1)[0] }
func (r *reader) u16() uint16      { return binary.LittleEndian.Uint16(r.take(2)) }
func (r *reader) u32() uint32      { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *reader) float32() float32 { return math.Float32frombits(r.u32()) }
func (r *reader) u64() uint64      { return binary.LittleEndian.Uint64(r.take(8)) }

// room reads how many items of a size follow, and no more than there can be.
func (r *reader) room(size int) int {
	n := int(r.u16())
	if n*size > len(r.data) {
		r.cut = true
		return len(r.data) / size
	}
	return n
}
