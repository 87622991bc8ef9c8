package store

// Changes returns at most limit of this node's entries that changed since they were last returned here. Who cannot send them
// gives them back to Unsent.
func (p *Share) Changes(limit int) []Entry {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	var out []Entry
	for len(out) < limit {
		k, more := p.x.outbox.next()
		if !more {
			break
		}
		e, ok := p.s.entry(k)
		if !ok {
			continue
		}
		out = append(out, e)
		if seq := p.s.now(p.x.seqHere(k.Item)); k.Kind == KindPart && p.x.parts[seq] != nil && e.Value != nil {
			p.s.rebuild(seq) // as it is elsewhere: counting a message comes near to it
		}
	}
	return out
}

// Unsent makes Changes return entries again; those of others are passed over.
func (p *Share) Unsent(keys []Key) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	for _, k := range keys {
		if _, ok := p.x.get(k); ok && k.Origin == p.x.node {
			p.x.outbox.put(k)
		}
	}
}

// Insist says own entries again, later than those that came, which another keeps: what this node does not hold any more it
// takes back.
func (p *Share) Insist(entries []Entry) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	x := p.x
	for i := range entries {
		e := &entries[i]
		if e.Origin != x.node {
			continue
		}
		x.clock = max(x.clock, e.Stamp)
		h, ok := x.get(e.Key)
		if !ok {
			h = held{until: hourOf(x.now().Unix()) + goneHours, gone: true}
		}
		h.stamp = x.tick()
		x.hold(e.Key, h)
		x.outbox.put(e.Key)
		p.s.changes.share(e.Key)
	}
}

// Entries returns what is held of keys, as far as it still is.
func (p *Share) Entries(keys []Key) []Entry {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	out := make([]Entry, 0, len(keys))
	for _, k := range keys {
		if e, ok := p.s.entry(k); ok {
			out = append(out, e)
		}
	}
	return out
}

// Stamps returns the stamps of all entries of a bucket that hold beyond an hour.
func (p *Share) Stamps(bucket int, hour uint32) map[Key]uint64 {
	out := map[Key]uint64{}
	p.eachHeld(bucket, func(k Key, h held) {
		if h.until > hour {
			out[k] = h.stamp
		}
	})
	return out
}

// Len is how many entries are held.
func (p *Share) Len() (n int) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	for _, all := range p.x.held {
		n += len(all)
	}
	return n
}

// eachHeld calls do for every entry of a bucket, under the lock, which it gives up between them now and then.
func (p *Share) eachHeld(bucket int, do func(Key, held)) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	n := 0
	for k, h := range p.x.held[bucket] {
		do(k, h)
		if n++; n%lockedFor == 0 {
			p.s.mu.Unlock()
			p.s.mu.Lock()
		}
	}
}

// entry is what is held of a key, with its value; ok is false where there is none, or its value is not kept.
func (s *Store) entry(k Key) (e Entry, ok bool) {
	h, ok := s.shared.get(k)
	if !ok {
		return Entry{}, false
	}
	e = Entry{Key: k, Stamp: h.stamp, Until: h.until}
	if h.gone {
		return e, true
	}
	if k.Kind != KindPart {
		e.Value, ok = s.shared.values[k]
		return e, ok
	}
	if e.Value, ok = s.valueOfSolo(k); ok {
		return e, true
	}
	p := s.partOf(k)
	if p == nil {
		return Entry{}, false
	}
	e.Value = p.marshal()
	return e, true
}

// valueOfSolo is the value of a part that is all of its cluster, where that is a solo and its record can be read.
func (s *Store) valueOfSolo(k Key) (value []byte, ok bool) {
	x := s.shared
	seq := x.seqHere(k.Item)
	if seq = s.now(seq); seq == 0 || !x.alone(seq, k) {
		return nil, false
	}
	h, ok := s.memory.handle(seq)
	if !ok || s.memory.at(h).state != alone {
		return nil, false
	}
	s.withRecord(seq, func(record []byte) error {
		value, ok = appendValue(make([]byte, 0, len(record)), record)
		return nil
	})
	return value, ok
}

// partOf is the part of a key, nil where it is not kept.
func (s *Store) partOf(k Key) *portion {
	x := s.shared
	seq := x.seqHere(k.Item)
	if seq == 0 {
		return nil
	}
	seq = s.now(seq)
	if p := x.parts[seq]; p != nil && k.Origin == x.node {
		if p.mine == k.Item {
			return p.own
		}
	} else if p != nil {
		return p.their[k]
	} else if h, ok := s.memory.handle(seq); ok && x.alone(seq, k) {
		return portionOf(s.full(h))
	}
	return nil
}

// Sweep lets go what has ended, and prolongs what this node says of clusters that live on.
func (p *Share) Sweep() {
	p.expire()
	hour := hourOf(p.x.now().Unix())
	for bucket := range Buckets {
		p.eachHeld(bucket, func(k Key, h held) {
			own := k.Kind == KindPart && k.Origin == p.x.node && !h.gone
			if own && h.until <= hour+1 && p.s.prolong(k, hour+1) {
				return
			}
			if h.until < hour {
				p.s.release(k)
			}
		})
	}
}

// expire drops the clusters whose last copy came before the window: a node that gets no mail keeps those of others no longer.
func (p *Share) expire() {
	for more := true; more; {
		p.s.mu.Lock()
		p.s.expire(p.x.now())
		more = p.s.sweep.next != nil
		p.s.mu.Unlock()
	}
}

// prolong says an own part again where its cluster lives beyond an hour, and tells whether it does.
func (s *Store) prolong(k Key, hour uint32) bool {
	h, ok := s.memory.handle(s.now(s.shared.seqHere(k.Item)))
	if !ok {
		return false
	}
	c := s.memory.cluster(h)
	if n, own := s.shared.part(c.seq); !own || n != k.Item || c.label == None && s.ends(c.last) <= hour {
		return false
	}
	s.sayPart(c)
	return true
}

// release lets go an entry that ended, and what is known of a foreign cluster that is gone.
func (s *Store) release(k Key) {
	x := s.shared
	var to uint64
	if k.Kind == KindEdge {
		to, _ = readEdge(x.values[k]) // what cannot be read connects nothing
	}
	x.release(k)
	s.changes.share(k)
	switch k.Kind {
	case KindDrop:
		delete(x.drops, k.Item)
	case KindEdge:
		delete(x.linked, k.Item)
		delete(x.linked, to)
		s.unname(k.Item)
		s.unname(to)
	case KindFit:
		delete(x.fits, k.Origin)
	case KindPart:
		if at := x.parts[s.now(x.seqHere(k.Item))]; at != nil {
			delete(at.their, k) // counts stay what they are until the next change
		}
		s.unname(k.Item)
	}
}

// unname lets go the number of a foreign cluster that is gone, unless it leads to another one, or an edge does to it: that one's
// public id may be made of the number.
func (s *Store) unname(number uint64) {
	x := s.shared
	seq := x.local[number]
	_, lives := s.memory.handle(s.now(seq))
	if _, moved := s.moved[seq]; seq == 0 || lives || moved || x.linked[number] {
		return
	}
	delete(x.local, number)
	delete(x.born, seq)
	delete(x.words, seq)
	delete(x.least, seq)
	s.changes.share(seqKey(number))
}

// Lost says that another node's entry is not with the broker any more, so that it is let go.
func (p *Share) Lost(keys []Key) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	touched := map[uint64]bool{}
	for _, k := range keys {
		if k.Origin != p.x.node {
			p.s.takeBack(k, touched)
			p.s.release(k)
		}
	}
	for seq := range touched {
		p.s.rebuild(p.s.now(seq))
	}
}
