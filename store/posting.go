package store

// postings finds the clusters that hold a feature: a multimap from feature to cluster in one array of words without
// pointers, open addressing with linear probing. The zero value is empty.
type postings struct {
	slots []uint64 // feature<<32 | cluster+1; 0 is free, a low half of 0 under a feature is a removed entry
	used  int      // slots that are not free
	dead  int      // of these, removed
}

func (p *postings) home(id uint32) int {
	return int(uint64(id*0x9e3779b1) * uint64(len(p.slots)) >> 32)
}

// indexLimit is how many clusters may hold a feature before it is too common to lead anywhere: no more are noted.
const indexLimit = 256

// add notes that a cluster holds a feature; the caller adds a pair once.
func (p *postings) add(id, cluster uint32) {
	if 4*(p.used+1) > 3*len(p.slots) {
		p.rebuild()
	}
	i, holders := p.home(id), 0
	for p.slots[i] != 0 {
		if s := p.slots[i]; uint32(s>>32) == id && uint32(s) != 0 {
			if holders++; holders == indexLimit {
				return
			}
		}
		if i++; i == len(p.slots) {
			i = 0
		}
	}
	p.slots[i] = uint64(id)<<32 | uint64(cluster+1)
	p.used++
}

// remove forgets that a cluster holds a feature.
func (p *postings) remove(id, cluster uint32) {
	if len(p.slots) == 0 {
		return
	}
	want := uint64(id)<<32 | uint64(cluster+1)
	for i := p.home(id); p.slots[i] != 0; {
		if p.slots[i] == want {
			p.slots[i] = max(uint64(id), 1) << 32 // never 0, which is a free slot
			p.dead++
			return
		}
		if i++; i == len(p.slots) {
			i = 0
		}
	}
}

// rebuild makes room, dropping what was removed.
func (p *postings) rebuild() {
	old := p.slots
	size := max(1<<10, 2*(p.used-p.dead+1)+(p.used-p.dead)/2)
	p.slots = make([]uint64, size)
	p.used, p.dead = 0, 0
	for _, s := range old {
		if uint32(s) != 0 {
			p.add(uint32(s>>32), uint32(s)-1)
		}
	}
}

// find appends the clusters that hold a feature.
func (p *postings) find(dst []uint32, id uint32) []uint32 {
	if len(p.slots) == 0 {
		return dst
	}
	for i := p.home(id); p.slots[i] != 0; {
		if s := p.slots[i]; uint32(s>>32) == id && uint32(s) != 0 {
			dst = append(dst, uint32(s)-1)
		}
		if i++; i == len(p.slots) {
			i = 0
		}
	}
	return dst
}
