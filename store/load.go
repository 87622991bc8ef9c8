package store

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"go.etcd.io/bbolt"
)

// load reads everything into memory.
func (s *Store) load() error {
	return s.view(func(tx *bbolt.Tx) error {
		var err error
		if !s.loadSnapshot(tx) {
			err = s.loadRecords(tx)
		}
		return errors.Join(err, s.loadRecent(tx.Bucket(bucketMeta).Get(keyRecent)), s.loadShared(tx.Bucket(bucketShared)))
	})
}

// loadRecords reads what there is no snapshot of.
func (s *Store) loadRecords(tx *bbolt.Tx) error {
	return errors.Join(
		s.loadClusters(tx.Bucket(bucketClusters)),
		tx.Bucket(bucketMoved).ForEach(func(k, v []byte) error {
			s.moved[binary.BigEndian.Uint64(k)] = binary.BigEndian.Uint64(v)
			return nil
		}),
		tx.Bucket(bucketMessages).ForEach(s.loadMessage))
}

// A part is some clusters on their way from the file into memory. Most are solos, which one goroutine makes ready while
// another gives the part before its places.
type part struct {
	solos []solo
	ids   []byte   // of each solo, as appendIDs writes them
	leads []uint32 // the features that lead to each solo
	many  []int    // how many those are
	grown []*cluster
	err   error
}

// partSize is how many clusters a part has: what leads to as many is put into the index shard by shard, so that a shard is
// in the processor's cache while it takes up what it gets.
const partSize = 1 << 15

// newPart is a part with room for n solos of long texts.
func newPart(n int) *part {
	const octets = idsHead + idsUnit + sketchSize*(idsSpan-5)/8 // an id takes some 18.5 bits
	return &part{solos: make([]solo, 0, n), ids: make([]byte, 0, n*octets), leads: make([]uint32, 0, n*posted), many: make([]int, 0, n)}
}

// loadClusters reads the clusters.
func (s *Store) loadClusters(b *bbolt.Bucket) error {
	parts := make(chan *part, 1)
	go func() {
		defer close(parts)
		p, r := newPart(0), soloReader{}
		err := b.ForEach(func(k, v []byte) error {
			if len(p.solos)+len(p.grown) == partSize {
				parts <- p
				p = newPart(len(p.solos))
			}
			return r.read(p, binary.BigEndian.Uint64(k), v)
		})
		p.err = err
		parts <- p
	}()
	var err error
	var waiting []*cluster
	var l leader
	for p := range parts {
		if waiting = append(waiting, p.grown...); len(p.solos) > 0 {
			waiting = s.placeGrown(waiting, int64(p.solos[0].last))
			s.placeSolos(p, &l)
		}
		err = errors.Join(err, p.err)
	}
	s.placeGrown(waiting, math.MaxInt64)
	return err
}

// A soloOfPart is one of them, with what is kept of its features.
type soloOfPart struct {
	solo
	ids   []byte
	leads []uint32
}

// A walk goes over the solos of a part in their order.
type walk struct {
	p     *part
	at    int
	ids   []byte
	leads []uint32
}

func (p *part) all() walk { return walk{p, 0, p.ids, p.leads} }

func (w *walk) next() soloOfPart {
	octets, many := int(w.ids[0])*idsUnit, w.p.many[w.at]
	one := soloOfPart{w.p.solos[w.at], w.ids[:octets], w.leads[:many]}
	w.at, w.ids, w.leads = w.at+1, w.ids[octets:], w.leads[many:]
	return one
}

// placeSolos gives the solos of a part their places.
func (s *Store) placeSolos(p *part, l *leader) {
	m := &s.memory
	handles := make([]uint32, len(p.solos))
	rest := p.all()
	for i := range handles {
		handles[i] = m.vacancy()
		m.lodge(handles[i], rest.next())
		s.lastSeq = max(s.lastSeq, p.solos[i].seq)
	}
	m.post.addSome(l.of(p, handles))
}

// placeGrown gives clusters their places that had their last copy by a time, Unix seconds, and returns the others: of what very
// many hold the latest are noted (see lists), and a cluster is as late as its last copy, not as its first.
func (s *Store) placeGrown(all []*cluster, until int64) (later []*cluster) {
	slices.SortStableFunc(all, func(a, b *cluster) int { return cmp.Compare(a.last, b.last) })
	for i, c := range all {
		if c.last > until {
			return all[i:]
		}
		s.lastSeq = max(s.lastSeq, c.seq)
		s.memory.place(c)
	}
	return nil
}

// lodge lets a handle stand for a solo, to which features lead already or soon will.
func (m *memory) lodge(h uint32, one soloOfPart) {
	x := m.at(h)
	*x = one.solo
	x.place = m.ids.alloc(uint32(one.ids[0]), uint32(len(one.ids)))
	copy(m.ids.at(x.place), one.ids)
	m.register(h)
	m.live++
}

// A lead is a feature and a cluster that holds it.
type lead struct{ id, cluster uint32 }

// A leader makes leads, in room that is used again.
type leader struct {
	ends  []int32 // where the next lead of each shard goes
	leads []lead
}

// of are the features of the solos of a part with their handles, shard by shard: good until the next call. Where they are few
// for the shards nothing is gained by their order. What has no handle is passed over where leads are added.
func (l *leader) of(p *part, handles []uint32) []lead {
	l.leads = slices.Grow(l.leads[:0], len(p.leads))
	rest := p.leads
	if len(rest) < 1<<shardBits {
		for i, h := range handles {
			for _, id := range rest[:p.many[i]] {
				l.leads = append(l.leads, lead{id, h})
			}
			rest = rest[p.many[i]:]
		}
		return l.leads
	}
	l.begin(rest)
	leads := l.leads[:len(rest)]
	for i, h := range handles {
		for _, id := range rest[:p.many[i]] {
			at := &l.ends[id>>tagBits]
			leads[*at] = lead{id, h}
			*at++
		}
		rest = rest[p.many[i]:]
	}
	return leads
}

// begin makes ends where the leads of each shard begin.
func (l *leader) begin(ids []uint32) {
	if l.ends == nil {
		l.ends = make([]int32, 1<<shardBits)
	}
	clear(l.ends)
	for _, id := range ids {
		l.ends[id>>tagBits]++
	}
	starts(l.ends)
}

// addSome adds many at once, in their order (see touch).
func (p *postings) addSome(leads []lead) {
	touched := byte(0)
	for some := range slices.Chunk(leads, leadsAhead) {
		for _, l := range some {
			touched |= p.touch(l.id)
		}
		for _, l := range some {
			if ref, n := p.find1(l.id); n > 1 {
				touched |= p.lists.at(ref)[0]
			}
		}
		for _, l := range some {
			p.add(l.id, l.cluster)
		}
	}
	p.touched = touched
}

// leadsAhead is how many places are asked for before the first is needed.
const leadsAhead = 32

// A soloReader makes solos of records without making clusters of them first.
type soloReader struct {
	text, octets, spare []uint32
}

// read adds the cluster of a record to a part.
func (r *soloReader) read(p *part, seq uint64, record []byte) error {
	if r.solo(p, seq, record) {
		return nil
	}
	c := &cluster{}
	if err := c.unmarshal(record); err != nil {
		return fmt.Errorf("cluster %x: %w", seq, err)
	}
	c.seq = seq
	p.grown = append(p.grown, c)
	return nil
}

// solo adds the record of a solo to a part; it leaves what is none, or is of a format before, or is cut.
func (r *soloReader) solo(p *part, seq uint64, record []byte) bool {
	b := reader{data: record}
	if b.byte() != recordVersion || Label(b.byte()) != None || b.u32() != 1 {
		return false
	}
	x := solo{seq: seq, state: alone}
	b.u64() // first
	x.last = seconds(int64(b.u64()))
	x.tau = b.float32()
	for i := range x.nilsimsa {
		x.nilsimsa[i] = b.u64()
	}
	x.simhash = b.u64()
	counted, n := b.byte() != 0, b.room(elementSize)
	if counted || n > mostAlone {
		return false
	}
	elements := b.take(n * elementSize)
	var people [3]tally
	for i := range people {
		people[i].read(&b)
	}
	if name := b.byte(); b.cut || name != 0 {
		return false
	}
	x.sender, x.nets, x.rcpts = people[0].first(), people[1].few(), people[2].few()
	p.many = append(p.many, r.features(p, &x, elements))
	p.ids = appendIDs(p.ids, r.text, r.octets)
	p.solos = append(p.solos, x)
	return true
}

// features takes the features of a solo off its record, and returns how many lead to it.
func (r *soloReader) features(p *part, x *solo, elements []byte) int {
	before := len(p.leads)
	r.text, r.octets = r.text[:0], r.octets[:0]
	for ; len(elements) > 0; elements = elements[elementSize:] {
		id, w := binary.LittleEndian.Uint32(elements)&idMask, uint16(elements[4])
		x.whole[id&octetBit] += w
		if id&octetBit != 0 {
			r.octets = append(r.octets, id>>nearBits)
			p.leads = append(p.leads, id)
			continue
		}
		if r.text = append(r.text, id>>nearBits); len(r.text) <= posted {
			p.leads = append(p.leads, id)
		}
	}
	r.text, r.spare = sortNear(r.text, r.spare)
	r.octets, r.spare = sortNear(r.octets, r.spare)
	return len(p.leads) - before
}
