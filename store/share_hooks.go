package store

import "slices"

// What the rest of the package tells of; each does nothing in a store that does not share. The lock is held.

// apart keeps the one part of a cluster apart from it, since it is going to have another.
func (s *Store) apart(c *cluster) *parts {
	x := s.shared
	p := x.parts[c.seq]
	if p != nil {
		return p
	}
	p = &parts{their: map[Key]*portion{}}
	k := Key{x.number(c.seq), x.node, KindPart}
	if !x.own(k.Item) {
		k.Origin = uint32(k.Item >> seqBits)
		p.their[k] = portionOf(c)
	} else {
		p.own, p.mine = portionOf(c), k.Item
	}
	x.parts[c.seq] = p
	s.changes.share(k)
	return p
}

// counting comes before a message is counted into a cluster that there is.
func (s *Store) counting(c *cluster) {
	if s.shared == nil {
		return
	}
	if !s.shared.own(s.shared.number(c.seq)) || full(&c.senders) || full(&c.nets) || full(&c.rcpts) {
		s.apart(c)
	}
}

// full says whether a tally cannot tell the next from those that it has: a crowd goes on where it ends.
func full(t *tally) bool { return len(t.seen) == exactTally }

// counted comes after it.
func (s *Store) counted(c *cluster, q *query, d *delivery) {
	x := s.shared
	if x == nil {
		return
	}
	if p := x.parts[c.seq]; p != nil {
		if p.own == nil {
			p.own, p.mine = &portion{}, s.mine(c.seq)
		}
		p.own.count(q, d)
	}
	if d.taught {
		s.spoken(c)
	}
	s.sayPart(c)
	if x.counts++; x.counts%saveRecentEvery == 0 {
		s.shared.values[s.say(KindFit, 0, s.ends(d.at))] = append([]byte{valueVersion}, s.marshalFits()...)
	}
}

// ends is the hour in which what was said at a time ends.
func (s *Store) ends(at int64) uint32 { return hourOf(at+int64(s.opts.Window.Seconds())) + 1 }

// mine is the number of the member of a cluster that this node's part is said to be of: its own, or where people dropped
// that, a new member's.
func (s *Store) mine(seq uint64) uint64 {
	n := s.shared.number(seq)
	if !s.shared.drops[n] {
		return n
	}
	s.lastSeq++
	fresh := s.lastSeq
	s.moved[fresh] = seq
	s.changes.cluster(fresh)
	s.sayEdge(seq, fresh, s.shared.now().Unix())
	s.oneOf(seq, fresh)
	return s.shared.number(fresh)
}

// sayPart notes that this node's part of a cluster changed.
func (s *Store) sayPart(c *cluster) {
	n, ok := s.shared.part(c.seq)
	if !ok {
		return
	}
	until := s.ends(c.last)
	if c.label != None {
		until = forever
	}
	s.say(KindPart, n, until)
	s.shared.spoke = true
}

// part is the number of the member of a cluster that this node's part is said to be of; ok is false where it has none.
func (x *pooled) part(seq uint64) (number uint64, ok bool) {
	if p := x.parts[seq]; p != nil {
		return p.mine, p.own != nil
	}
	n := x.number(seq)
	return n, x.own(n)
}

// countsIn says whether this node's messages count in a cluster. Those of one that it dropped do not, though the others tell of
// it again.
func (s *Store) countsIn(seq uint64) bool {
	if s.shared == nil {
		return true
	}
	_, ok := s.shared.part(seq)
	return ok
}

// hasParts says whether a cluster is made of parts that are kept beside it, which may say more than it was made of yet.
func (s *Store) hasParts(seq uint64) bool { return s.shared != nil && s.shared.parts[seq] != nil }

// spoken comes after people labelled or named a cluster.
func (s *Store) spoken(c *cluster) {
	x := s.shared
	if x == nil {
		return
	}
	until := s.ends(c.last)
	if c.label != None {
		until = forever
	}
	k := s.say(KindWord, x.number(c.seq), until)
	h, _ := x.get(k)
	w := remark{label: c.label, stamp: h.stamp, origin: x.node}
	if c.name != nil {
		w.name = *c.name
	}
	x.words[c.seq], x.values[k] = w, w.marshal()
	s.sayPart(c)
}

// merging comes before cluster b becomes part of a; found says that this node found that they are one.
func (s *Store) merging(a, b *cluster, found bool) {
	x := s.shared
	if x == nil {
		return
	}
	if x.parts[a.seq] != nil || x.parts[b.seq] != nil || !x.own(x.number(a.seq)) || !x.own(x.number(b.seq)) {
		pa, pb := s.apart(a), s.apart(b)
		for k, p := range pb.their {
			pa.their[k] = p
		}
		if pa.own == nil {
			pa.own, pa.mine = pb.own, pb.mine
		} else if pb.own != nil {
			pa.own = together([]signed{{Key{Item: pa.mine}, pa.own}, {Key{Item: pb.mine}, pb.own}})
			s.sayPart(a)
			s.unsay(KindPart, pb.mine)
		}
		delete(x.parts, b.seq)
	} else {
		s.sayPart(a)
		s.unsay(KindPart, x.number(b.seq))
	}
	if found {
		s.sayEdge(a.seq, b.seq, max(a.last, b.last))
	}
	s.oneOf(a.seq, b.seq)
}

// sayEdge says that two clusters are one. It holds a window longer than they do: without it, who joins late has to find out
// for himself.
func (s *Store) sayEdge(a, b uint64, last int64) {
	k := s.say(KindEdge, s.shared.number(b), s.ends(last+int64(s.opts.Window.Seconds())))
	s.shared.link(k, marshalEdge(s.shared.number(a)))
}

// link keeps an edge.
func (x *pooled) link(k Key, edge []byte) {
	x.values[k] = edge
	x.linked[k.Item] = true
	if to, err := readEdge(edge); err == nil {
		x.linked[to] = true
	}
}

// oneOf makes one of what is known of two clusters that become one, by their seq.
func (s *Store) oneOf(a, b uint64) {
	x := s.shared
	s.nameAgain(a)
	s.nameAgain(b)
	x.least[a] = min(x.leastOf(a), x.leastOf(b))
	delete(x.least, b)
	wa, wb := x.words[a], x.words[b]
	if wb.later(&wa) {
		x.words[a] = wb
	}
	delete(x.words, b)
}

// merged comes after it.
func (s *Store) merged(seq uint64) {
	if s.shared == nil {
		return
	}
	s.hear(s.whole(seq))
	s.rebuild(seq)
}

// hear gives a cluster the label and name that were said of it.
func (s *Store) hear(c *cluster) {
	w, ok := s.shared.words[c.seq]
	if !ok {
		return
	}
	c.label = w.label
	c.setName(w.name)
	s.changes.cluster(c.seq)
	if c.label != None {
		s.sayPart(c)
	}
}

// rebuild makes a cluster of its parts; one that has none goes.
func (s *Store) rebuild(seq uint64) {
	x := s.shared
	h, ok := s.memory.handle(seq)
	p := x.parts[seq]
	if !ok || p == nil {
		return
	}
	var all []signed
	if p.own != nil {
		all = append(all, signed{Key{p.mine, x.node, KindPart}, p.own})
	}
	for k, part := range p.their {
		all = append(all, signed{k, part})
	}
	if len(all) == 0 {
		s.drop(h)
		return
	}
	s.refill(seq, together(all))
}

// refill makes a cluster what its parts say together.
func (s *Store) refill(seq uint64, p *portion) {
	c, m := s.whole(seq), &s.memory
	h, _ := m.handle(seq)
	if es := m.elements(c); !slices.EqualFunc(es, p.elements, func(a, b element) bool { return a.id == b.id }) {
		m.lead(h, es, p.elements)
	}
	m.setCopies(c, p.copies)
	c.fill(p)
	s.changes.cluster(seq)
}

// lead lets features lead to a cluster instead of those that it had. Two of a cluster may have the same id.
func (m *memory) lead(h uint32, was, is []element) {
	had := make(map[uint32]int, len(was))
	for _, e := range was {
		had[e.id]++
	}
	for _, e := range is {
		if had[e.id] > 0 {
			had[e.id]--
		} else {
			m.post.add(e.id, h)
		}
	}
	for id, n := range had {
		for range n {
			m.post.remove(id, h)
		}
	}
}

// forgotten comes after a message was taken out of a cluster that has others.
func (s *Store) forgotten(h uint32, q *query, d *delivery) {
	x := s.shared
	if x == nil {
		return
	}
	c := s.memory.cluster(h)
	p := x.parts[c.seq]
	if p == nil {
		s.sayPart(c)
		return
	}
	if p.own != nil && p.own.copies > 1 {
		p.own.subtract(q, d)
		s.sayPart(c)
	} else {
		p.own = nil
		s.unsay(KindPart, p.mine)
	}
	s.rebuild(c.seq)
}

// askOfPerson asks the other nodes to forget an address, by its keyed hash; the lock is not held.
func (s *Store) askOfPerson(as Role, key uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shared != nil {
		s.shared.values[s.say(KindPerson, key, s.ends(s.shared.now().Unix()))] = []byte{valueVersion, byte(as)}
	}
}

// uncounted comes after a message was taken out of the counts of a cluster, though not of its features.
func (s *Store) uncounted(seq uint64, d *delivery) {
	if s.shared == nil {
		return
	}
	if p := s.shared.parts[seq]; p != nil && p.own != nil && p.own.copies > 1 {
		p.own.copies--
		p.own.uncount(d)
	} else if p != nil {
		p.own = nil
		s.unsay(KindPart, p.mine)
	}
}

// withoutPerson comes after an address was taken out of clusters: it is taken out of their parts, whoever counted them, as
// those do too.
func (s *Store) withoutPerson(as Role, key uint64, seqs map[uint64]bool) {
	if s.shared == nil {
		return
	}
	for seq := range seqs {
		h, ok := s.memory.handle(seq)
		if !ok {
			continue
		}
		if p := s.shared.parts[seq]; p != nil {
			if p.own != nil {
				p.own.without(as, key)
			}
			for _, their := range p.their {
				their.without(as, key)
			}
		}
		s.sayPart(s.memory.cluster(h))
		s.rebuild(seq)
	}
}

// asked tells the other nodes to forget a message that is not known here.
func (s *Store) asked(key uint64, q *query) Learnt {
	if s.shared == nil {
		return Learnt{Reason: "unknown"}
	}
	s.shared.values[s.say(KindTake, key, s.ends(s.shared.now().Unix()))] = marshalTake(q)
	return Learnt{Reason: "asked"}
}

// dropped comes after a cluster is gone from here.
func (s *Store) dropped(seq uint64) {
	if s.shared == nil {
		return
	}
	if n, ok := s.shared.part(seq); ok {
		s.unsay(KindPart, n)
	}
	if p := s.shared.parts[seq]; p != nil {
		for k := range p.their {
			s.changes.share(k) // else the file would have its value, for whatever takes the cluster up
		}
	}
	delete(s.shared.parts, seq)
}

// discarded comes before people drop clusters, which shall be gone everywhere.
func (s *Store) discarded(seqs map[uint64]bool) {
	if s.shared == nil {
		return
	}
	for seq := range seqs {
		n := s.shared.number(seq)
		s.shared.drops[n] = true
		s.shared.values[s.say(KindDrop, n, s.ends(s.shared.now().Unix()))] = []byte{valueVersion}
	}
}

// linked says whether it must be remembered that a cluster was merged away, though what took it up is gone: an edge may
// come before what it connects.
func (s *Store) linked(seq uint64) bool {
	return s.shared != nil && s.shared.linked[s.shared.number(seq)]
}

// leadsNowhere comes after it is forgotten that a cluster was merged away.
func (s *Store) leadsNowhere(seq uint64) {
	if s.shared != nil {
		s.unname(s.shared.number(seq))
	}
}

// nameAgain comes before a cluster that may have been gone is named: the least of its members may be forgotten meanwhile.
func (s *Store) nameAgain(seq uint64) {
	x := s.shared
	if least, ok := x.least[seq]; !ok || s.now(x.seqHere(least)) == seq {
		return
	}
	delete(x.least, seq)
	for from := range s.moved {
		if s.now(from) == seq {
			x.least[seq] = min(x.leastOf(seq), x.number(from))
		}
	}
}
