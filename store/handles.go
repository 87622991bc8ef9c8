package store

// handles finds the handle of a cluster by its seq: hash tables with linear probing of handles alone, since the clusters
// know their seq. The zero value is empty.
type handles [1 << handleBits]struct {
	slots []uint32 // handle + 1; 0 is free
	used  int
}

// handleBits is the logarithm of the number of tables: one of them is moved at once when it grows.
const handleBits = 8

// slot is where the handle of a seq is in its table, or the free slot where it would be.
func (m *memory) slot(seq uint64) (slots []uint32, i int) {
	h := spread(seq)
	slots = m.handles[h>>(64-handleBits)].slots
	if len(slots) == 0 {
		return nil, 0
	}
	i = int(h % uint64(len(slots)))
	for slots[i] != 0 && m.at(slots[i]-1).seq != seq {
		if i++; i == len(slots) {
			i = 0
		}
	}
	return slots, i
}

// handle returns the handle of a cluster.
func (m *memory) handle(seq uint64) (uint32, bool) {
	slots, i := m.slot(seq)
	if slots == nil || slots[i] == 0 {
		return 0, false
	}
	return slots[i] - 1, true
}

// register notes the handle of a cluster, which has its seq already.
func (m *memory) register(h uint32) {
	seq := m.at(h).seq
	t := &m.handles[spread(seq)>>(64-handleBits)]
	if 5*(t.used+1) > 4*len(t.slots) {
		old := t.slots
		t.slots = make([]uint32, max(8, len(old)+len(old)/5))
		for _, x := range old {
			if x != 0 {
				slots, i := m.slot(m.at(x - 1).seq)
				slots[i] = x
			}
		}
	}
	slots, i := m.slot(seq)
	slots[i] = h + 1
	t.used++
}

// unregister forgets the handle of a cluster, and moves up those behind it that would not be found any more (Knuth, volume
// 3, algorithm 6.4 R).
func (m *memory) unregister(seq uint64) {
	slots, i := m.slot(seq)
	m.handles[spread(seq)>>(64-handleBits)].used--
	n := len(slots)
	for j := i; ; {
		slots[i] = 0
		for {
			if j++; j == n {
				j = 0
			}
			if slots[j] == 0 {
				return
			}
			home := int(spread(m.at(slots[j]-1).seq) % uint64(n))
			if (j-home+n)%n >= (j-i+n)%n {
				break
			}
		}
		slots[i], i = slots[j], j
	}
}
