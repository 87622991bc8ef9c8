package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Values, numbers little endian unless said. Each begins with a version byte, which a change raises that readers must know
// of; what a later version adds at the end is passed over.
//
//	part  copies u32; first and last i64, Unix seconds; heat and tau as the bits of float32; Nilsimsa code 4 x u64; SimHash
//	      u64; whether elements have counts, a byte; how many, u16; each id u32 and weight, a byte; where they have counts,
//	      each count and since, a byte each; three times (senders, networks, recipients) u16 how many, whether there are
//	      more, a byte, over u32, then each key u64 and count u32; sample: u8 octets, then those, UTF-8
//	word  label byte; name: u8 octets, then those, UTF-8
//	edge  number of the other cluster, u64
//	drop  nothing
//	fit   as in the file (fit.go)
//	take  ids of the message's features, u32 each
//	person  role byte: Sender or Recipient
//	taught  nothing
const valueVersion = 1

var (
	errNewer   = errors.New("of a later version")
	errTooMany = errors.New("more than there can be")
)

// maxElements and maxIDs bound what is read: of a core, and of a message's sketch with the most that attachments add.
const (
	maxElements = 4 * coreSize
	maxIDs      = mostAlone
)

func (p *portion) marshal() []byte {
	le := binary.LittleEndian
	b := make([]byte, 0, 128+7*len(p.elements)+12*(len(p.senders.seen)+len(p.nets.seen)+len(p.rcpts.seen)))
	b = le.AppendUint32(append(b, valueVersion), p.copies)
	b = le.AppendUint64(le.AppendUint64(b, uint64(p.first)), uint64(p.last))
	b = le.AppendUint32(le.AppendUint32(b, math.Float32bits(p.heat)), math.Float32bits(p.tau))
	for _, w := range p.nilsimsa {
		b = le.AppendUint64(b, w)
	}
	b = appendElements(le.AppendUint64(b, p.simhash), p.elements)
	for _, d := range []*crowd{&p.senders, &p.nets, &p.rcpts} {
		b = le.AppendUint16(b, uint16(len(d.seen)))
		b = le.AppendUint32(append(b, oneIf(d.cut)), d.over)
		for _, s := range d.seen {
			b = le.AppendUint32(le.AppendUint64(b, s.key), s.n)
		}
	}
	return append(append(b, byte(len(p.sample))), p.sample...)
}

func oneIf(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// versioned begins to read a value.
func versioned(v []byte) (*reader, error) {
	r := &reader{data: v}
	switch version := r.byte(); {
	case version > valueVersion:
		return nil, errNewer
	case version == 0:
		return nil, fmt.Errorf("%w: entry of version 0", ErrRecord)
	}
	return r, nil
}

func readPart(v []byte) (*portion, error) {
	r, err := versioned(v)
	if err != nil {
		return nil, err
	}
	p := &portion{copies: r.u32(), first: int64(r.u64()), last: int64(r.u64()), heat: math.Float32frombits(r.u32()), tau: math.Float32frombits(r.u32())}
	for i := range p.nilsimsa {
		p.nilsimsa[i] = r.u64()
	}
	p.simhash = r.u64()
	if p.elements = r.elements(); len(p.elements) > maxElements {
		return nil, fmt.Errorf("%w: %d elements: %w", ErrRecord, len(p.elements), errTooMany)
	}
	for _, d := range []*crowd{&p.senders, &p.nets, &p.rcpts} {
		if err := d.read(r); err != nil {
			return nil, err
		}
	}
	p.sample = clip(string(r.take(int(r.byte()))))
	if r.cut || p.copies == 0 || math.IsNaN(float64(p.heat)) || p.heat < 0 || !(p.tau > 0) {
		return nil, fmt.Errorf("%w: part", ErrRecord)
	}
	return p, nil
}

func (d *crowd) read(r *reader) error {
	n := int(r.u16())
	d.cut = r.byte() != 0
	d.over = r.u32()
	if n > exactTally {
		return fmt.Errorf("%w: %d distinct: %w", ErrRecord, n, errTooMany)
	}
	cut := d.cut
	d.cut, d.seen = false, make([]tallied, 0, n)
	for b := r.take(n * talliedSize); len(b) > 0; b = b[talliedSize:] {
		t := tallied{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint32(b[8:])}
		if m := len(d.seen); t.key != 0 && (m == 0 || d.seen[m-1].key < t.key) {
			d.seen = append(d.seen, t) // as nodes write them
		} else {
			d.add(t.key, t.n)
		}
	}
	d.cut = cut
	return nil
}

// A remark is what people said of a cluster, and when.
type remark struct {
	label  Label
	name   string
	stamp  uint64
	origin uint32
}

// later says whether w was said after o.
func (w *remark) later(o *remark) bool {
	return w.stamp > o.stamp || w.stamp == o.stamp && w.origin > o.origin
}

func (w *remark) marshal() []byte {
	return append([]byte{valueVersion, byte(w.label), byte(len(w.name))}, w.name...)
}

func readWord(v []byte) (remark, error) {
	r, err := versioned(v)
	if err != nil {
		return remark{}, err
	}
	w := remark{label: Label(r.byte()), name: string(r.take(int(r.byte())))}
	if r.cut || w.label > Ham {
		return remark{}, fmt.Errorf("%w: word", ErrRecord)
	}
	return w, nil
}

func marshalEdge(to uint64) []byte { return binary.LittleEndian.AppendUint64([]byte{valueVersion}, to) }

func readEdge(v []byte) (to uint64, err error) {
	r, err := versioned(v)
	if err != nil {
		return 0, err
	}
	if to = r.u64(); r.cut {
		return 0, fmt.Errorf("%w: edge", ErrRecord)
	}
	return to, nil
}

func marshalTake(q *query) []byte {
	b := []byte{valueVersion}
	for f := range q.sketch() {
		b = binary.LittleEndian.AppendUint32(b, f.id)
	}
	return b
}

// readTake returns a query that knows the features of the message, and nothing else of it.
func readTake(v []byte) (*query, error) {
	r, err := versioned(v)
	if err != nil {
		return nil, err
	}
	if len(r.data) > 4*maxIDs {
		return nil, fmt.Errorf("%w: taking: %w", ErrRecord, errTooMany)
	}
	q := &query{}
	for len(r.data) >= 4 {
		q.features = append(q.features, queried{id: r.u32() & idMask})
	}
	q.tabulate()
	return q, nil
}
