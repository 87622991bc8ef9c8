package store

import (
	"slices"

	"spamsim/nilsimsa"
)

// sketchSize is how many features are kept of a message, coreSize of a campaign.
const (
	sketchSize = 128
	coreSize   = 224
)

// A cluster is the stored trace of one campaign, or of one message.
type cluster struct {
	seq      uint64 // key in the file: order of arrival
	copies   uint32
	tau      float32    // features up to this rank are in the sketch of each member that has them
	elements elements   // changed by put alone
	weight   [2]float64 // what weights returns, of so many copies
	weighed  uint32
	nilsimsa nilsimsa.Code // of the first member
	simhash  uint64
	senders  tally
	nets     tally
	rcpts    tally
	label    Label
	heat     float32 // copies of late (rate.go)
	first    int64   // Unix time of the first and the last copy, seconds
	last     int64
	sample   string
	name     *string // that people gave it; nil: none. Few have one, and a string would take twice the room
}

// inCore says whether an element belongs to what the members have in common, and how much it counts.
func (c *cluster) inCore(e element) float64 {
	switch {
	case e.count == 0: // all who had it were forgotten
		return 0
	case c.copies == 1:
		return 1
	case e.count < 2 && c.copies == 2:
		return 0.25
	case e.count < 2 || e.share() < minShare:
		return 0
	}
	return 1
}

// minShare is the part of the members below which a feature is chance.
const minShare = 0.15

// absorb counts a message's features into the cluster and tells which came in and which fell out.
func (c *cluster) absorb(q *query) (in, out []uint32) {
	es := c.elements.unpack()
	for i := range es {
		e := &es[i]
		if e.since == 255 {
			e.since, e.count = 128, e.count/2+e.count%2 // not (count+1)/2: 255+1 is 0
		}
		e.since++
		if _, ok := q.find(e.id); ok {
			e.count++
		}
	}
	if c.copies < maxGrowth {
		c.tau = min(c.tau, q.tau())
		es, in = extend(es, q)
		es, out = shrink(es)
	}
	c.put(es)
	return in, out
}

// put changes the elements.
func (c *cluster) put(es []element) {
	c.elements, c.weighed = pack(c.elements, es), 0
}

// maxGrowth is the number of copies from which a cluster takes up no new features: a core that goes on growing swallows
// the footers of unrelated mail.
const maxGrowth = 8

// extend adds the features of a message that are not there yet.
func extend(es []element, q *query) (more []element, in []uint32) {
	have := make(map[uint32]bool, len(es))
	for _, e := range es {
		have[e.id] = true
	}
	for f := range q.sketch() {
		if !have[f.id] {
			es = append(es, element{f.id, 1, 1, f.static})
			in = append(in, f.id)
		}
	}
	return es, in
}

// shrink drops the elements that fewest members have, the youngest first, down to coreSize.
func shrink(es []element) (less []element, out []uint32) {
	if len(es) <= coreSize {
		return es, nil
	}
	slices.SortStableFunc(es, func(a, b element) int { return int(b.count) - int(a.count) })
	for _, e := range es[coreSize:] {
		out = append(out, e.id)
	}
	return es[:coreSize], out
}
