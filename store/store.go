// Package store remembers recent mail in clusters, and says of a message what it resembles and how improbably.
//
// A cluster is the trace of one campaign, or of one message that resembles nothing yet. It holds at most a few hundred
// features of the text (words, pairs of words, beginnings and ends of words), each with the part of the members that have
// it. A message is held against the clusters that share features with it; the evidence is the sum of the shared features'
// weights, each the logarithm of how rare the feature is in unrelated mail. Features are drawn alike for every message
// (see ranks), so that a sketch of the same size stands for a short text and for a long one: the evidence then
// measures how much of the cluster's text the message contains, and padding does not dilute it, but for a MiB of text in front
// (wordsOf).
//
// The file is a bbolt database; db.go has its format.
package store

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"

	"spamsim/parse"
)

// Label is what people said of a cluster.
type Label uint8

// The labels.
const (
	None Label = iota
	Spam
	Ham
)

// Options of a store. A zero field means its default.
type Options struct {
	Window  time.Duration // how long a cluster lives after its last copy, default 7 days
	Timeout time.Duration // how long Open waits for the file's lock, default 1 s
	Key     []byte        // site key of the sketches and the index; nil: the store makes its own
	// Background is what unrelated mail looks like, as BackgroundBuilder.Bytes gives it; nil: the file beside the store of
	// that name and BackgroundFile, else the shipped one.
	Background []byte
	// ReadOnly opens a file that may be read but not written, and none, or one of no octets, as an empty store; what is counted
	// is lost.
	ReadOnly bool
	// Limit is how many clusters are kept, and a quarter of how many messages; 0: as many as come. Clusters that people
	// labelled stay beyond it.
	Limit int
	// OnDamage lets Open go on with an empty store where the file is damaged: it is told of the name that the file now has
	// and of what is wrong with it. Nil: Open returns ErrDamaged, and the file stays where it is.
	OnDamage func(aside string, err error)
	// Now is the clock by which what nodes share expires, while mail brings its own time; nil: the machine's.
	Now func() time.Time
	// CompactEvery is how often it is looked whether most of the file is free, which is then compacted; 0: never.
	CompactEvery time.Duration
	OnCompact    func(Compacted) // told of each such compaction; nil: nobody is
	// OnError is told of what goes wrong beside the mail: of a commit, which is tried again, of a record that cannot be read, of a
	// snapshot. Nil: nobody is told.
	OnError func(error)
}

// A Store holds the clusters of recent mail. Its methods may be called from many goroutines.
type Store struct {
	opts    Options
	sealKey []byte

	mu       sync.Mutex
	memory   memory
	messages map[uint64]remembered // by the key of the message
	moved    map[uint64]uint64     // clusters that were merged away: their seq to that of the one that took them up
	lastSeq  uint64
	hand     hand  // drops clusters over the limit
	swept    int64 // when clusters were last expired, Unix seconds
	sweep    sweep
	fits     [parse.CJK + 1]fit
	unsaved  int // messages since fits were written
	changes  changes
	shared   *pooled // nil: the store shares with nobody

	unwritten unwritten

	path       string                   // of the file
	db         atomic.Pointer[bbolt.DB] // nil: a store in memory; a compaction puts another one there
	swap       sync.RWMutex             // of db: held where a transaction of it begins, and where it changes
	commits    committer
	compaction compaction
}

// A delivery is what is remembered of one counted message, so that it is counted once and can be taken back.
type delivery struct {
	seq     uint64 // of the cluster it was counted into
	arrival uint64 // key in the file
	at      int64  // Unix seconds
	sender  uint64
	network uint64
	rcpts   []uint64
	taught  bool // by train
}

// Transaction is what is known of how a message came.
type Transaction struct {
	Message    string // what tells it from others: Message-ID and envelope, or a digest
	Sender     string
	Network    string // "" where unknown
	Recipients []string
	Time       time.Time
}

// Evidence says what a message resembles.
type Evidence struct {
	Abstain string  // why there is nothing to say: "short"; else ""
	Sigma   float64 // of the best match, 0 where nothing matched
	Score   float64 // the evidence in nats, lowered where little of the text is shared
	Member  bool    // the message is counted, or would be, as a copy of the cluster
	Cluster string  // id in hex, "" where nothing matched
	Copies  int     // of the cluster, this message included where it is a member
	Senders Count
	Nets    Count
	Rcpts   Count
	Label   Label
	First   time.Time // when the cluster's first and last copy came
	Last    time.Time
	Sample  string // the subject of its first message

	Nilsimsa  int     // similarity to the cluster's code
	SimHash   int     // distance from the cluster's fingerprint
	InCore    float64 // containment: the shared part of the cluster's text
	InMessage float64 // and of the message's
	Known     bool    // the message was counted before
}

// Errors of Open.
var (
	ErrInUse   = errors.New("the store is in use by another process")
	ErrForeign = errors.New("not a store of spamsim")
	ErrVersion = errors.New("the store is of another version of spamsim")
)

// Open opens the store at path, or makes it. Path "" is a scratch store in memory. A file that is not a store of spamsim, or
// one of a later version, is left as it is.
func Open(path string, o Options) (*Store, error) {
	s, err := openStore(path, o)
	if err == nil || !errors.Is(err, ErrDamaged) || o.OnDamage == nil || o.ReadOnly {
		return s, err
	}
	aside, failed := setAside(path)
	if failed != nil {
		return nil, errors.Join(err, failed)
	}
	o.OnDamage(aside, err)
	return openStore(path, o)
}

func openStore(path string, o Options) (*Store, error) {
	if o.Window == 0 {
		o.Window = 7 * 24 * time.Hour
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Timeout == 0 {
		o.Timeout = inUseAfter
	}
	back, err := openBackground(path, o.Background)
	if err != nil {
		return nil, err
	}
	s := &Store{
		opts: o, memory: memory{back: back},
		messages: map[uint64]remembered{}, moved: map[uint64]uint64{},
		unwritten: unwritten{map[uint64][]byte{}, map[uint64]*delivery{}},
	}
	key := o.Key
	if o.ReadOnly && missing(path) {
		path = ""
	}
	if path != "" {
		if key, err = s.openFile(path); err != nil {
			return nil, err
		}
	} else if key == nil {
		key = newKey()
	}
	s.memory.key, s.sealKey = keyOf(key), sealKeyOf(key)
	if db := s.db.Load(); db != nil {
		if err := s.load(); err != nil {
			db.Close()
			return nil, fmt.Errorf("%s: %w: %w", path, ErrDamaged, err)
		}
		if !o.ReadOnly {
			s.tell(dropSnapshot(path))
			s.changes.reset()
			s.commits.start(s)
			s.compaction.closing = make(chan struct{})
			if o.CompactEvery > 0 {
				s.compaction.kept.Go(s.keepSmall)
			}
		}
	}
	return s, nil
}

// inUseAfter is how long Open waits for the lock of a file unless told otherwise.
const inUseAfter = time.Second

func newKey() []byte {
	key := make([]byte, 32)
	rand.Read(key) // never fails
	return key
}

// keyOf folds a key of any length into a word.
func keyOf(key []byte) uint64 {
	h := uint64(len(key))
	for len(key) > 0 {
		var word [8]byte
		key = key[copy(word[:], key):]
		h = mix(h ^ binary.LittleEndian.Uint64(word[:]))
	}
	return h
}

// count stores a judged message: in the cluster it is a copy of, merging those that it bridges, or as a new one.
func (s *Store) count(j *judgement, x *Transaction, l Label) uint64 {
	now := x.Time.Unix()
	c, fresh := s.taker(j, now)
	c.came(now)
	if l != None {
		c.label = l
	}
	d := &delivery{seq: c.seq, at: now, sender: j.q.sender, network: s.hash(x.Network), taught: l != None}
	for _, r := range x.Recipients {
		d.rcpts = append(d.rcpts, s.hash(r))
		c.rcpts.add(s.hash(r), 1)
	}
	c.senders.add(d.sender, 1)
	c.nets.add(d.network, 1)
	if fresh {
		s.begin(c)
	}
	s.lastSeq++
	d.arrival = s.lastSeq
	if _, again := s.messages[j.key]; again { // its cluster is gone
		s.disremember(j.key)
	}
	s.remember(j.key, d)
	s.counted(c, j.q, d)
	s.changes.cluster(c.seq)
	s.bound(now, c.seq)
	return c.seq
}

// taker returns the cluster that takes the message up; a fresh one has no place yet.
func (s *Store) taker(j *judgement, now int64) (c *cluster, fresh bool) {
	if n := j.merged(); n > 0 && !j.apart() {
		h := s.mergeAll(j.matches[:n])
		s.counting(s.memory.cluster(h))
		s.memory.join(h, j.q)
		return s.memory.cluster(h), false
	}
	s.lastSeq++
	c = &cluster{seq: s.lastSeq, first: now, last: now, nilsimsa: j.q.t.Nilsimsa, simhash: j.q.t.SimHash, sample: clip(j.q.t.Sample)}
	s.memory.begin(c, j.q)
	return c, true
}

// begin gives a cluster of one message its place.
func (s *Store) begin(c *cluster) {
	s.memory.place(c)
	if c.alone() {
		s.unwritten.records[c.seq] = c.marshal()
	}
}

// mergeAll makes one cluster of the matched ones, the oldest and largest taking up the others.
func (s *Store) mergeAll(ms []match) uint32 {
	h := s.grow(ms[0].handle, ms[0].c)
	for _, m := range ms[1:] {
		into, from := h, s.grow(m.handle, m.c)
		if s.memory.cluster(from).copies > s.memory.cluster(into).copies {
			into, from = from, into
		}
		s.mergeOne(into, from, true)
		h = into
	}
	return h
}

// mergeOne makes cluster from part of another, both of which can change; found says that it was found here that they are one.
func (s *Store) mergeOne(into, from uint32, found bool) {
	a, b := s.memory.cluster(into), s.memory.cluster(from)
	s.merging(a, b, found)
	s.moved[b.seq] = a.seq
	s.memory.merge(into, from)
	s.changes.cluster(b.seq)
	s.changes.cluster(a.seq)
	s.merged(a.seq)
}

// grow lets a solo be a cluster that can change, which c is in full.
func (s *Store) grow(h uint32, c *cluster) uint32 {
	if s.memory.at(h).state == alone {
		delete(s.unwritten.records, c.seq)
		s.memory.grow(h, c)
	}
	return h
}

// now is the seq of the cluster that a cluster has become part of.
func (s *Store) now(seq uint64) uint64 {
	for range 64 {
		next, ok := s.moved[seq]
		if !ok {
			break
		}
		seq = next
	}
	return seq
}

// sampleLen is how many bytes of a subject are kept.
const sampleLen = 120

func clip(subject string) string {
	if len(subject) <= sampleLen {
		return subject
	}
	for i := range subject {
		if i > sampleLen-4 {
			return subject[:i]
		}
	}
	return subject
}

// hash is the keyed hash by which the store knows a name; 0 stands for the empty one.
func (s *Store) hash(name string) uint64 {
	if name == "" {
		return 0
	}
	return mix(keyOf([]byte(name))^s.memory.key) | 1
}

// id is the public name of a cluster: a permutation of its number, so that ids do not tell how much mail there was.
func (s *Store) id(seq uint64) string {
	if s.shared != nil {
		return s.sharedID(seq)
	}
	x := uint32(seq)
	for round := range uint32(4) { // a Feistel network over two halves of 16 bits
		l, r := x>>16, x&0xffff
		f := uint32(mix(uint64(r)<<8|uint64(round)^s.memory.key)) & 0xffff
		x = r<<16 | (l ^ f)
	}
	return fmt.Sprintf("%08x", x)
}

// seqOf is the number of which an id is the public name, 0 where it is none.
func (s *Store) seqOf(id string) uint64 {
	if s.shared != nil && len(id) == sharedIDSize {
		return s.sharedSeqOf(id)
	}
	parsed, err := strconv.ParseUint(id, 16, 32)
	if err != nil || len(id) != 8 {
		return 0
	}
	x := uint32(parsed)
	for round := uint32(4); round > 0; round-- {
		r, l := x>>16, x&0xffff
		f := uint32(mix(uint64(r)<<8|uint64(round-1)^s.memory.key)) & 0xffff
		x = (l^f)<<16 | r
	}
	seq := s.lastSeq&^math.MaxUint32 | uint64(x) // an id has the lower half of the number: the latest that fits is meant
	if seq > s.lastSeq {
		seq -= 1 << 32
	}
	return seq
}

// Stats are the store's counters of now.
type Stats struct {
	Clusters, Campaigns int   // clusters, and those of two copies or more
	Messages            int   // counted and not yet expired
	Bytes               int64 // size of the file
	Free                int64 // octets of it that hold nothing, which what comes next will take
	Commits, Failures   int64 // of the file
}

// Stats returns the counters of now.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Stats{Clusters: s.memory.live, Messages: len(s.messages)}
	for _, c := range s.memory.grown {
		if c != nil && c.copies > 1 {
			out.Campaigns++
		}
	}
	out.Commits, out.Failures = s.commits.done.Load(), s.commits.failed.Load()
	if s.db.Load() != nil {
		out.Bytes, out.Free = s.fileSize(), freeOctets(s.db.Load())
	}
	return out
}

// String returns the word of the header.
func (l Label) String() string { return [...]string{"none", "spam", "ham"}[l] }
