package store

import (
	"cmp"
	"math"
	"slices"
)

// A crowd is a set of keyed hashes that many nodes make together: exact to exactTally; beyond that it has the exactTally
// least of all that came, of which the number of the others is estimated (k minimum values; Bar-Yossef et al. 2002, section
// 2). The least of a union are the least of the least, so that unions are as good as if one node had seen all. The
// standard error is 13 %.
type crowd struct {
	seen []tallied // ascending
	cut  bool      // there were others
	over uint32    // that came before the store shared, which it could not tell from new ones
}

func (d *crowd) find(key uint64) (int, bool) {
	return slices.BinarySearchFunc(d.seen, key, func(t tallied, key uint64) int { return cmp.Compare(t.key, key) })
}

func (d *crowd) add(key uint64, n uint32) {
	if key == 0 {
		return
	}
	i, known := d.find(key)
	switch {
	case known:
		d.seen[i].n += n
	case d.cut && i == len(d.seen): // beyond the least
	default:
		d.seen = slices.Insert(d.seen, i, tallied{key, n})
		if len(d.seen) > exactTally {
			d.seen, d.cut = d.seen[:exactTally], true
		}
	}
}

func (d *crowd) remove(key uint64) {
	i, known := d.find(key)
	switch {
	case key == 0 || !known:
	case d.seen[i].n > 1:
		d.seen[i].n--
	default:
		d.seen = slices.Delete(d.seen, i, i+1)
	}
}

// unite adds all of o. Of what is beyond the greatest of one that was cut not all is known, and so nothing is kept.
func (d *crowd) unite(o *crowd) {
	known, cut := uint64(math.MaxUint64), d.cut || o.cut
	for _, c := range []*crowd{d, o} {
		if c.cut && len(c.seen) > 0 {
			known = min(known, c.seen[len(c.seen)-1].key)
		}
	}
	d.cut = false
	for _, t := range o.seen {
		d.add(t.key, t.n)
	}
	if cut {
		d.limit(known)
	}
	d.over += o.over
}

// limit leaves out what is beyond a key.
func (d *crowd) limit(key uint64) {
	d.cut = true
	i, known := d.find(key)
	if known {
		i++
	}
	d.seen = d.seen[:i]
}

// count is how many there are, an estimate where there is more than seen.
func (d *crowd) count() int {
	n := len(d.seen) + int(d.over)
	if d.cut && len(d.seen) > 1 {
		part := float64(d.seen[len(d.seen)-1].key) / math.MaxUint64
		n = max(n, int(d.over)+int(float64(len(d.seen)-1)/part))
	}
	return n
}

func (d *crowd) clone() crowd { return crowd{slices.Clone(d.seen), d.cut, d.over} }

// crowdOf is what a tally has counted.
func crowdOf(t *tally) crowd {
	d := crowd{over: t.over}
	for _, s := range t.seen {
		d.add(s.key, s.n)
	}
	return d
}

// tally is what a cluster shows of it.
func (d *crowd) tally() tally {
	return tally{slices.Clone(d.seen), uint32(d.count() - len(d.seen))}
}
