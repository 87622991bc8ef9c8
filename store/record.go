package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// A record is a cluster as bytes, all numbers little endian unless said: a version byte; label byte; copies u32; first and
// last i64, Unix seconds; tau as the bits of a float32; Nilsimsa code 4 x u64; SimHash u64; elements: whether they have
// counts, a byte, and u16 how many, then each id u32 and weight, a byte; where they have counts, each count and since, a byte
// each; three tallies (senders, networks, recipients): u16 how many, u32 over, then each key u64 and count u32; name: u8
// octets, then those, UTF-8; sample: the rest, UTF-8.

// Version 4 has of elements u16 how many, then each id u32, count, since, weight a byte each. Version 3 has ids of 32 bits, of
// which the high ones and the lowest make those of today. Version 2 has no name beside. Version 1 has none and differs in that the
// lowest bit of an id says nothing (octetBit) and that one id stood for a whole attachment: its ids are read as those of text, and
// what they were of attachments matches nothing any more.
const (
	recordVersion     = 5
	recordOfCounts    = 4
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
	b = appendElements(le.AppendUint64(b, c.simhash), c.elements.unpack())
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
	if version < recordWithoutBit || version > recordVersion {
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
	if version == recordVersion {
		c.elements = pack(nil, r.elements())
	} else {
		c.elements = pack(nil, r.elementsOf(version))
	}
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

// elementSize is how many octets an element without counts takes; elementBefore how many any did up to version 4.
const (
	elementSize   = 5
	elementBefore = 7
)

func appendElements(b []byte, es []element) []byte {
	le := binary.LittleEndian
	counted := false
	for _, e := range es {
		counted = counted || e.count != 1 || e.since != 1
	}
	b = le.AppendUint16(append(b, oneIf(counted)), uint16(len(es)))
	for _, e := range es {
		b = append(le.AppendUint32(b, e.id), e.w)
	}
	for _, e := range es {
		if counted {
			b = append(b, e.count, e.since)
		}
	}
	return b
}

// elements takes elements off the front of a record.
func (r *reader) elements() []element {
	counted := r.byte() != 0
	n := r.room(elementSize)
	es := make([]element, n)
	for i, b := 0, r.take(n*elementSize); i < n; i, b = i+1, b[elementSize:] {
		es[i] = element{binary.LittleEndian.Uint32(b) & idMask, 1, 1, b[4]}
	}
	if !counted {
		return es
	}
	for i, b := 0, r.take(2*n); i < n; i, b = i+1, b[2:] {
		es[i].count, es[i].since = b[0], max(1, b[0], b[1])
	}
	return es
}

// elementsOf takes elements off the front of a record of a version before.
func (r *reader) elementsOf(version byte) []element {
	es := make([]element, r.room(elementBefore))
	for i := range es {
		id := r.u32()
		switch {
		case version == recordOfCounts:
			id &= idMask
		case version == recordWithoutBit:
			id = idOf(id)
		default:
			id = idOf(id) | id&octetBit
		}
		count, since, w := r.byte(), r.byte(), r.byte()
		es[i] = element{id, count, max(1, count, since), w}
	}
	return es
}

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
