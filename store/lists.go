package store

import "slices"

// lists are short lists of clusters in pages of words: a list is a word with its length and its class, and room for 2^class
// clusters less that word.
type lists struct {
	pages []*[pageSize]uint32
	top   uint32               // the first word that was never used
	free  [maxClass + 1]uint32 // by class: the first list that is free, each with the place of the next behind its head; 0 is none
}

const (
	pageSize = 1 << 16 // words
	minClass = 2
	maxClass = 9 // room for indexLimit
)

func (l *lists) word(at uint32) *uint32 { return &l.pages[at/pageSize][at%pageSize] }

// get returns a list, good until the next change.
func (l *lists) get(at uint32) []uint32 {
	page := l.pages[at/pageSize]
	i := at % pageSize
	n := page[i] >> 8
	return page[i+1 : i+1+n : i+1+n]
}

// alloc returns the place of an empty list of a class. Word 0 is never one.
func (l *lists) alloc(class uint32) uint32 {
	if at := l.free[class]; at != 0 {
		l.free[class] = *l.word(at + 1)
		return at
	}
	size := uint32(1) << class
	at := (l.top + size - 1) &^ (size - 1) // so that none lies in two pages
	if at == 0 {
		at = size
	}
	l.top = at + size
	if int(at/pageSize) == len(l.pages) {
		l.pages = append(l.pages, new([pageSize]uint32))
	}
	return at
}

func (l *lists) release(at uint32) {
	class := *l.word(at) & 0xff
	*l.word(at + 1) = l.free[class]
	l.free[class] = at
}

// pair makes a list of two clusters and returns its place.
func (l *lists) pair(a, b uint32) uint32 {
	at := l.alloc(minClass)
	*l.word(at), *l.word(at + 1), *l.word(at + 2) = 2<<8|minClass, a, b
	return at
}

// add appends a cluster and returns the list's place, which may be another one. A list of indexLimit stays as it is.
func (l *lists) add(at, cluster uint32) uint32 {
	head := *l.word(at)
	n, class := head>>8, head&0xff
	if n == indexLimit {
		return at
	}
	if n+1 == 1<<class {
		next := l.alloc(class + 1)
		*l.word(next) = n<<8 | (class + 1)
		copy(l.get(next), l.get(at))
		l.release(at)
		at = next
	}
	*l.word(at + 1 + n) = cluster
	*l.word(at) += 1 << 8
	return at
}

// remove drops a cluster. A list of which one cluster is left is no list any more: that one is returned.
func (l *lists) remove(at, cluster uint32) (last uint32, left int) {
	all := l.get(at)
	i := slices.Index(all, cluster)
	if i < 0 {
		return 0, len(all)
	}
	left = len(all) - 1
	all[i] = all[left]
	*l.word(at) -= 1 << 8
	if left == 1 {
		last = all[0]
		l.release(at)
	}
	return last, left
}
