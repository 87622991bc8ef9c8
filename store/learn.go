package store

// Learnt says what became of a message that was to be learnt or forgotten.
type Learnt struct {
	Done    bool
	Reason  string // where not done: "short", "known" (learnt so before), "unknown" (nothing to forget)
	Cluster string
}

// Train learns a message as known spam or known good. It is on disk once Sync has returned.
func (s *Store) Train(t *Trace, x *Transaction, l Label) Learnt {
	q := s.memory.query(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	j, ev := s.judge(q, x)
	if ev.Abstain != "" {
		return Learnt{Reason: ev.Abstain}
	}
	d := s.delivery(j.key)
	switch {
	case ev.Known && d == nil: // another node was taught it
		return s.relabel(j.matches[0].c.seq, nil, j.key, l)
	case ev.Known:
		return s.relabel(s.now(d.seq), d, j.key, l)
	}
	out := Learnt{Done: true, Cluster: s.id(s.count(j, x, l))}
	s.sayTaught(j.key)
	return out
}

// relabel sets the label of the cluster that a message was counted into, by whomever; d is nil where it was not this node.
func (s *Store) relabel(seq uint64, d *delivery, key uint64, l Label) Learnt {
	c := s.whole(seq)
	out := Learnt{Done: c.label != l, Cluster: s.id(seq)}
	if !out.Done {
		out.Reason = "known"
		return out
	}
	c.label = l
	s.spoken(c)
	s.changes.cluster(seq)
	if d != nil {
		d.taught = true
		s.remember(key, d)
		s.sayTaught(key)
	}
	return out
}

// Forget takes back what a message added to the counts and to the features of its cluster.
func (s *Store) Forget(t *Trace, x *Transaction) Learnt {
	s.mu.Lock()
	defer s.mu.Unlock()
	q, key := s.memory.query(t), s.hash(x.Message)
	if d := s.delivery(key); d != nil {
		return s.forget(key, d, q)
	}
	return s.asked(key, q)
}

// forget takes a message that was counted out again.
func (s *Store) forget(key uint64, d *delivery, q *query) Learnt {
	s.disremember(key)
	seq := s.now(d.seq)
	h, ok := s.memory.handle(seq)
	if !ok || !s.countsIn(seq) {
		return Learnt{Reason: "unknown"}
	}
	out := Learnt{Done: true, Cluster: s.id(seq)}
	c := s.memory.cluster(h)
	s.changes.cluster(seq)
	if c.copies == 1 && !s.hasParts(seq) {
		s.drop(h)
		return out
	}
	s.memory.setCopies(c, c.copies-1)
	c.subtract(q, d)
	s.forgotten(h, q, d)
	return out
}

// subtract takes a member out of the counts.
func (c *cluster) subtract(q *query, d *delivery) {
	c.uncount(d)
	es := c.elements.unpack()
	for i := range es {
		e := &es[i]
		if _, ok := q.find(e.id); ok && e.count > 0 {
			e.count--
		}
		e.since = max(1, e.since-1, e.count)
	}
	c.put(es)
}

// uncount takes a message out of the counts of senders, networks and recipients.
func (c *cluster) uncount(d *delivery) {
	c.senders.remove(d.sender)
	c.nets.remove(d.network)
	for _, r := range d.rcpts {
		c.rcpts.remove(r)
	}
}

// drop forgets a cluster.
func (s *Store) drop(h uint32) {
	seq := s.memory.at(h).seq
	s.memory.drop(h)
	delete(s.unwritten.records, seq)
	s.changes.cluster(seq)
	s.dropped(seq)
}

// whole returns a live cluster, which may be changed.
func (s *Store) whole(seq uint64) *cluster {
	h, _ := s.memory.handle(seq)
	return s.memory.cluster(s.grow(h, s.full(h)))
}
