package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

const (
	// readyAtOnce is how many entries are made ready at once: what leads to as many is put into the index shard by shard
	// (see partSize).
	readyAtOnce = 1 << 14
	// applySlice is how many entries that are no solos are taken in before the mail has its turn again.
	applySlice = 64
)

// Apply takes in what other nodes say; of its own entries a node takes only those that it lost, and only where adopt says so.
// Entries may come in any order and again. What is new is noted in the file with the next commit, for which Apply waits where
// the file is far behind.
func (p *Share) Apply(entries []Entry, adopt bool) {
	dropped := map[uint64]bool{}
	r := readiers.Get().(*readier)
	defer readiers.Put(r)
	for part := range slices.Chunk(p.believed(entries), readyAtOnce) {
		b := r.ready(part, p.x.now().Add(time.Hour).Unix())
		left := p.s.takeSolos(b, &r.leads)
		for some := range slices.Chunk(left, applySlice) {
			p.applySome(b, some, adopt, dropped)
		}
		p.s.catchUp()
	}
	if len(dropped) > 0 {
		p.s.tell(p.s.dropMessages(dropped))
	}
}

// believed are the entries whose stamps can be; most times that is all of them.
func (p *Share) believed(entries []Entry) []Entry {
	latest := uint64(p.x.now().Add(farthest).UnixMilli()) << 16
	far := func(e Entry) bool { return e.Stamp > latest }
	if !slices.ContainsFunc(entries, far) {
		return entries
	}
	out := slices.DeleteFunc(slices.Clone(entries), far)
	p.x.bad.Add(int64(len(entries) - len(out)))
	return out
}

// applySome takes in some of the entries of b, by their places.
func (p *Share) applySome(b *ready, some []int, adopt bool, dropped map[uint64]bool) {
	p.s.mu.Lock()
	touched := map[uint64]bool{}
	for _, i := range some {
		if adopt || b.entries[i].Origin != p.x.node {
			p.s.take(b, i, touched, dropped)
		}
	}
	for seq := range touched {
		p.s.rebuild(p.s.now(seq))
	}
	people := p.x.people
	p.x.people = nil
	p.s.mu.Unlock()
	for _, x := range people {
		_, err := p.s.forgetPerson(x.as, x.key)
		p.s.tell(err)
	}
}

// take takes in the entry of a place. It adds the clusters that are to be rebuilt to touched, and those that people dropped, with
// what they took up, by their seq, to dropped.
func (s *Store) take(b *ready, i int, touched, dropped map[uint64]bool) {
	x, e := s.shared, &b.entries[i]
	x.clock = max(x.clock, e.Stamp)
	if old, ok := x.get(e.Key); ok && e.Stamp <= old.stamp || e.Until < hourOf(x.now().Unix()) {
		return
	}
	x.hold(e.Key, held{stamp: e.Stamp, until: e.Until, gone: e.Value == nil})
	x.outbox.remove(e.Key)
	if err := s.takeValue(b, i, touched, dropped); err != nil {
		if errors.Is(err, errNewer) {
			x.newer.Add(1)
		} else {
			x.bad.Add(1)
		}
		return // it is held, lest digests differ, but not in the file: a later version takes it in when it starts
	}
	s.changes.share(e.Key)
}

// errNever is an entry about a number that this node has never given.
var errNever = fmt.Errorf("%w: a number that was never given", ErrRecord)

func (s *Store) takeValue(b *ready, i int, touched, dropped map[uint64]bool) error {
	e := &b.entries[i]
	if e.Kind <= KindDrop && !s.given(e.Item) {
		return errNever
	}
	if e.Value == nil {
		s.takeBack(e.Key, touched)
		return nil
	}
	switch e.Kind {
	case KindPart:
		return s.takePart(e, b.part(i), touched)
	case KindWord:
		return s.takeWord(e)
	case KindEdge:
		return s.takeEdge(e)
	case KindDrop:
		s.takeDrop(e, dropped)
		return nil
	case KindFit:
		return s.takeFit(e)
	case KindTake:
		return s.takeTake(e)
	case KindPerson:
		return s.takePerson(e)
	case KindTaught:
		return s.takeTaught(e)
	}
	return errNewer
}

// alone says whether a cluster has but the part of an entry, which is then not kept beside it.
func (x *pooled) alone(seq uint64, k Key) bool {
	return x.parts[seq] == nil && x.number(seq) == k.Item && k.Origin == uint32(k.Item>>seqBits)
}

func (s *Store) takePart(e *Entry, is decoded, touched map[uint64]bool) error {
	x, p := s.shared, is.portion
	if is.err != nil || x.drops[e.Item] {
		return is.err
	}
	seq := s.now(s.seqFor(e.Item))
	if x.own(e.Item) {
		s.lastSeq = max(s.lastSeq, seq)
	}
	_, ok := s.memory.handle(seq)
	switch {
	case ok && x.alone(seq, e.Key):
		s.refill(seq, p)
		return nil
	case !ok && x.alone(seq, e.Key):
		s.found(seq, p)
		return nil
	case !ok:
		x.parts[seq] = &parts{their: map[Key]*portion{}}
		s.found(seq, p)
	}
	c := s.whole(seq)
	switch at := s.apart(c); {
	case e.Origin != x.node:
		at.their[e.Key] = p
	case at.own == nil || at.mine == e.Item:
		at.own, at.mine = p, e.Item
	default: // it was said of two members before they were one, and lost here
		at.own = together([]signed{{Key{Item: at.mine}, at.own}, {e.Key, p}})
		s.sayPart(c)
		s.unsay(KindPart, e.Item)
	}
	touched[seq] = true
	return nil
}

// found makes a cluster that another node told of.
func (s *Store) found(seq uint64, p *portion) {
	c := &cluster{seq: seq, copies: p.copies}
	c.fill(p)
	s.nameAgain(seq)
	s.hear(c)
	s.begin(c)
	s.changes.cluster(seq)
	s.unsettled(seq)
}

// unsettled leaves a foreign cluster to Settle. Of two nodes one must hold what it hears of against what it counted: the one
// of the lower number, where it counted any.
func (s *Store) unsettled(seq uint64) {
	if x := s.shared; x.spoke && x.node < uint32(x.number(seq)>>seqBits) {
		x.fresh = append(x.fresh, seq)
	}
}

// takeBack takes in that an entry is gone.
func (s *Store) takeBack(k Key, touched map[uint64]bool) {
	x := s.shared
	x.unteach(k)
	delete(x.values, k)
	if k.Kind != KindPart || x.seqHere(k.Item) == 0 {
		return
	}
	seq := s.now(x.seqHere(k.Item))
	if x.alone(seq, k) {
		if h, ok := s.memory.handle(seq); ok {
			s.drop(h)
		}
		return
	}
	p := x.parts[seq]
	switch {
	case p == nil:
	case p.their[k] != nil:
		delete(p.their, k)
		touched[seq] = true
	case p.own != nil && k.Origin == x.node && p.mine == k.Item: // said before this node lost that it had said it
		p.own = nil
		touched[seq] = true
	}
}

func (s *Store) takeWord(e *Entry) error {
	x := s.shared
	w, err := readWord(e.Value)
	if err != nil {
		return err
	}
	x.values[e.Key] = e.Value
	w.stamp, w.origin = e.Stamp, e.Origin
	seq := s.now(s.seqFor(e.Item))
	if old := x.words[seq]; !w.later(&old) {
		return nil
	}
	x.words[seq] = w
	if _, ok := s.memory.handle(seq); ok {
		s.hear(s.whole(seq))
	}
	return nil
}

func (s *Store) takeEdge(e *Entry) error {
	to, err := readEdge(e.Value)
	if err == nil && !s.given(to) {
		err = errNever
	}
	if err != nil {
		return err
	}
	s.shared.link(e.Key, e.Value)
	s.connect(s.now(s.seqFor(e.Item)), s.now(s.seqFor(to)), false)
	return nil
}

// connect makes one cluster of two, by their seq; found says that this node found that they are one.
func (s *Store) connect(a, b uint64, found bool) {
	if a == b {
		return
	}
	ha, okA := s.memory.handle(a)
	hb, okB := s.memory.handle(b)
	if !okA || okB && s.memory.cluster(hb).copies > s.memory.cluster(ha).copies {
		a, b, okA, okB = b, a, okB, okA
	}
	if okA && okB {
		s.whole(a)
		s.whole(b)
		ha, _ = s.memory.handle(a)
		hb, _ = s.memory.handle(b)
		s.mergeOne(ha, hb, found)
		return
	}
	s.oneOf(a, b)
	s.moved[b] = a
	s.changes.cluster(b)
	if okA {
		s.hear(s.whole(a))
	}
}

func (s *Store) takeDrop(e *Entry, dropped map[uint64]bool) {
	x := s.shared
	x.values[e.Key] = e.Value
	x.drops[e.Item] = true
	seq := s.now(x.seqHere(e.Item))
	if _, ok := s.memory.handle(seq); !ok {
		return
	}
	p := s.apart(s.whole(seq))
	for k := range p.their {
		if k.Item == e.Item {
			delete(p.their, k)
			s.changes.share(k)
		}
	}
	if p.own != nil && p.mine == e.Item {
		maps.Copy(dropped, s.family(seq)) // as it is now: an edge may lead elsewhere before the messages are forgotten
		s.unsay(KindPart, p.mine)
		p.own = nil
	}
	s.rebuild(seq)
}

// dropMessages forgets the messages that were counted into clusters, by the seq that those had then.
func (s *Store) dropMessages(seqs map[uint64]bool) error {
	var keys []uint64
	err := s.eachDelivery(func(key uint64, d *delivery) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if seqs[d.seq] {
			keys = append(keys, key)
		}
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		if _, ok := s.messages[key]; ok {
			s.disremember(key)
		}
	}
	return err
}

func (s *Store) takeFit(e *Entry) error {
	r, err := versioned(e.Value)
	if err != nil {
		return err
	}
	other := &Store{}
	if err := other.loadFits(r.data); err != nil {
		return err
	}
	s.shared.values[e.Key] = e.Value
	s.shared.fits[e.Origin] = other
	for script := range s.fits {
		f := &s.fits[script]
		f.others = f.others[:0]
		for _, o := range s.shared.fits {
			f.others = append(f.others, o.fits[script].rates...)
		}
		f.refit()
	}
	return nil
}

func (s *Store) takeTake(e *Entry) error {
	q, err := readTake(e.Value)
	if err != nil {
		return err
	}
	s.shared.values[e.Key] = e.Value
	if d := s.delivery(e.Item); d != nil {
		s.forget(e.Item, d, q)
	}
	return nil
}

// A personAsked is an address that another node was told to forget, by its keyed hash.
type personAsked struct {
	as  Role
	key uint64
}

func (s *Store) takePerson(e *Entry) error {
	r, err := versioned(e.Value)
	if err != nil {
		return err
	}
	as := Role(r.byte())
	if r.cut || as > Recipient {
		return fmt.Errorf("%w: person", ErrRecord)
	}
	s.shared.values[e.Key] = e.Value
	s.shared.people = append(s.shared.people, personAsked{as, e.Item})
	return nil
}
