package store

import (
	"fmt"
	"math"
	"strconv"
)

// sharedIDSize is how many hex digits the public id of a cluster has in a store that shares. It is the same on all nodes;
// those of 8 digits, from before the store shared, are still known.
const sharedIDSize = 16

// sharedID is the public id of a cluster: a permutation of the number of its least member.
func (s *Store) sharedID(seq uint64) string {
	n := s.shared.leastOf(seq)
	l, r := n>>32, n&math.MaxUint32
	for round := range uint64(4) { // a Feistel network over two halves of 32 bits
		l, r = r, l^s.halfRound(r, round)
	}
	return fmt.Sprintf("%08x%08x", l, r)
}

// sharedSeqOf is the seq here of which an id is the public name, 0 where it is none.
func (s *Store) sharedSeqOf(id string) uint64 {
	n, err := strconv.ParseUint(id, 16, 64)
	if err != nil {
		return 0
	}
	l, r := n>>32, n&math.MaxUint32
	for round := uint64(4); round > 0; round-- {
		l, r = r^s.halfRound(l, round-1), l
	}
	return s.shared.seqHere(l<<32 | r)
}

func (s *Store) halfRound(half, round uint64) uint64 {
	return mix(half<<8|round^s.memory.key) & math.MaxUint32
}
