package store

import (
	"encoding/binary"
	"math"
	"slices"
	"sync"
)

// A ready is some entries of other nodes on their way into memory, with all that can be done of it while mail has the
// store's lock: their values are read, and of those that begin a cluster of one message the solos are made. Which cluster
// each is about is not known before the lock is held.
type ready struct {
	entries []Entry
	parts   []decoded // by entry
	solos   *part     // what of the entries may begin a cluster, good until the readier reads more
	records [][]byte  // of each solo
	from    []int     // its entry, rising
	latest  int64     // last copy that is believed, Unix seconds: a wrong clock keeps nothing for ever
	clock   uint64    // the latest stamp
}

// A decoded is the value of a part. Of one that is among the solos it is read only if it is wanted after all.
type decoded struct {
	portion *portion
	err     error
}

// A readier has the room that reading takes.
type readier struct {
	solos soloReader
	room  part
	leads leader
}

var readiers = sync.Pool{New: func() any { return new(readier) }}

// ready reads entries; the store's lock is not held.
func (r *readier) ready(entries []Entry, latest int64) *ready {
	out := &ready{entries: entries, parts: make([]decoded, len(entries)), solos: r.room.empty(), latest: latest}
	size := 0
	for i := range entries {
		if mayBegin(&entries[i]) {
			size += len(entries[i].Value) // a record takes less
		}
	}
	room := make([]byte, 0, size)
	for i := range entries {
		e := &entries[i]
		out.clock = max(out.clock, e.Stamp)
		if e.Kind != KindPart || e.Value == nil {
			e.Value = slices.Clone(e.Value) // it is kept, and what it came in is not
			continue
		}
		if mayBegin(e) {
			if record, ok := appendRecord(room, e.Value, latest); ok && r.solos.solo(out.solos, 0, record[len(room):]) {
				out.records = append(out.records, slices.Clip(record[len(room):]))
				out.from = append(out.from, i)
				room = record
				continue
			}
		}
		out.parts[i] = decode(e.Value, latest)
	}
	return out
}

// empty is the part with nothing in it, and the room that it had.
func (p *part) empty() *part {
	*p = part{solos: p.solos[:0], ids: p.ids[:0], leads: p.leads[:0], many: p.many[:0]}
	return p
}

// decode reads the value of a part.
func decode(value []byte, latest int64) decoded {
	p, err := readPart(value)
	if err != nil {
		return decoded{err: err}
	}
	p.last = min(p.last, latest)
	p.first = min(p.first, p.last)
	return decoded{portion: p}
}

// part is what the value of an entry says.
func (b *ready) part(i int) decoded {
	if p := b.parts[i]; p.portion != nil || p.err != nil {
		return p
	}
	return decode(b.entries[i].Value, b.latest)
}

// The octets of a part's value before its elements, and of each distinct thing.
const (
	wireHead    = 1 + 4 + 8 + 8 + 4 + 4 + 32 + 8 + 1 + 2
	talliedSize = 12
)

// mayBegin says whether an entry, as far as its head tells, is a part of one copy by the node that gave the cluster its
// number.
func mayBegin(e *Entry) bool {
	return e.Kind == KindPart && e.Origin == uint32(e.Item>>seqBits) && len(e.Value) >= wireHead && e.Value[0] == valueVersion &&
		binary.LittleEndian.Uint32(e.Value[1:]) == 1
}

// appendRecord makes of a part of one copy the record of a solo, behind out, which has the room. It leaves what is not as
// a node writes it of such a part, for readPart to say what it is.
func appendRecord(out, value []byte, latest int64) (record []byte, ok bool) {
	le := binary.LittleEndian
	r := reader{data: value}
	r.take(5) // version and copies, see mayBegin
	first, last := int64(r.u64()), int64(r.u64())
	heat, tau := r.float32(), r.float32()
	codes := r.take(5 * 8)
	counted, n := r.byte() != 0, int(r.u16())
	if math.IsNaN(float64(heat)) || heat < 0 || !(tau > 0) || counted || n > mostAlone {
		return out, false
	}
	last = min(last, latest)
	b := append(out, recordVersion, byte(None))
	b = le.AppendUint32(b, 1)
	b = le.AppendUint64(le.AppendUint64(b, uint64(min(first, last))), uint64(last))
	b = append(le.AppendUint32(b, math.Float32bits(tau)), codes...)
	es := r.take(n * elementSize)
	if unmasked(es) {
		return out, false
	}
	b = append(le.AppendUint16(append(b, 0), uint16(n)), es...)
	for range 3 {
		if b, ok = appendTally(b, &r); !ok {
			return out, false
		}
	}
	sample := r.take(int(r.byte()))
	if r.cut || len(sample) > sampleLen {
		return out, false
	}
	return append(append(b, 0), sample...), true
}

// unmasked says whether elements have an id that no node gives.
func unmasked(elements []byte) bool {
	all := uint32(0)
	for at := 0; at < len(elements); at += elementSize {
		all |= binary.LittleEndian.Uint32(elements[at:])
	}
	return all&^idMask != 0
}

// appendTally brings a crowd that is whole, and in its order, over.
func appendTally(b []byte, r *reader) (out []byte, ok bool) {
	n, cut, over := int(r.u16()), r.byte() != 0, r.u32()
	if n > exactTally || cut {
		return b, false
	}
	b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint16(b, uint16(n)), over)
	seen := r.take(n * talliedSize)
	before := uint64(0)
	for at := range n {
		key := binary.LittleEndian.Uint64(seen[at*talliedSize:])
		if key <= before {
			return b, false
		}
		before = key
	}
	return append(b, seen...), true
}

// appendValue is the opposite: of the record of a solo it makes what portionOf and marshal would make of its cluster. It
// leaves a record that has more than those of solos do.
func appendValue(out, record []byte) (value []byte, ok bool) {
	le := binary.LittleEndian
	r := reader{data: record}
	if r.byte() != recordVersion || Label(r.byte()) != None || r.u32() != 1 {
		return out, false
	}
	b := le.AppendUint32(append(out, valueVersion), 1)
	b = append(b, r.take(16)...) // first and last
	tau := r.take(4)
	b = append(append(le.AppendUint32(b, math.Float32bits(1)), tau...), r.take(5*8)...)
	if r.byte() != 0 { // counts
		return out, false
	}
	n := r.room(elementSize)
	b = append(le.AppendUint16(append(b, 0), uint16(n)), r.take(n*elementSize)...)
	for range 3 {
		n, over := int(r.u16()), r.u32()
		if n > 1 && !rising(r.data, n) {
			return out, false
		}
		b = append(le.AppendUint32(append(le.AppendUint16(b, uint16(n)), 0), over), r.take(n*talliedSize)...)
	}
	if name := r.byte(); name != 0 || r.cut || len(r.data) > sampleLen {
		return out, false
	}
	return append(append(b, byte(len(r.data))), r.data...), true
}

// rising says whether n distinct things are in the order of a crowd.
func rising(seen []byte, n int) bool {
	if len(seen) < n*talliedSize {
		return false
	}
	for at := talliedSize; at < n*talliedSize; at += talliedSize {
		if binary.LittleEndian.Uint64(seen[at:]) <= binary.LittleEndian.Uint64(seen[at-talliedSize:]) {
			return false
		}
	}
	return true
}
