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
	if d := s.messages[j.key]; ev.Known {
		return s.relabel(d, j.key, l)
	}
	return Learnt{Done: true, Cluster: s.id(s.count(j, x, l))}
}

// relabel sets the label of the cluster that a message was counted into.
func (s *Store) relabel(d *delivery, key uint64, l Label) Learnt {
	seq := s.now(d.seq)
	c := s.memory.clusters[s.handles[seq]]
	out := Learnt{Done: c.label != l, Cluster: s.id(seq)}
	if !out.Done {
		out.Reason = "known"
		return out
	}
	c.label, d.taught = l, true
	s.changes.cluster(seq)
	s.changes.message(key)
	return out
}

// Forget takes back what a message added to the counts and to the features of its cluster.
func (s *Store) Forget(t *Trace, x *Transaction) Learnt {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := s.hash(x.Message)
	d := s.messages[key]
	if d == nil {
		return Learnt{Reason: "unknown"}
	}
	delete(s.messages, key)
	s.changes.gone(key, d.arrival)
	seq := s.now(d.seq)
	h, ok := s.handles[seq]
	if !ok {
		return Learnt{Reason: "unknown"}
	}
	out := Learnt{Done: true, Cluster: s.id(seq)}
	c := s.memory.clusters[h]
	s.changes.cluster(seq)
	if c.copies == 1 {
		s.drop(h)
		return out
	}
	s.memory.setCopies(c, c.copies-1)
	c.subtract(s.memory.query(t), d)
	return out
}

// subtract takes a member out of the counts.
func (c *cluster) subtract(q *query, d *delivery) {
	c.senders.remove(d.sender)
	c.nets.remove(d.network)
	for _, r := range d.rcpts {
		c.rcpts.remove(r)
	}
	es := c.elements.unpack()
	for i := range es {
		e := &es[i]
		if _, ok := q.find(e.id); ok && e.count > 0 {
			e.count--
		}
		e.since = max(1, e.since-1, e.count)
	}
	c.elements = pack(c.elements, es)
}

// drop forgets a cluster.
func (s *Store) drop(h uint32) {
	seq := s.memory.clusters[h].seq
	s.memory.drop(h)
	delete(s.handles, seq)
	s.changes.cluster(seq)
}
