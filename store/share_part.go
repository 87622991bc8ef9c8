package store

import (
	"cmp"
	"math"
	"slices"

	"spamsim/nilsimsa"
)

// A portion is what one node counted into one cluster: the value of a part.
type portion struct {
	copies   uint32
	first    int64 // Unix seconds
	last     int64
	heat     float32
	tau      float32
	nilsimsa nilsimsa.Code
	simhash  uint64
	elements []element
	senders  crowd
	nets     crowd
	rcpts    crowd
	sample   string
}

// parts are those of one cluster by who counted them, and into which of its members.
type parts struct {
	own   *portion // nil: this node counted nothing into it
	mine  uint64   // number of the member that own is said to be of
	their map[Key]*portion
}

// portionOf is a cluster of one part, in full, as that part.
func portionOf(c *cluster) *portion {
	return &portion{
		copies: c.copies, first: c.first, last: c.last, heat: c.heat, tau: c.tau, nilsimsa: c.nilsimsa, simhash: c.simhash,
		elements: c.elements.unpack(), senders: crowdOf(&c.senders), nets: crowdOf(&c.nets), rcpts: crowdOf(&c.rcpts),
		sample: c.sample,
	}
}

// fill makes the cluster what a part says, but for its label and name.
func (c *cluster) fill(p *portion) {
	c.first, c.last, c.heat, c.tau, c.nilsimsa, c.simhash = p.first, p.last, p.heat, p.tau, p.nilsimsa, p.simhash
	c.senders, c.nets, c.rcpts, c.sample = p.senders.tally(), p.nets.tally(), p.rcpts.tally(), p.sample
	c.put(p.elements)
}

func (p *portion) clone() *portion {
	out := *p
	out.elements = slices.Clone(p.elements)
	out.senders, out.nets, out.rcpts = p.senders.clone(), p.nets.clone(), p.rcpts.clone()
	return &out
}

// count adds a message.
func (p *portion) count(q *query, d *delivery) {
	if p.copies == 0 {
		p.first, p.last, p.tau = d.at, d.at, q.tau()
		p.nilsimsa, p.simhash, p.sample = q.t.Nilsimsa, q.t.SimHash, clip(q.t.Sample)
	}
	p.copies++
	p.absorb(q)
	last := max(p.last, d.at)
	p.heat, p.last = p.heat*float32(decay(last-p.last))+float32(decay(last-d.at)), last
	p.senders.add(d.sender, 1)
	p.nets.add(d.network, 1)
	for _, r := range d.rcpts {
		p.rcpts.add(r, 1)
	}
}

// absorb is that of a cluster.
func (p *portion) absorb(q *query) {
	c := cluster{copies: p.copies, tau: p.tau, elements: pack(nil, p.elements)}
	c.absorb(q)
	p.tau, p.elements = c.tau, c.elements.unpack()
}

// subtract takes a message out.
func (p *portion) subtract(q *query, d *delivery) {
	p.copies--
	c := cluster{elements: pack(nil, p.elements)}
	c.subtract(q, &delivery{})
	p.elements = c.elements.unpack()
	p.uncount(d)
}

func (p *portion) uncount(d *delivery) {
	p.senders.remove(d.sender)
	p.nets.remove(d.network)
	for _, r := range d.rcpts {
		p.rcpts.remove(r)
	}
}

// without forgets an address.
func (p *portion) without(as Role, key uint64) {
	of := &p.senders
	if as == Recipient {
		of = &p.rcpts
	}
	if i, known := of.find(key); known {
		of.seen = slices.Delete(of.seen, i, i+1)
	}
}

// A signed is a part and what it is known by.
type signed struct {
	key Key
	*portion
}

// together is what parts are together. It depends on nothing but them: the earliest speaks for the others.
func together(all []signed) *portion {
	slices.SortFunc(all, func(a, b signed) int {
		return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.key.Item, b.key.Item), cmp.Compare(a.key.Origin, b.key.Origin))
	})
	out := all[0].portion.clone()
	for _, p := range all[1:] {
		out.unite(p.portion)
	}
	return out
}

func (p *portion) unite(o *portion) {
	p.uniteElements(o)
	p.tau = min(p.tau, o.tau)
	p.copies = min(p.copies, math.MaxUint32-o.copies) + o.copies // a node that says too much must not make it nothing
	p.senders.unite(&o.senders)
	p.nets.unite(&o.nets)
	p.rcpts.unite(&o.rcpts)
	last := max(p.last, o.last)
	p.heat = p.heat*float32(decay(last-p.last)) + o.heat*float32(decay(last-o.last))
	p.first, p.last = min(p.first, o.first), last
}

// uniteElements counts the features together as memory.merge does.
func (p *portion) uniteElements(o *portion) {
	at := make(map[uint32]int, len(p.elements))
	for i := range p.elements {
		e := &p.elements[i]
		at[e.id] = i
		e.since = uint8(min(255, int(e.since)+int(min(o.copies, 200))))
	}
	for _, e := range o.elements {
		if i, ok := at[e.id]; ok {
			x := &p.elements[i]
			x.count = uint8(min(int(x.since), int(x.count)+int(e.count)))
		} else if p.copies < maxGrowth || e.count > 1 {
			p.elements = append(p.elements, e)
		}
	}
	p.elements, _ = shrink(p.elements)
}
