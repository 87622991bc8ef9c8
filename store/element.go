package store

import "encoding/binary"

// An element is a feature of a cluster.
type element struct {
	id    uint32
	count uint8 // members that had it, of
	since uint8 // the members since it came in, itself included
	w     uint8 // weight by the shipped background, in sixteenths of a nat
}

// share is the part of the members that have the element.
func (e element) share() float64 { return float64(e.count) / float64(e.since) }

// elements are those of a cluster, in their order, as octets: whether they have counts, else all are 1 of 1; how many, u16;
// the ids, u32 each; where they have counts, each one's count and since; the weights, two bits each, which are the place in
// usualWeights or otherWeight; and those other weights. All little endian. Most clusters have one member, and an element
// of theirs takes a little over 4 octets. Nil has none.
type elements []byte

// usualWeights are those that most features have: the caps of single, ends and pair.
var usualWeights = [3]uint8{4 * weightUnit, 5 * weightUnit, 6.5 * weightUnit}

const otherWeight = len(usualWeights)

const elementsHead = 3 // octets

// pack makes elements of es, in the place of old where that has the room and not much more.
func pack(old elements, es []element) elements {
	counted, others := byte(0), 0
	for _, e := range es {
		if e.count != 1 || e.since != 1 {
			counted = 1
		}
		if usual(e.w) == otherWeight {
			others++
		}
	}
	size := elementsHead + len(es)*(4+2*int(counted)) + (len(es)+3)/4 + others
	out := old[:0]
	if cap(old) < size || cap(old) > size+size/4 {
		out = make(elements, 0, size)
	}
	out = binary.LittleEndian.AppendUint16(append(out, counted), uint16(len(es)))
	for _, e := range es {
		out = binary.LittleEndian.AppendUint32(out, e.id)
	}
	if counted == 1 {
		for _, e := range es {
			out = append(out, e.count, e.since)
		}
	}
	return appendWeights(out, es)
}

func appendWeights(out elements, es []element) elements {
	var four byte
	for i, e := range es {
		four |= byte(usual(e.w)) << (i % 4 * 2)
		if i%4 == 3 || i == len(es)-1 {
			out, four = append(out, four), 0
		}
	}
	for _, e := range es {
		if usual(e.w) == otherWeight {
			out = append(out, e.w)
		}
	}
	return out
}

func usual(w uint8) int {
	for i, x := range usualWeights {
		if w == x {
			return i
		}
	}
	return otherWeight
}

// len is how many there are.
func (p elements) len() int {
	if p == nil {
		return 0
	}
	return int(binary.LittleEndian.Uint16(p[1:]))
}

// counted says whether they have counts.
func (p elements) counted() bool { return p != nil && p[0] == 1 }

// id is the id of one.
func (p elements) id(i int) uint32 { return binary.LittleEndian.Uint32(p[elementsHead+4*i:]) }

// at is one but for its weight.
func (p elements) at(i int) element {
	e := element{id: p.id(i), count: 1, since: 1}
	if p.counted() {
		counts := p[elementsHead+4*p.len()+2*i:]
		e.count, e.since = counts[0], counts[1]
	}
	return e
}

// appendTo appends them to out.
func (p elements) appendTo(out []element) []element {
	n := p.len()
	if n == 0 {
		return out
	}
	ids, rest := p[elementsHead:elementsHead+4*n], p[elementsHead+4*n:]
	var counts []byte
	if p.counted() {
		counts, rest = rest[:2*n], rest[2*n:]
	}
	codes, others := rest[:(n+3)/4], rest[(n+3)/4:]
	for i := range n {
		e := element{id: binary.LittleEndian.Uint32(ids[4*i:]), count: 1, since: 1}
		if counts != nil {
			e.count, e.since = counts[2*i], counts[2*i+1]
		}
		if code := codes[i/4] >> (i % 4 * 2) & 3; int(code) < otherWeight {
			e.w = usualWeights[code]
		} else {
			e.w, others = others[0], others[1:]
		}
		out = append(out, e)
	}
	return out
}

// unpack returns them.
func (p elements) unpack() []element { return p.appendTo(make([]element, 0, p.len())) }
