package store

import "spamsim/nilsimsa"

// A solo is a message that nothing resembled yet, as it is in memory: what it takes to find it and to measure a message
// against it. The rest is in its record (unwritten.go). Once it is more than that, the place that it has stands for a
// cluster of memory.grown.
type solo struct {
	seq      uint64
	nilsimsa nilsimsa.Code
	simhash  uint64
	sender   uint64
	place    uint32 // of its features in memory.ids, or in memory.grown
	last     uint32 // Unix time, seconds
	tau      float32
	whole    [2]uint16 // what the features of the text and, with octetBit, of attachments weigh, in sixteenths of a nat
	nets     uint8
	rcpts    uint8
	state    state
}

// state says what a handle stands for.
type state uint8

const (
	vacant state = iota
	alone        // a solo
	grown        // a cluster of memory.grown
)

// slabSize is how many solos are allocated at once.
const slabSize = 1 << 10

// Of the features of a solo, posted of the text and all of attachments lead to it; those of lowest rank, which a copy of
// it is likeliest to have among its own. A cluster of two messages is found by all.
const posted = 48

// nearBits is how many of the lowest bits of an id a solo does not keep: one in 500 measurements finds a feature more
// than there is.
const nearBits = 4

// A solo's features in memory.ids: the octets of the place in units of idsUnit, how many are of the text and how many of
// attachments, an octet each; then both as appendRice writes them.
const (
	idsUnit = 8
	idsHead = 3
	idsSpan = idBits - nearBits
)

// at is what a handle stands for.
func (m *memory) at(h uint32) *solo { return &m.slab[h/slabSize][h%slabSize] }

// alone says whether the cluster is kept as a solo. One of which others were forgotten may have features that it has but in part;
// what a damaged record or a peer says may have more of them than any message.
func (c *cluster) alone() bool {
	return c.copies == 1 && c.label == None && c.name == nil && c.elements.len() <= mostAlone && !c.elements.counted()
}

// mostAlone is how many features are kept of a message at most.
const mostAlone = sketchSize + maxFiles*octetSketch

// keep puts the features of a solo down, and what they weigh.
func (m *memory) keep(s *solo, es []element) {
	var ids [2][]uint32
	for _, e := range es {
		of := e.id & octetBit
		ids[of] = append(ids[of], e.id>>nearBits)
		s.whole[of] += uint16(e.w)
	}
	for of := range ids {
		ids[of], m.scratch.near = sortNear(ids[of], m.scratch.near)
	}
	b := appendIDs(m.scratch.octets[:0], ids[0], ids[octetBit])
	m.scratch.octets = b
	s.place = m.ids.alloc(uint32(b[0]), uint32(len(b)))
	copy(m.ids.at(s.place), b)
}

// appendIDs writes what memory.ids has of a solo behind out: sorted ids, of which the lowest bits are gone.
func appendIDs(out []byte, text, octets []uint32) []byte {
	from := len(out)
	out = append(out, 0, byte(len(text)), byte(len(octets)))
	out = appendRice(appendRice(out, text, idsSpan), octets, idsSpan)
	for (len(out)-from)%idsUnit != 0 {
		out = append(out, 0)
	}
	out[from] = byte((len(out) - from) / idsUnit)
	return out
}

// idsOf returns what is kept of the ids of a solo's features, of the text and of attachments, good until the next call.
func (m *memory) idsOf(s *solo) (text, octets []uint32) {
	b := m.ids.at(s.place)
	n, files := int(b[1]), int(b[2])
	end := int(b[0])*idsUnit + ricePad
	if len(b) < end { // at the end of a page
		b = append(m.scratch.octets[:0], b...)
		b = append(b, make([]byte, ricePad)...)
		m.scratch.octets = b
	}
	b = b[idsHead:end]
	all, used := readRice(m.scratch.near[:0], b, n, idsSpan)
	all, _ = readRice(all, b[used:], files, idsSpan)
	m.scratch.near = all
	return all[:n], all[n:]
}

// release gives the room of a solo's features back.
func (m *memory) release(s *solo) { m.ids.release(s.place, uint32(m.ids.at(s.place)[0])) }

// share counts what a solo and a message share.
func (m *memory) share(s *solo, q *query, parts *[2]overlap, h *hits) {
	var ids [2][]uint32
	ids[0], ids[octetBit] = m.idsOf(s)
	for of := range ids {
		p := &parts[of]
		p.whole = float64(s.whole[of]) / weightUnit
		for _, near := range ids[of] {
			if q.sieve[near%sieveBits/64]>>(near%64)&1 == 0 {
				continue
			}
			at, ok := q.near(near, uint32(of))
			if !ok {
				continue
			}
			f := &q.features[at]
			h.add(at)
			p.evidence += float64(f.w)
			if f.rank <= s.tau || of == octetBit {
				p.drawn += float64(f.w)
			}
		}
	}
}

// cluster is what is known of a handle without its record: of a solo that lacks the elements, the subject and who was sent
// to by which network, though not how many they are.
func (m *memory) cluster(h uint32) *cluster { return m.glance(h, new(glance)) }

// A glance has room for what is known of a solo.
type glance struct {
	cluster
	sender [1]tallied
}

// glance is cluster in room that the caller has.
func (m *memory) glance(h uint32, room *glance) *cluster {
	s := m.at(h)
	if s.state == grown {
		return m.grown[s.place]
	}
	*room = glance{cluster: cluster{
		seq: s.seq, copies: 1, tau: s.tau, nilsimsa: s.nilsimsa, simhash: s.simhash, heat: 1, first: int64(s.last), last: int64(s.last),
		nets: someTally(s.nets), rcpts: someTally(s.rcpts),
	}, sender: [1]tallied{{s.sender, 1}}}
	if s.sender != 0 {
		room.senders.seen = room.sender[:]
	}
	return &room.cluster
}

// some are things that were counted, of which nothing is known.
var some [exactTally]tallied

// someTally is a tally of n such things, to be read alone.
func someTally(n uint8) tally {
	exact := min(int(n), exactTally)
	return tally{seen: some[:exact:exact], over: uint32(int(n) - exact)}
}

// grow makes a cluster of a solo, which c is in full.
func (m *memory) grow(h uint32, c *cluster) {
	s := m.at(h)
	m.release(s)
	m.note(h, m.elements(c), false)
	m.raise(s, c)
}

// raise lets a handle stand for a cluster.
func (m *memory) raise(s *solo, c *cluster) {
	*s = solo{seq: c.seq, state: grown}
	if n := len(m.vacated); n > 0 {
		s.place, m.vacated = m.vacated[n-1], m.vacated[:n-1]
		m.grown[s.place] = c
	} else {
		s.place = uint32(len(m.grown))
		m.grown = append(m.grown, c)
	}
}

// note lets features lead to a cluster: first those that lead to a solo, then the others.
func (m *memory) note(h uint32, es []element, first bool) {
	n, leads := 0, m.scratch.noted[:0]
	for _, e := range es {
		if e.id&octetBit == 0 {
			n++
		}
		if first == (e.id&octetBit != 0 || n <= posted) {
			leads = append(leads, lead{e.id, h})
		}
	}
	m.post.addSome(leads)
	m.scratch.noted = leads
}
