package store

import "encoding/binary"

// An arena gives out places for octets, in pages without pointers, so that the garbage collector has nothing to look at.
// Places are counted in words. A place belongs to a class, which the caller knows again and which says how many octets
// it has; one that is given back is given out again to its class. The zero value is empty.
type arena struct {
	pages []*[pageSize]byte
	top   uint32   // the first word that was never used
	free  []uint32 // by class: the first place that is free, each with the next one; 0 is none
}

const (
	pageSize = 1 << 18 // octets
	wordSize = 8
)

// at returns the octets of a place, and what lies behind it.
func (a *arena) at(place uint32) []byte {
	const words = pageSize / wordSize
	return a.pages[place/words][place%words*wordSize:]
}

// alloc returns a place of a class of so many octets, to be written. Word 0 is never one.
func (a *arena) alloc(class, octets uint32) uint32 {
	if int(class) < len(a.free) && a.free[class] != 0 {
		place := a.free[class]
		a.free[class] = binary.LittleEndian.Uint32(a.at(place))
		return place
	}
	const words = pageSize / wordSize
	size := (octets + wordSize - 1) / wordSize
	place := max(1, a.top)
	if place/words != (place+size-1)/words { // none lies in two pages
		place = (place/words + 1) * words
	}
	a.top = place + size
	if int(place/words) == len(a.pages) {
		a.pages = append(a.pages, new([pageSize]byte))
	}
	return place
}

// release gives a place back.
func (a *arena) release(place, class uint32) {
	for len(a.free) <= int(class) {
		a.free = append(a.free, 0)
	}
	binary.LittleEndian.PutUint32(a.at(place), a.free[class])
	a.free[class] = place
}
