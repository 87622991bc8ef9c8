package store

import (
	"math"
	"sort"
)

// measure holds the message against one cluster: the texts and the attachments each, and the better of the two counts, so
// that one attachment is known under any text.
func (m *memory) measure(q *query, h uint32) match { return m.measureIn(q, h, new(glance)) }

// measureIn is measure in room that the caller has.
func (m *memory) measureIn(q *query, h uint32, room *glance) match {
	x := match{handle: h, c: m.glance(h, room)}
	var parts [2]overlap // of text, and with octetBit of attachments
	var shared hits
	if s := m.at(h); s.state == alone {
		m.share(s, q, &parts, &shared)
	} else {
		x.c.share(q, &parts, &shared)
	}
	parts[0].own, parts[octetBit].own = q.own(x.c.tau)
	text, files := parts[0].contained(), parts[octetBit].contained()
	text.score, files.score = text.evidence*x.c.penalty(q, &text), files.evidence*x.c.filePenalty(q, &files)
	if text.score > 0 && x.c.ofHouse(q.sender) && q.letterhead(&shared, x.c.tau) {
		text.score = 0
	}
	if text.score >= joinScore && q.scant(&text, &shared) {
		text.score = noCopy
	}
	x.containment = text
	if files.score > text.score {
		x.containment = files
	}
	return x
}

// own is what those features of the message weigh that have a rank of at most tau, and those of attachments.
func (q *query) own(tau float32) (text, files float64) {
	if len(q.sums) == 0 {
		q.weighed()
	}
	n := sort.Search(q.text, func(i int) bool { return q.features[i].rank > tau })
	return q.sums[n], q.sums[len(q.features)] - q.sums[q.text]
}

// share counts what the cluster and a message share.
func (c *cluster) share(q *query, parts *[2]overlap, h *hits) {
	weights := c.weights()
	for of := range parts {
		parts[of].whole = weights[of]
	}
	for i := range c.elements.len() {
		id := c.elements.id(i)
		if near := id >> nearBits; q.sieve[near%sieveBits/64]>>(near%64)&1 == 0 {
			continue
		}
		at, ok := q.find(id)
		if !ok {
			continue
		}
		f, p, u := &q.features[at], &parts[id&octetBit], c.inCore(c.elements.at(i))
		p.evidence += u * float64(f.w)
		if u == 1 {
			h.add(at)
		}
		if f.rank <= c.tau || id&octetBit != 0 {
			p.drawn += u * float64(f.w)
		}
	}
}

// weights are what the cluster's elements weigh together, of the text and, with octetBit, of attachments.
func (c *cluster) weights() [2]float64 {
	if c.weighed == c.copies {
		return c.weight
	}
	c.weighed, c.weight = c.copies, [2]float64{}
	for _, e := range c.elements.unpack() {
		c.weight[e.id&octetBit] += c.inCore(e) * float64(e.w) / weightUnit * e.share()
	}
	return c.weight
}

// An overlap is what a message and a cluster share of one kind, in nats.
type overlap struct {
	evidence float64 // what they share
	whole    float64 // the cluster's
	drawn    float64 // what they share, and own, the message's, of the features that each member would have kept
	own      float64
}

// A containment is how far a message and a cluster contain one another.
type containment struct {
	score             float64 // T
	evidence          float64
	inCore, inMessage float64 // the shared part of the core's weight, and of the message's
}

func (o *overlap) contained() containment {
	return containment{
		evidence: o.evidence, inCore: min(1, o.evidence/(o.whole+1)), inMessage: min(1, o.drawn/(o.own+1)),
	}
}

// penalty lowers the evidence of texts where a message and a cluster share little of either.
func (c *cluster) penalty(q *query, x *containment) float64 {
	if x.inMessage < minPart*x.inCore {
		return 0
	}
	if c.only(q.sender) && min(x.inCore, x.inMessage) < sameSender {
		return 0
	}
	if c.copies >= manyCopies && x.inCore < minCore {
		return 0
	}
	if c.copies < 3 {
		return math.Sqrt(max(x.inCore, x.inMessage))
	}
	return min(1, max(2*x.inCore*x.inCore, x.inMessage*x.inMessage))
}

// filePenalty does so for attachments. What one sender encloses in all his mail is his letterhead.
func (c *cluster) filePenalty(q *query, x *containment) float64 {
	if c.only(q.sender) || c.copies >= manyCopies && x.inCore < minCore {
		return 0
	}
	return math.Sqrt(max(x.inCore, x.inMessage))
}

// only says whether all copies are of one sender, and of this one.
func (c *cluster) only(sender uint64) bool { return len(c.senders.seen) == 1 && c.senders.has(sender) }

const (
	minPart    = 0.27 // the share of a message's text that must match, as part of the share of the cluster's that does
	minCore    = 0.42 // the share of what many copies have in common that a further one must have
	sameSender = 0.6  // the share that must match where all copies are of the message's own sender: more than a signature
)
