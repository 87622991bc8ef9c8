package store

// candidates are the clusters that features of a message lead to, each with what these weigh together: a hash table with
// linear probing in a fixed room that the nearer caches hold, where sums by handle would lie all over the memory.
type candidates struct {
	slots [1 << candidateBits]candidate
	used  []uint16 // slots
}

type candidate struct {
	which    uint32 // its handle + 1; 0 is free
	evidence float32
}

func (c candidate) handle() uint32 { return c.which - 1 }

// maxCandidates is how many there are at most: more than any message has by maxWork, however many of its features are rare.
const (
	candidateBits = 13
	maxCandidates = 1 << candidateBits * 7 / 8
)

// add counts a feature that leads to a cluster.
func (c *candidates) add(handle uint32, weight float32) {
	i := handle * 0x9e3779b1 >> (32 - candidateBits)
	for ; ; i = (i + 1) % (1 << candidateBits) {
		switch x := &c.slots[i]; x.which {
		case handle + 1:
			x.evidence += weight
			return
		case 0:
			if len(c.used) < maxCandidates {
				*x = candidate{handle + 1, weight}
				c.used = append(c.used, uint16(i))
			}
			return
		}
	}
}

// foremost appends the n candidates of most evidence, but one, to an empty front, in that order.
func (c *candidates) foremost(front []candidate, n int, but uint32) []candidate {
	for _, at := range c.used {
		x, i := c.slots[at], len(front)
		switch {
		case x.handle() == but:
			continue
		case i < n:
			front = append(front, x)
		case front[n-1].evidence < x.evidence:
			i = n - 1
		default:
			continue
		}
		for ; i > 0 && front[i-1].evidence < x.evidence; i-- {
			front[i] = front[i-1]
		}
		front[i] = x
	}
	return front
}

// clear makes room for another message.
func (c *candidates) clear() {
	for _, at := range c.used {
		c.slots[at] = candidate{}
	}
	c.used = c.used[:0]
}
