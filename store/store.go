// Package store remembers recent mail in clusters, and says of a message what it resembles and how improbably.
//
// A cluster is the trace of one campaign, or of one message that resembles nothing yet. It holds at most a few hundred
// features of the text (words, pairs of words, beginnings and ends of words), each with the part of the members that have
// it. A message is held against the clusters that share features with it; the evidence is the sum of the shared features'
// weights, each the logarithm of how rare the feature is in unrelated mail. Features are drawn alike for every message
// (see ranks), so that a sketch of the same size stands for a short text and for a long one: the evidence then
// measures how much of the cluster's text the message contains, and padding does not dilute it.
//
// The file is a bbolt database; db.go has its format.
package store

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"spamsim/parse"
	"spamsim/simhash"
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
	// ReadOnly opens a file that may be read but not written, and no file as an empty store; what is counted is lost.
	ReadOnly bool
	// Limit is how many clusters are kept, and a quarter of how many messages; 0: as many as come. Clusters that people
	// labelled stay beyond it.
	Limit int
	// OnDamage lets Open go on with an empty store where the file is damaged: it is told of the name that the file now has
	// and of what is wrong with it. Nil: Open returns ErrDamaged, and the file stays where it is.
	OnDamage func(aside string, err error)
	OnError  func(error) // told of a commit that went wrong, which is tried again; nil: nobody is told
}

// A Store holds the clusters of recent mail. Its methods may be called from many goroutines.
type Store struct {
	opts    Options
	sealKey []byte

	mu       sync.Mutex
	memory   memory
	messages map[uint64]*delivery // by the key of the message
	handles  map[uint64]uint32    // of clusters, by their seq
	moved    map[uint64]uint64    // clusters that were merged away: their seq to that of the one that took them up
	lastSeq  uint64
	hand     hand  // drops clusters over the limit
	swept    int64 // when clusters were last expired, Unix seconds
	sweep    sweep
	fits     [parse.CJK + 1]fit
	unsaved  int // messages since fits were written
	changes  changes

	db      *bbolt.DB
	commits committer
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
	if o.Timeout == 0 {
		o.Timeout = time.Second
	}
	back, err := openBackground(path, o.Background)
	if err != nil {
		return nil, err
	}
	s := &Store{
		opts: o, memory: memory{back: back},
		messages: map[uint64]*delivery{}, handles: map[uint64]uint32{}, moved: map[uint64]uint64{},
	}
	key := o.Key
	if _, e := os.Stat(path); o.ReadOnly && errors.Is(e, os.ErrNotExist) {
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
	if s.db != nil {
		if err := s.load(); err != nil {
			s.db.Close()
			return nil, fmt.Errorf("%s: %w: %w", path, ErrDamaged, err)
		}
		if !o.ReadOnly {
			if err := os.WriteFile(path+openMark, nil, 0o600); err != nil && o.OnError != nil {
				o.OnError(err) // an unclean stop will not be noticed
			}
			s.changes.reset()
			s.commits.start(s)
		}
	}
	return s, nil
}

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

// Judge says what a message resembles and leaves no trace of it.
func (s *Store) Judge(t *Trace, x *Transaction) Evidence {
	q := s.memory.query(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ev := s.judge(q, x)
	return ev
}

// Count judges a message and counts it. A message that was counted before is judged as it was then.
func (s *Store) Count(t *Trace, x *Transaction) Evidence {
	q := s.memory.query(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(x.Time)
	j, ev := s.judge(q, x)
	if ev.Abstain == "" && !ev.Known {
		s.observe(j)
		s.count(j, x, None)
	}
	return ev
}

// observe lets the message say what unrelated mail looks like.
func (s *Store) observe(j *judgement) {
	rate := math.Inf(1)
	for i := range j.matches {
		rate = min(rate, s.rate(&j.matches[i], j.q.t))
	}
	s.fits[j.q.t.Script].observe(rate)
	s.unsaved++
}

// A judgement is a message and the clusters it resembles.
type judgement struct {
	q       *query
	key     uint64
	matches []match
	members int // matches at the front of which it is a copy
}

// minTokens is the number of words below which a text says too little, where no attachment speaks for it.
const minTokens = 12

// judge holds a message against the store.
func (s *Store) judge(q *query, x *Transaction) (*judgement, Evidence) {
	j := &judgement{q: q, key: s.hash(x.Message)}
	j.q.sender = s.hash(x.Sender)
	if !q.t.informative() {
		return j, Evidence{Abstain: "short"}
	}
	if d := s.messages[j.key]; d != nil {
		if h, ok := s.handles[s.now(d.seq)]; ok {
			return j, s.again(j, h)
		}
	}
	j.matches = s.memory.matches(j.q)
	for _, m := range j.matches {
		if m.score < joinScore {
			break
		}
		j.members++
	}
	return j, s.evidence(j, x)
}

// informative says whether there is enough in a message to judge it.
func (t *Trace) informative() bool {
	if t.Tokens >= minTokens {
		return true
	}
	for _, f := range t.features {
		if f.kind == attachment {
			return true
		}
	}
	return false
}

// again is the evidence of a message that was counted into a cluster already.
func (s *Store) again(j *judgement, h uint32) Evidence {
	m := s.memory.measure(j.q, h)
	ev := s.describe(&m, j.q.t)
	ev.Member, ev.Known = true, true
	return ev
}

// evidence is what the matches say.
func (s *Store) evidence(j *judgement, x *Transaction) Evidence {
	if len(j.matches) == 0 {
		return Evidence{}
	}
	ev := s.describe(&j.matches[0], j.q.t)
	best := j.foremost()
	if best > 0 {
		ev = s.describe(&j.matches[best], j.q.t)
	}
	ev.Sigma = 0
	for i := range j.matches {
		ev.Sigma = max(ev.Sigma, s.sigma(&j.matches[i], j.q.t))
	}
	if ev.Member = j.members > 0; !ev.Member {
		return ev
	}
	s.include(&ev, j, best, x)
	return ev
}

// include counts the message, and the clusters that it joins, into what is said of the cluster.
func (s *Store) include(ev *Evidence, j *judgement, best int, x *Transaction) {
	c := j.matches[best].c
	senders, nets, rcpts := c.senders.clone(), c.nets.clone(), c.rcpts.clone()
	if best == 0 && !j.apart() {
		for _, m := range j.matches[1:j.merged()] {
			ev.Copies += int(m.c.copies)
			senders.merge(&m.c.senders)
			nets.merge(&m.c.nets)
			rcpts.merge(&m.c.rcpts)
		}
	}
	ev.Copies++
	senders.add(j.q.sender, 1)
	nets.add(s.hash(x.Network), 1)
	for _, r := range x.Recipients {
		rcpts.add(s.hash(r), 1)
	}
	ev.Senders, ev.Nets, ev.Rcpts = senders.count(), nets.count(), rcpts.count()
}

// foremost is the match to speak of: the best one, unless that is of few copies and another of the clusters that the message
// is a copy of has many.
func (j *judgement) foremost() int {
	if j.members == 0 || j.matches[0].c.copies >= manyCopies {
		return 0
	}
	for i := range j.matches[1:max(1, j.members)] {
		if j.matches[i+1].c.copies >= manyCopies {
			return i + 1
		}
	}
	return 0
}

// apart says whether the message is kept as a cluster of its own although it is a copy: where a grown cluster stands for
// too small a part of its text, its siblings would not be recognised by that cluster.
func (j *judgement) apart() bool {
	m := &j.matches[0]
	return m.c.copies >= maxGrowth && m.inMessage < wellKnown
}

// wellKnown is the share of a message's text that a grown cluster must have to take it up.
const wellKnown = 0.3

// merged is how many of the matches become one cluster with the message.
func (j *judgement) merged() int {
	n := min(1, j.members)
	for n < j.members && j.matches[n].score >= mergeScore {
		n++
	}
	return n
}

const (
	joinScore  = 25  // nats from which a message counts as a copy
	mergeScore = 300 // nats from which a message makes two clusters one
)

func (s *Store) describe(m *match, t *Trace) Evidence {
	c := m.c
	return Evidence{
		Score: m.score, Cluster: s.id(c.seq), Copies: int(c.copies), Label: c.label, Sample: c.sample,
		Senders: c.senders.count(), Nets: c.nets.count(), Rcpts: c.rcpts.count(),
		First: time.Unix(c.first, 0), Last: time.Unix(c.last, 0), Sigma: s.sigma(m, t),
		Nilsimsa: t.Nilsimsa.Similarity(c.nilsimsa), SimHash: simhash.Distance(t.SimHash, c.simhash),
		InCore: m.inCore, InMessage: m.inMessage,
	}
}

// count stores a judged message: in the cluster it is a copy of, merging those that it bridges, or as a new one.
func (s *Store) count(j *judgement, x *Transaction, l Label) uint64 {
	now := x.Time.Unix()
	var c *cluster
	if n := j.merged(); n > 0 && !j.apart() {
		h := s.mergeAll(j.matches[:n])
		c = s.memory.clusters[h]
		s.memory.join(h, j.q)
	} else {
		s.lastSeq++
		c = &cluster{seq: s.lastSeq, first: now, last: now, nilsimsa: j.q.t.Nilsimsa, simhash: j.q.t.SimHash, sample: clip(j.q.t.Sample)}
		s.handles[c.seq] = s.memory.insert(c, j.q)
	}
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
	s.lastSeq++
	d.arrival = s.lastSeq
	if old := s.messages[j.key]; old != nil { // its cluster is gone
		s.changes.gone(j.key, old.arrival)
	}
	s.messages[j.key] = d
	s.changes.cluster(c.seq)
	s.changes.message(j.key)
	s.bound(now, c.seq)
	return c.seq
}

// mergeAll makes one cluster of the matched ones, the oldest and largest taking up the others.
func (s *Store) mergeAll(ms []match) uint32 {
	h := ms[0].handle
	for _, m := range ms[1:] {
		into, from := h, m.handle
		if s.memory.clusters[from].copies > s.memory.clusters[into].copies {
			into, from = from, into
		}
		gone := s.memory.clusters[from].seq
		s.moved[gone] = s.memory.clusters[into].seq
		delete(s.handles, gone)
		s.memory.merge(into, from)
		s.changes.cluster(gone)
		h = into
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
	Commits, Failures   int64 // of the file
}

// Stats returns the counters of now.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := Stats{Clusters: s.memory.live, Messages: len(s.messages)}
	for _, c := range s.memory.clusters {
		if c != nil && c.copies > 1 {
			out.Campaigns++
		}
	}
	out.Commits, out.Failures = s.commits.done.Load(), s.commits.failed.Load()
	if s.db != nil {
		out.Bytes = s.fileSize()
	}
	return out
}

// String returns the word of the header.
func (l Label) String() string { return [...]string{"none", "spam", "ham"}[l] }
