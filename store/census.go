package store

// A census counts how many messages have each feature: open addressing in one array of words, feature<<32 | count.
// The zero value is empty.
type census struct {
	slots []uint64
	used  int
}

// home is where a feature stands unless another one does.
func (c *census) home(id uint32) int { return int(uint64(id*0x9e3779b1) * uint64(len(c.slots)) >> 32) }

func (c *census) slot(id uint32) *uint64 {
	i := c.home(id)
	for uint32(c.slots[i]) != 0 && uint32(c.slots[i]>>32) != id {
		if i++; i == len(c.slots) {
			i = 0
		}
	}
	return &c.slots[i]
}

// count returns how many messages have the feature.
func (c *census) count(id uint32) int {
	if len(c.slots) == 0 {
		return 0
	}
	return max(0, int(uint32(*c.slot(id)))-1)
}

// add changes the count of a feature, at the least to 0, and returns the new one. A count of 0 keeps its slot until the next
// growth.
func (c *census) add(id uint32, by int) int {
	if 4*(c.used+1) > 3*len(c.slots) {
		c.grow()
	}
	s := c.slot(id)
	if uint32(*s) == 0 {
		c.used++
		*s = uint64(id)<<32 | 1
	}
	n := max(0, int(uint32(*s))-1+by)
	*s = uint64(id)<<32 | uint64(n+1)
	return n
}

func (c *census) grow() {
	old, live := c.slots, 0
	for _, s := range old {
		if uint32(s) > 1 {
			live++
		}
	}
	c.slots, c.used = make([]uint64, max(1<<10, 2*live+live/2)), 0
	for _, s := range old {
		if uint32(s) > 1 {
			*c.slot(uint32(s >> 32)) = s
			c.used++
		}
	}
}
