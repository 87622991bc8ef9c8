package store

import "slices"

// Solos that other nodes tell of come by the thousand where a node joins, and what leads to them is then put into the index
// shard by shard, as when a file is loaded. Mail is not to wait for so many: the lock is held for a slice at a time. What leads to
// a solo is in the index before the solo has its place; until then the handle that it is going to have is vacant, and a message
// passes it over.

const (
	soloSlice = 256         // solos that begin before the mail has its turn again
	leadSlice = posted * 64 // features that are put into the index before it has
)

// takeSolos lets the solos of b be clusters, as far as nothing is known of their numbers here, and returns the places of
// the entries that are left. The lock is not held.
func (s *Store) takeSolos(b *ready, l *leader) (left []int) {
	left = b.others()
	handles := s.reserve(b)
	for some := range slices.Chunk(l.of(b.solos, handles), leadSlice) {
		s.mu.Lock()
		s.memory.post.addSome(some)
		s.mu.Unlock()
	}
	rest := b.solos.all()
	for from := 0; from < len(handles); from += soloSlice {
		s.mu.Lock()
		for at := from; at < min(from+soloSlice, len(handles)); at++ {
			one := rest.next()
			if handles[at] == noCluster || !s.beginSolo(b, at, handles[at], one) {
				left = append(left, b.from[at])
			}
		}
		s.bound(s.shared.now().Unix(), 0) // a node that gets no mail has a limit too
		s.mu.Unlock()
	}
	return left
}

// others are the places of the entries that are no solos.
func (b *ready) others() (left []int) {
	next := 0
	for i := range b.entries {
		if next < len(b.from) && b.from[next] == i {
			next++
		} else {
			left = append(left, i)
		}
	}
	return left
}

// reserve gives each solo the handle that it is going to have, or noCluster where something is known of its number.
func (s *Store) reserve(b *ready) []uint32 {
	handles := make([]uint32, len(b.from))
	for from := 0; from < len(handles); from += soloSlice {
		s.mu.Lock()
		s.shared.clock = max(s.shared.clock, b.clock)
		for at := from; at < min(from+soloSlice, len(handles)); at++ {
			if handles[at] = noCluster; s.begins(&b.entries[b.from[at]]) {
				handles[at] = s.memory.vacancy()
			}
		}
		s.mu.Unlock()
	}
	return handles
}

// begins says whether nothing is known of the cluster that an entry tells of.
func (s *Store) begins(e *Entry) bool {
	x := s.shared
	_, known := x.get(e.Key)
	return !known && e.Until >= hourOf(x.now().Unix()) && e.Origin != x.node && !x.drops[e.Item] && x.local[e.Item] == 0
}

// beginSolo lets a solo have its place, unless something was heard of its number meanwhile.
func (s *Store) beginSolo(b *ready, at int, h uint32, one soloOfPart) bool {
	e := &b.entries[b.from[at]]
	if !s.begins(e) {
		for _, id := range one.leads {
			s.memory.post.remove(id, h)
		}
		s.memory.free = append(s.memory.free, h)
		return false
	}
	s.lastSeq++
	one.seq = s.lastSeq
	s.memory.lodge(h, one)
	s.beginForeign(e, one.seq, b.records[at])
	return true
}

// beginForeign notes a solo that another node told of and that has its place.
func (s *Store) beginForeign(e *Entry, seq uint64, record []byte) {
	x := s.shared
	h := held{stamp: e.Stamp, until: e.Until}
	x.hold(e.Key, h)
	x.born[seq], x.local[e.Item] = e.Item, seq
	s.unwritten.records[seq] = record
	s.changes.begin(begun{seq, e.Key, h, record})
	s.unsettled(seq)
}
