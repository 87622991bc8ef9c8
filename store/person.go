package store

import "slices"

// A Role is what somebody was of a message.
type Role uint8

// The roles.
const (
	Sender Role = iota
	Recipient
)

// Forgotten says what was taken back of one address.
type Forgotten struct {
	Messages int // taken back whole: those that the address sent, or that went to it alone
	Spared   int // that went to others too: they stay counted, without this recipient
	Clusters int // that lost something, among them
	Dropped  int // those that nothing is left of
	Subjects int // that are gone since they were those of messages that were taken back
}

// ForgetPerson takes back what is stored of the messages that an address sent or got, and removes its keyed hash from every
// count. Of a message taken back its own hash goes, with those of its sender, network and recipients, and its part in all
// counts; a cluster that it was the only copy of goes, whatever its label. It is on disk once Sync has returned. The error
// is that the file cannot be read: then not all was found.
//
// Without the text it is not known which features of a cluster a message had: those stay, as long as others are copies of
// the cluster, and so do the codes of a cluster's first message. A count over 64 has only a number of those beyond, which
// is lowered by one for each message.
func (s *Store) ForgetPerson(as Role, address string) (Forgotten, error) {
	keys := []uint64{s.hash(address)}
	if keys[0] == 0 {
		return Forgotten{}, nil
	}
	if key := s.sender(address); as == Sender && key != keys[0] {
		keys = append(keys, key) // older messages were counted by the other one
	}
	var all Forgotten
	for _, key := range keys {
		s.askOfPerson(as, key)
		one, err := s.forgetPerson(as, key)
		all.add(&one)
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

func (f *Forgotten) add(o *Forgotten) {
	f.Messages += o.Messages
	f.Spared += o.Spared
	f.Clusters += o.Clusters
	f.Dropped += o.Dropped
	f.Subjects += o.Subjects
}

// forgetPerson is ForgetPerson by the keyed hash of an address.
func (s *Store) forgetPerson(as Role, key uint64) (Forgotten, error) {
	var of []uint64
	err := s.eachDelivery(func(message uint64, d *delivery) {
		if d.concerns(as, key) {
			of = append(of, message)
		}
	})
	p := &person{Store: s, as: as, key: key, touched: map[uint64]bool{}}
	p.inTurns(len(of), func(i int) { p.forget(of[i]) })
	s.mu.Lock()
	handles := int(s.memory.top)
	s.mu.Unlock()
	p.inTurns(handles, func(h int) { p.forgetIn(uint32(h)) })
	p.out.Clusters = len(p.touched)
	p.inTurns(1, func(int) { s.withoutPerson(as, key, p.touched) })
	return p.out, err
}

// inTurns calls do with 0 to n-1 under the lock, which mail gets now and then.
func (s *Store) inTurns(n int, do func(i int)) {
	const turn = lockedFor / 8 // each may read the file
	for from := 0; from < n; from += turn {
		s.mu.Lock()
		for i := from; i < min(from+turn, n); i++ {
			do(i)
		}
		s.mu.Unlock()
	}
}

// concerns tells whether a hash is that of the message's sender, or of one of its recipients.
func (d *delivery) concerns(as Role, key uint64) bool {
	if as == Sender {
		return d.sender == key
	}
	return slices.Contains(d.rcpts, key)
}

// founded tells whether a message was the first of its cluster, whose subject and codes the cluster has: the two numbers are
// given one after the other.
func (d *delivery) founded() bool { return d.arrival == d.seq+1 }

// A person is one address while it is forgotten.
type person struct {
	*Store
	as      Role
	key     uint64
	out     Forgotten
	touched map[uint64]bool // clusters
}

// forget takes a message back, or the one recipient out of it.
func (p *person) forget(message uint64) {
	d := p.delivery(message)
	if d == nil || !d.concerns(p.as, p.key) {
		return // it expired meanwhile
	}
	if p.as == Recipient && p.spare(message, d) {
		p.out.Spared++
		return
	}
	p.out.Messages++
	p.disremember(message)
	seq := p.now(d.seq)
	h, ok := p.memory.handle(seq)
	if !ok || !p.countsIn(seq) {
		return
	}
	p.touch(seq)
	c := p.memory.cluster(h)
	if c.copies == 1 {
		p.out.Dropped++
		p.drop(h)
		return
	}
	p.memory.setCopies(c, c.copies-1)
	c.uncount(d)
	p.uncounted(seq, d)
	if d.founded() && d.seq == seq && c.sample != "" {
		c.sample = ""
		p.out.Subjects++
	}
}

// spare takes the recipient out of a message that went to others too, and tells whether it did.
func (p *person) spare(message uint64, d *delivery) bool {
	others := slices.DeleteFunc(slices.Clone(d.rcpts), func(r uint64) bool { return r == p.key })
	if len(others) == 0 {
		return false
	}
	seq := p.now(d.seq)
	if _, ok := p.memory.handle(seq); ok {
		c := p.whole(seq)
		for range len(d.rcpts) - len(others) {
			c.rcpts.remove(p.key)
		}
		p.touch(seq)
	}
	left := *d
	left.rcpts = others
	p.remember(message, &left)
	return true
}

// forgetIn removes the hash from a cluster's count: it outlives its messages there, which expire one by one.
func (p *person) forgetIn(h uint32) {
	at := p.memory.at(h)
	if at.state == vacant || at.state == alone && p.as == Sender && at.sender != p.key {
		return
	}
	c := p.full(h)
	i := p.tally(c).index(p.key)
	if i < 0 {
		return
	}
	c = p.whole(c.seq)
	t := p.tally(c)
	t.seen = slices.Delete(t.seen, i, i+1)
	p.touch(c.seq)
}

// tally is the cluster's count of what the address was.
func (p *person) tally(c *cluster) *tally {
	if p.as == Recipient {
		return &c.rcpts
	}
	return &c.senders
}

func (p *person) touch(seq uint64) {
	p.touched[seq] = true
	p.changes.cluster(seq)
}
