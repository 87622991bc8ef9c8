package store

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// postings finds the clusters that hold a feature: a multimap from feature to cluster in octets without pointers, cut into
// shards so that growing moves a small part at a time. The zero value is empty.
type postings struct {
	shards [1 << shardBits]shard // by the high bits of the feature
	lists  lists

	touched byte // what findAll read ahead, so that it is read
}

// A feature is known by idBits bits: the high ones say which shard, the others are kept in the slot with 28 bits of what it
// leads to. Messages of one feature in common by chance alone, one in 2^idBits, are told apart when they are measured.
const (
	idBits    = 28
	shardBits = 16
	tagBits   = idBits - shardBits
	slotSize  = 5 // octets
)

// indexLimit is how many of the clusters that hold a feature are noted, the latest.
const indexLimit = 256

// A shard is a hash table with linear probing, in which who is further from home has the slot (Celis 1986: Robin Hood
// hashing): features lie in the order of their homes, and a search for what is not there ends early even where few slots
// are free. A slot is tag | ref<<tagBits in slotSize octets; ref is of one cluster its number + 1, of more isList and the
// place of the list; 0 is free.
type shard struct {
	octets []byte
	used   uint32
}

const (
	isList  = 1 << 27
	maxRef  = isList - 1
	tagMask = 1<<tagBits - 1
	// slotPad are octets behind the last slot, so that each is read as one word.
	slotPad = 8 - slotSize
)

// A slot's tag and ref.
func tagOf(slot uint64) uint64 { return slot & tagMask }
func refOf(slot uint64) uint32 { return uint32(slot >> tagBits) }

func (s *shard) size() int { return max(0, len(s.octets)-slotPad) / slotSize }

func (s *shard) get(i int) uint64 {
	return binary.LittleEndian.Uint64(s.octets[slotSize*i:]) & (1<<(8*slotSize) - 1)
}

func (s *shard) put(i int, slot uint64) {
	b := s.octets[slotSize*i : slotSize*i+slotSize]
	binary.LittleEndian.PutUint32(b, uint32(slot))
	b[4] = byte(slot >> 32)
}

// home is where a tag would be if nothing else were there.
func home(tag uint64, size int) int { return int(tag * uint64(size) >> tagBits) }

// away is how far from its home a tag is at i.
func away(tag uint64, i, size int) int {
	if i -= home(tag, size); i < 0 {
		return i + size
	}
	return i
}

// slot is where a tag is, or where it would be put: there is nothing, or what is nearer to its home.
func (s *shard) slot(tag uint64) (i int, found bool) {
	size := s.size()
	i = home(tag, size)
	for far := 0; ; far++ {
		switch x := s.get(i); {
		case x == 0:
			return i, false
		case tagOf(x) == tag:
			return i, true
		case away(tagOf(x), i, size) < far:
			return i, false
		}
		if i++; i == size {
			i = 0
		}
	}
}

func (p *postings) at(id uint32) (*shard, uint64) {
	return &p.shards[id>>tagBits], uint64(id) & tagMask
}

// find1 returns the cluster that holds a feature, noCluster where none does; where several do, n is 2 and ref the place of
// their list, which is good until the next change.
func (p *postings) find1(id uint32) (ref uint32, n int) {
	s, tag := p.at(id)
	if s.used == 0 {
		return noCluster, 1
	}
	i, found := s.slot(tag)
	if !found {
		return noCluster, 1
	}
	if ref = refOf(s.get(i)); ref&isList != 0 {
		return ref &^ isList, 2
	}
	return ref - 1, 1
}

// find is find1 with the number of clusters told in full.
func (p *postings) find(id uint32) (ref uint32, n int) {
	if ref, n = p.find1(id); n > 1 {
		n = p.lists.len(ref)
	}
	return ref, n
}

// touch reads an octet of where a feature is looked for. What lies in many places of memory is asked for by it before it is needed,
// so that the processor waits for many at a time.
func (p *postings) touch(id uint32) byte {
	s, tag := p.at(id)
	if len(s.octets) == 0 {
		return 0
	}
	return s.octets[slotSize*home(tag, s.size())]
}

// A found is what find returns.
type found struct {
	ref uint32
	n   int
}

// findAll finds features of a query, by their places in it.
func (p *postings) findAll(q *query, places []uint16, out *[]found) {
	all := slices.Grow((*out)[:0], len(places))[:len(places)]
	*out = all
	touched := byte(0)
	for _, at := range places {
		touched |= p.touch(q.features[at].id)
	}
	for i, at := range places {
		all[i].ref, all[i].n = p.find1(q.features[at].id)
	}
	for i := range all {
		if all[i].n > 1 {
			touched |= p.lists.at(all[i].ref)[0]
		}
	}
	for i := range all {
		if all[i].n > 1 {
			all[i].n = p.lists.len(all[i].ref)
		}
	}
	p.touched = touched
}

// noCluster is no cluster's number.
const noCluster = ^uint32(0)

// add notes that a cluster holds a feature; the caller adds a pair once.
func (p *postings) add(id, cluster uint32) {
	if cluster >= maxRef {
		return // a cluster that is not found, where there are more than 134 million
	}
	s, tag := p.at(id)
	if maxLoad*int(s.used+1) > (maxLoad-1)*s.size() {
		s.grow()
	}
	i, found := s.slot(tag)
	if !found {
		s.insert(i, tag|uint64(cluster+1)<<tagBits)
		return
	}
	ref := refOf(s.get(i))
	if p.lists.top > maxRef-pageSize/wordSize {
		return // nor where lists take a gigabyte
	}
	if ref&isList == 0 {
		ref = p.lists.pair(ref-1, cluster)
	} else {
		ref = p.lists.add(ref&^isList, cluster)
	}
	s.put(i, tag|uint64(ref|isList)<<tagBits)
}

// renew notes again that a cluster holds a feature, where so many do or did that it may have given its place away.
func (p *postings) renew(id, cluster uint32) {
	s, tag := p.at(id)
	if s.used == 0 {
		return
	}
	i, found := s.slot(tag)
	if !found {
		return
	}
	if ref := refOf(s.get(i)); ref&isList != 0 && p.lists.len(ref&^isList) > indexLimit/2 {
		s.put(i, tag|uint64(p.lists.renew(ref&^isList, cluster)|isList)<<tagBits)
	}
}

// insert puts a slot at i and moves up by one what lies from there to the next free slot.
func (s *shard) insert(i int, slot uint64) {
	s.used++
	for size := s.size(); slot != 0; {
		next := s.get(i)
		s.put(i, slot)
		slot = next
		if i++; i == size {
			i = 0
		}
	}
}

// maxLoad is one more than the parts that are used where there is one free: a shard grows by one in so many, so that of its
// slots 0.78 to 0.88 are used.
const maxLoad = 8

func (s *shard) grow() {
	old := *s
	size := max(4, old.size()+old.size()/maxLoad+1)
	s.octets = slices.Grow([]byte(nil), size*slotSize+slotPad)
	s.octets = s.octets[:cap(s.octets)] // all that the allocator gives
	s.used = 0
	size = s.size()
	next, latest := 0, 0 // slot that is free, and home of what came before
	i := old.first()
	for range old.size() {
		x := old.get(i)
		if i++; i == old.size() {
			i = 0
		}
		if x == 0 {
			continue
		}
		// Features come in the order of their homes, but for those that had the same one.
		if h := home(tagOf(x), size); h >= latest && max(h, next) < size {
			s.put(max(h, next), x)
			s.used++
			next, latest = max(h, next)+1, h
			continue
		}
		at, _ := s.slot(tagOf(x))
		s.insert(at, x)
		if next < size && s.get(next) != 0 {
			next++
		}
	}
}

// first is the first slot that has nothing of a home near the end.
func (s *shard) first() int {
	for i := range s.size() {
		if x := s.get(i); x == 0 || home(tagOf(x), s.size()) <= i {
			return i
		}
	}
	return 0
}

// remove forgets that a cluster holds a feature.
func (p *postings) remove(id, cluster uint32) {
	s, tag := p.at(id)
	if s.used == 0 {
		return
	}
	if i, found := s.slot(tag); found {
		p.take(s, i, cluster)
	}
}

// removeAllNear forgets that a cluster holds features of which the lowest bits of the ids are not known.
func (p *postings) removeAllNear(ids []uint32, cluster uint32, unknown int) {
	touched := byte(0)
	for _, id := range ids {
		touched |= p.touch(id << unknown)
	}
	p.touched = touched
	for _, id := range ids {
		p.removeNear(id<<unknown, cluster, unknown)
	}
}

// removeNear forgets one such feature.
func (p *postings) removeNear(id, cluster uint32, unknown int) {
	s, tag := p.at(id)
	if s.used == 0 {
		return
	}
	size := s.size()
	i := home(tag, size)
	homes := home(tag|(1<<unknown-1), size) - i // beyond the first that it may have
	for far := 0; far <= size; far++ {
		x := s.get(i)
		if x == 0 && far >= homes || x != 0 && away(tagOf(x), i, size) < far-homes {
			return
		}
		if x != 0 && tagOf(x)>>unknown == tag>>unknown && p.take(s, i, cluster) {
			return
		}
		if i++; i == size {
			i = 0
		}
	}
}

// take takes a cluster out of what a slot leads to, and says whether it was there.
func (p *postings) take(s *shard, i int, cluster uint32) bool {
	x := s.get(i)
	ref := refOf(x)
	if ref&isList == 0 {
		if ref == cluster+1 {
			s.free(i)
			return true
		}
		return false
	}
	place, left, had := p.lists.remove(ref&^isList, cluster)
	if ref = isList | place; left == 1 {
		ref = place + 1
	}
	s.put(i, tagOf(x)|uint64(ref)<<tagBits)
	return had
}

// free empties a slot and moves those behind it back by one, up to one that is at home.
func (s *shard) free(i int) {
	s.used--
	size := s.size()
	for {
		next := i + 1
		if next == size {
			next = 0
		}
		x := s.get(next)
		if x == 0 || away(tagOf(x), next, size) == 0 {
			s.put(i, 0)
			return
		}
		s.put(i, x)
		i = next
	}
}

// spread is a hash of a number whose high bits are as good as the others.
func spread(x uint64) uint64 {
	hi, lo := bits.Mul64(x, 0x9e3779b97f4a7c15)
	return hi ^ lo
}
