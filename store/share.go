package store

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"sync/atomic"
	"time"
)

// Sharing: many stores, one memory.
//
// What the stores of a site know together is a set of entries. An entry is known by its kind, by the item that it is about and
// by its origin, the node that alone writes it; of two with the same key the one of the higher stamp holds. So entries may
// arrive in any order, again and late, by any way, and nodes that have the same ones hold the same: nothing needs a lock.
//
// A part is what one node counted into one cluster. A cluster as it is looked up is made of all its parts: counts are
// summed, the first and last times are the least and greatest, distinct senders, networks and recipients are unions (see
// crowd), and features are counted together. A word (label and name) and a drop are about a cluster too; of the words
// on one cluster, of whichever origin, the latest holds. An edge says that two clusters are one. Edges are never taken
// back and may go round in circles: what they connect is one cluster, and its public id is that of its least member.
//
// A cluster's number on all nodes is its node's number, 24 bits, and its seq there, 40 bits. A store goes on numbering all
// its clusters by its own seq, foreign ones too, so that nothing else in this package knows of sharing but by the hooks in
// share_hooks.go. Most clusters have one part, which is then not kept beside the cluster: it is the cluster.
//
// Stamps are of a hybrid logical clock (Kulkarni et al. 2014): 48 bits of milliseconds and 16 of a counter, never behind
// any stamp that was seen. A node whose clock is ahead thus lends its lead to all others and does not win for ever.
//
// Each entry names the hour in which it ends, and all nodes let it go then. What a node lets go before (a cluster that was
// dropped for want of room, merged or forgotten) it writes once more without a value, to be kept for goneHours.

// A Kind of entry.
type Kind uint8

// The kinds. Numbers are part of the format on the wire and in the file.
const (
	KindPart   Kind = 1 + iota // item: cluster
	KindWord                   // item: cluster; label and name
	KindEdge                   // item: cluster; the one it is the same as
	KindDrop                   // item: cluster that people dropped
	KindFit                    // item: 0; what recent mail shows of sigma
	KindTake                   // item: key of a message to be forgotten by whoever counted it
	KindPerson                 // item: key of an address to be forgotten by all
	KindTaught                 // item: key of a message that people taught this node
)

// A Key says what an entry is about and who wrote it.
type Key struct {
	Item   uint64
	Origin uint32 // number of the node
	Kind   Kind
}

// An Entry is one thing that one node says. A nil Value takes back what it said.
type Entry struct {
	Key
	Stamp uint64
	Until uint32 // the last hour in which it holds, hours since 1970
	Value []byte
}

const (
	forever   = 1<<32 - 1 // Until of what people labelled
	goneHours = 2         // how long it is kept that something is gone
	seqBits   = 40
	// seqLeap is left free at each start: a node that was killed may have told others of numbers that it lost itself.
	seqLeap = 1 << 16
	// mostLost is how many numbers beyond those that it knows of a node may have given and lost, as where its store is an old backup.
	// What tells of a higher one is not believed: numbers go to 2^40, and the hand (limit.go) passes all of them.
	mostLost = 1 << 26
	// farthest is how far ahead of this machine's clock a stamp may be, which is far behind for a machine that begins in 1970. A
	// later one would bring the clocks of all nodes to where they end.
	farthest = 100 * 366 * 24 * time.Hour
)

// held is what is remembered of an entry; what its value says is in the clusters and registers.
type held struct {
	stamp uint64
	until uint32
	gone  bool
}

// A pooled is the state of a store that shares. All is guarded by the store's lock but the counters.
type pooled struct {
	node   uint32
	clock  uint64
	reach  uint64 // the highest own seq of which others may tell
	now    func() time.Time
	held   [Buckets]map[Key]held
	digest digests
	outbox outbox            // own entries that were not sent yet
	values map[Key][]byte    // of all kinds but parts
	born   map[uint64]uint64 // numbers on all nodes of the foreign clusters, by their seq here
	local  map[uint64]uint64 // and back
	least  map[uint64]uint64 // number of the least member, by the seq of a cluster that took up others
	parts  map[uint64]*parts // by seq, of clusters that have another part than their node's own
	words  map[uint64]remark // latest on each cluster, by seq
	fresh  []uint64          // foreign clusters, by seq, that were not held against the others yet
	drops  map[uint64]bool   // numbers of clusters that people dropped
	linked map[uint64]bool   // numbers of clusters that an edge begins or ends at
	taught map[uint64]int    // by key of a message: how many other nodes were taught it
	fits   map[uint32]*Store // of other nodes, by their number: nothing but the fits of these stores is used
	counts int               // messages since the start
	people []personAsked     // to be forgotten once the lock is free
	spoke  bool              // this node has counted into some cluster
	newer  atomic.Int64      // entries of a version that this program does not know
	bad    atomic.Int64      // entries that make no sense
}

// Share makes the store share with the nodes of its site, under a name; a store that shares goes on doing so whenever it is
// opened. All nodes need the same key (Options.Key). The error is ErrKey where key is not the store's.
func (s *Store) Share(name string, key []byte) (*Share, error) {
	if key != nil && !bytes.Equal(sealKeyOf(key), s.sealKey) {
		return nil, ErrKey
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shared == nil {
		var incarnation [8]byte
		rand.Read(incarnation[:])
		id := mix(s.hash(name)^binary.LittleEndian.Uint64(incarnation[:])) & nodeMask
		s.shared = newSharing(uint32(id), s.opts.Now)
		s.changes.share(nodeKey)
		s.publishAll()
	}
	s.shared.reach = s.lastSeq + mostLost
	s.changes.share(seqKey(floorItem))
	return &Share{s, s.shared}, nil
}

// ErrKey is returned where a store was made with another key than that of its site.
var ErrKey = errors.New("the store was made with another key")

// nodeMask are the bits of a node's number.
const nodeMask = 1<<(64-seqBits) - 1

func newSharing(node uint32, now func() time.Time) *pooled {
	x := &pooled{
		node: node, now: now, digest: digests{}, values: map[Key][]byte{},
		born: map[uint64]uint64{}, local: map[uint64]uint64{}, least: map[uint64]uint64{}, parts: map[uint64]*parts{}, words: map[uint64]remark{},
		drops: map[uint64]bool{}, linked: map[uint64]bool{}, taught: map[uint64]int{}, fits: map[uint32]*Store{},
	}
	for i := range x.held {
		x.held[i] = map[Key]held{}
	}
	return x
}

// A Share is a store seen as a node among others. Its methods may be called from many goroutines.
type Share struct {
	s *Store
	x *pooled
}

// Node is the number by which entries of this store are known, 24 bits.
func (p *Share) Node() uint32 { return p.x.node }

// Newer is how many entries came that a later version of spamsim wrote, and this one passed over.
func (p *Share) Newer() int64 { return p.x.newer.Load() }

// tick returns a stamp later than all that were seen.
func (x *pooled) tick() uint64 {
	x.clock = max(x.clock+1, uint64(x.now().UnixMilli())<<16)
	return x.clock
}

// hourOf is the hour of a time in Unix seconds.
func hourOf(at int64) uint32 { return uint32(max(0, min(at/hour, forever-1))) }

// say notes that an own entry changed. The value is made when it is sent.
func (s *Store) say(kind Kind, item uint64, until uint32) Key {
	x := s.shared
	k := Key{item, x.node, kind}
	x.hold(k, held{stamp: x.tick(), until: until})
	x.outbox.put(k)
	s.changes.share(k)
	return k
}

// unsay takes an own entry back.
func (s *Store) unsay(kind Kind, item uint64) {
	x := s.shared
	k := Key{item, x.node, kind}
	if h, ok := x.get(k); !ok || h.gone {
		return
	}
	x.hold(k, held{stamp: x.tick(), until: hourOf(x.now().Unix()) + goneHours, gone: true})
	x.outbox.put(k)
	delete(x.values, k)
	s.changes.share(k)
}

func (x *pooled) get(k Key) (h held, ok bool) {
	h, ok = x.held[k.Bucket()][k]
	return h, ok
}

// hold remembers an entry.
func (x *pooled) hold(k Key, h held) {
	if old, ok := x.get(k); ok {
		x.digest.flip(k, old)
	}
	x.held[k.Bucket()][k] = h
	x.digest.flip(k, h)
}

// release forgets an entry whose time has come.
func (x *pooled) release(k Key) {
	if old, ok := x.get(k); ok {
		x.digest.flip(k, old)
	}
	delete(x.held[k.Bucket()], k)
	x.outbox.remove(k)
	x.unteach(k)
	delete(x.values, k)
}

// number is that of a cluster on all nodes, by its seq here.
func (x *pooled) number(seq uint64) uint64 {
	if n, ok := x.born[seq]; ok {
		return n
	}
	return uint64(x.node)<<seqBits | seq
}

// own says whether a number was given here.
func (x *pooled) own(number uint64) bool { return uint32(number>>seqBits) == x.node }

// given says whether a number may have been given: those of other nodes are their affair.
func (s *Store) given(number uint64) bool {
	x := s.shared
	return !x.own(number) || x.seqHere(number) <= max(s.lastSeq, x.reach)
}

// seqHere is the seq here of a cluster's number; 0 where it is not known.
func (x *pooled) seqHere(number uint64) uint64 {
	if x.own(number) {
		return number & (1<<seqBits - 1)
	}
	return x.local[number]
}

// seqFor is seqHere, which gives a seq to a number that is not known.
func (s *Store) seqFor(number uint64) uint64 {
	x := s.shared
	if seq := x.seqHere(number); seq != 0 {
		return seq
	}
	s.lastSeq++
	x.born[s.lastSeq], x.local[number] = number, s.lastSeq
	s.changes.share(seqKey(number))
	return s.lastSeq
}

// leastOf is the number by which a cluster is known to people: the least of its members.
func (x *pooled) leastOf(seq uint64) uint64 {
	if n, ok := x.least[seq]; ok {
		return n
	}
	return x.number(seq)
}

// publishAll says all that a store holds that begins to share.
func (s *Store) publishAll() {
	for h := range uint32(len(s.memory.slab) * slabSize) {
		if s.memory.at(h).state == vacant {
			continue
		}
		c := s.memory.cluster(h)
		s.sayPart(c)
		if c.label != None || c.name != nil {
			s.spoken(c)
		}
	}
	for from := range s.moved {
		s.oneOf(s.now(from), from)
	}
	for key, r := range s.messages {
		if r.taught() {
			s.sayTaught(key)
		}
	}
}
