package store

import (
	"encoding/binary"
	"slices"
)

// lists are short lists of clusters, in the order in which the clusters were noted. Clusters get their numbers in the order
// in which they come, so that a list's steps are small and are what is kept. Of what very many hold the latest indexLimit are
// noted: a campaign that runs is among them, one that is over has given its place away.
//
// A list is 4 octets of its length, its class and the octets of its steps; 4 with its last cluster; and from each cluster
// to the next the step, zigzagged, as a varint.
type lists struct{ arena }

const (
	listHead = 8 // octets
	listLast = 4 // where the last cluster stands
)

// listSizes are the octets that lists of a class have, each an eighth to a third more than the one before; the last has room
// for indexLimit clusters however far apart.
var listSizes = [...]uint32{
	16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640, 768, 896, 1024, 1288,
}

// The fields of a list's first word.
const (
	listClassShift = 9
	listUsedShift  = 16
	listLenMask    = 1<<listClassShift - 1
	listClassMask  = 1<<(listUsedShift-listClassShift) - 1
)

// len is how many clusters a list has.
func (l *lists) len(at uint32) int { return int(binary.LittleEndian.Uint32(l.at(at)) & listLenMask) }

// appendTo appends the clusters of a list to out.
func (l *lists) appendTo(out []uint32, at uint32) []uint32 {
	b := l.at(at)
	head, last := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[listLast:])
	steps := b[listHead : listHead+head>>listUsedShift]
	from, x := len(out), uint32(0)
	out = append(out, 0)
	for i := 0; i < len(steps); {
		step, shift := uint32(0), 0
		for ; steps[i] >= 0x80; i++ {
			step |= uint32(steps[i]&0x7f) << shift
			shift += 7
		}
		step |= uint32(steps[i]) << shift
		i++
		x += step>>1 ^ -(step & 1)
		out = append(out, x)
	}
	first := last - x // the steps are known before what they start from
	for i := range out[from:] {
		out[from+i] += first
	}
	return out
}

// zigzag writes the step from one cluster to the next, behind b.
func zigzag(b []byte, from, to uint32) []byte {
	step := to - from
	step = step<<1 ^ uint32(int32(step)>>31)
	for ; step >= 0x80; step >>= 7 {
		b = append(b, byte(step)|0x80)
	}
	return append(b, byte(step))
}

// classOf is the smallest class with room for some octets.
func classOf(octets int) uint32 {
	class, _ := slices.BinarySearch(listSizes[:], uint32(octets))
	return uint32(class)
}

// room returns the place of a list of a class, to be written.
func (l *lists) room(class uint32) uint32 { return l.alloc(class, listSizes[class]) }

// put writes n clusters that end in last, by their steps, to a place of a class.
func (l *lists) put(at, class uint32, n int, last uint32, steps []byte) {
	b := l.at(at)
	binary.LittleEndian.PutUint32(b, uint32(n)|class<<listClassShift|uint32(len(steps))<<listUsedShift)
	binary.LittleEndian.PutUint32(b[listLast:], last)
	copy(b[listHead:], steps)
}

// pair makes a list of two clusters and returns its place.
func (l *lists) pair(a, b uint32) uint32 {
	var room [binary.MaxVarintLen32]byte
	steps := zigzag(room[:0], a, b)
	class := classOf(listHead + len(steps))
	at := l.room(class)
	l.put(at, class, 2, b, steps)
	return at
}

// add appends a cluster and returns the list's place, which may be another one. Of indexLimit the first gives way.
func (l *lists) add(at, cluster uint32) uint32 {
	if l.len(at) == indexLimit {
		l.dropFirst(at)
	}
	b := l.at(at)
	head, last := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[listLast:])
	n, class, used := int(head&listLenMask), head>>listClassShift&listClassMask, head>>listUsedShift
	var room [binary.MaxVarintLen32]byte
	step := zigzag(room[:0], last, cluster)
	octets := listHead + used + uint32(len(step))
	if octets > listSizes[class] {
		was := class
		class = classOf(int(octets))
		next := l.room(class)
		copy(l.at(next)[:listHead+used], b)
		l.release(at, was)
		at = next
	}
	b = l.at(at)
	copy(b[listHead+used:], step)
	binary.LittleEndian.PutUint32(b, uint32(n+1)|class<<listClassShift|(octets-listHead)<<listUsedShift)
	binary.LittleEndian.PutUint32(b[listLast:], cluster)
	return at
}

// dropFirst drops the cluster of a list that was noted first, which stays where it is: the steps are counted from the last.
func (l *lists) dropFirst(at uint32) {
	b := l.at(at)
	head := binary.LittleEndian.Uint32(b)
	steps := b[listHead : listHead+head>>listUsedShift]
	octets := 1
	for steps[octets-1] >= 0x80 {
		octets++
	}
	copy(steps, steps[octets:])
	binary.LittleEndian.PutUint32(b, head-1-uint32(octets)<<listUsedShift)
}

// renew makes a cluster the last of a list of three or more again, where it is in the earlier half or has given its place away.
func (l *lists) renew(at, cluster uint32) uint32 {
	if l.late(at, cluster) {
		return at
	}
	at, _, _ = l.remove(at, cluster)
	return l.add(at, cluster)
}

// late says whether a cluster is in the latter half of a list. It goes back from the last one: most that are renewed were of late.
func (l *lists) late(at, cluster uint32) bool {
	b := l.at(at)
	head, x := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[listLast:])
	steps := b[listHead : listHead+head>>listUsedShift]
	n, end := int(head&listLenMask), len(steps)
	for range n - n/2 - 1 {
		if x == cluster {
			return true
		}
		step, begin := back(steps, end)
		x, end = x-step, begin
	}
	return x == cluster
}

// remove drops a cluster and returns the list's place, which may be another one, how many clusters are left, and whether it
// was there. A list of which one is left is no list any more: at is that cluster.
func (l *lists) remove(at, cluster uint32) (place uint32, left int, had bool) {
	b := l.at(at)
	head, last := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[listLast:])
	n, class := int(head&listLenMask), head>>listClassShift&listClassMask
	steps, last, had := without(b[listHead:listHead+head>>listUsedShift], last, cluster)
	if n--; !had {
		return at, n + 1, false
	} else if n == 1 {
		l.release(at, class)
		return last, 1, true
	}
	if octets := uint32(listHead + len(steps)); octets < listSizes[class]/2 {
		was := class
		class = classOf(int(octets))
		place = l.room(class)
		l.put(place, class, n, last, steps)
		l.release(at, was)
		return place, n, true
	}
	l.put(at, class, n, last, steps)
	return at, n, true
}

// without takes a cluster out of those that steps lead to, up to the last one, and returns the steps and the last that are left.
func without(steps []byte, last, cluster uint32) (left []byte, newLast uint32, had bool) {
	x, end, from, on := last, len(steps), len(steps), uint32(0) // x is what steps[:end] lead to, and on the step from it, up to from
	for x != cluster {
		if end == 0 {
			return steps, last, false
		}
		from = end
		on, end = back(steps, end)
		x -= on
	}
	switch {
	case end == 0:
		return steps[:copy(steps, steps[from:])], last, true
	case end == len(steps):
		on, end = back(steps, end)
		return steps[:end], last - on, true
	}
	step, end := back(steps, end)
	rest := steps[from:]
	steps = zigzag(steps[:end], x-step, x+on) // takes no more octets than the two
	return append(steps, rest...), last, true
}

// back reads the step that ends at end, and returns where it begins.
func back(steps []byte, end int) (step uint32, begin int) {
	end--
	step = uint32(steps[end])
	for ; end > 0 && steps[end-1] >= 0x80; end-- {
		step = step<<7 | uint32(steps[end-1]&0x7f)
	}
	return step>>1 ^ -(step & 1), end
}
