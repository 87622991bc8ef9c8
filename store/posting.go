package store

import "math/bits"

// postings finds the clusters that hold a feature: a multimap from feature to cluster in arrays of words without pointers,
// cut into shards and pages so that growing moves a small part at a time. The zero value is empty.
type postings struct {
	shards [shards]shard // by the high bits of the spread feature
	lists  lists
}

// shards is how many parts the table of features has: what is moved at once when it grows is one of them.
const shards = 256

// indexLimit is how many clusters may hold a feature before it is too common to lead anywhere: no more are noted.
const indexLimit = 256

// A shard is a hash table with linear probing.
type shard struct {
	slots []uint64 // feature<<32 | its clusters: of one cluster its number + 1, of more isList and the place of the list; 0 is free
	used  int
}

const isList = 1 << 31

// spread is a hash of a feature whose high bits choose the shard and whose others the slot.
func spread(id uint32) uint64 { return uint64(id) * 0x9e3779b97f4a7c15 }

func (p *postings) at(id uint32) (*shard, uint64) {
	h := spread(id)
	return &p.shards[h>>56], h << 8
}

// slot is where the feature is, or the free slot where it would be.
func (s *shard) slot(id uint32, h uint64) int {
	i := s.home(h)
	for uint32(s.slots[i]) != 0 && uint32(s.slots[i]>>32) != id {
		if i++; i == len(s.slots) {
			i = 0
		}
	}
	return i
}

func (s *shard) home(h uint64) int {
	hi, _ := bits.Mul64(h, uint64(len(s.slots)))
	return int(hi)
}

// find returns the cluster that holds a feature, noCluster where none does; where several do, n is how many and ref the
// place of their list, which is good until the next change.
func (p *postings) find(id uint32) (ref uint32, n int) {
	s, h := p.at(id)
	if s.used == 0 {
		return noCluster, 1
	}
	ref = uint32(s.slots[s.slot(id, h)])
	if ref&isList != 0 {
		ref &^= isList
		return ref, p.lists.len(ref)
	}
	return ref - 1, 1
}

// noCluster is no cluster's number.
const noCluster = ^uint32(0)

// add notes that a cluster holds a feature; the caller adds a pair once.
func (p *postings) add(id, cluster uint32) {
	s, h := p.at(id)
	if maxLoad*(s.used+1) > (maxLoad-1)*len(s.slots) {
		s.grow()
	}
	i := s.slot(id, h)
	ref := uint32(s.slots[i])
	switch {
	case ref == 0:
		s.used++
		ref = cluster + 1
	case ref&isList == 0:
		ref = isList | p.lists.pair(ref-1, cluster)
	default:
		ref = isList | p.lists.add(ref&^isList, cluster)
	}
	s.slots[i] = uint64(id)<<32 | uint64(ref)
}

// maxLoad is one more than the parts that are used where there is one free: a shard grows by one in so many, so that of its
// slots 0.71 to 0.83 are used.
const maxLoad = 6

func (s *shard) grow() {
	old := s.slots
	s.slots = make([]uint64, max(16, len(old)+len(old)/maxLoad))
	for _, x := range old {
		if uint32(x) != 0 {
			id := uint32(x >> 32)
			s.slots[s.slot(id, spread(id)<<8)] = x
		}
	}
}

// remove forgets that a cluster holds a feature.
func (p *postings) remove(id, cluster uint32) {
	s, h := p.at(id)
	if s.used == 0 {
		return
	}
	i := s.slot(id, h)
	ref := uint32(s.slots[i])
	switch {
	case ref&isList != 0:
		place, left := p.lists.remove(ref&^isList, cluster)
		if ref = isList | place; left == 1 {
			ref = place + 1
		}
		s.slots[i] = uint64(id)<<32 | uint64(ref)
	case ref == cluster+1:
		s.free(i)
	}
}

// free empties a slot and moves up those behind it that would not be found any more (Knuth, volume 3, algorithm 6.4 R).
func (s *shard) free(i int) {
	s.used--
	n := len(s.slots)
	for j := i; ; {
		s.slots[i] = 0
		for {
			if j++; j == n {
				j = 0
			}
			if uint32(s.slots[j]) == 0 {
				return
			}
			home := s.home(spread(uint32(s.slots[j]>>32)) << 8)
			if (j-home+n)%n >= (j-i+n)%n {
				break
			}
		}
		s.slots[i], i = s.slots[j], j
	}
}
