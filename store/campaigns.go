package store

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"
	"time"
)

// A Campaign is a cluster as people look at it.
type Campaign struct {
	ID      string // in hex
	Name    string // that people gave it; "" where they gave none
	Label   Label
	Copies  int
	Senders Count
	Nets    Count
	Rcpts   Count
	First   time.Time // when its first and its last copy came
	Last    time.Time
	Sample  string  // the subject of its first copy, as its sender wrote it
	Heat    float64 // copies of late when the last one came: see Rate
}

// View says which clusters are looked at, and in which order.
type View uint8

// The views.
const (
	Live     View = iota // of two copies or more, those with most copies of late first
	Biggest              // of two copies or more, by their copies
	Newest               // of two copies or more, those that began last first
	Labelled             // that people labelled, also of one copy, by their copies
)

// ErrNoCluster is returned for an id of which there is no cluster.
var ErrNoCluster = errors.New("no such cluster")

// lockedFor is how many clusters or messages are looked at before the mail has its turn again.
const lockedFor = 4096

// Campaigns returns the first limit campaigns of a view; 0 is all.
func (s *Store) Campaigns(v View, limit int) []Campaign {
	all := s.ranked(v)
	slices.SortFunc(all, func(a, b ranked) int { return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(b.seq, a.seq)) })
	if limit > 0 {
		all = all[:min(limit, len(all))]
	}
	out := make([]Campaign, 0, len(all))
	for part := range slices.Chunk(all, lockedFor) {
		s.mu.Lock()
		for _, r := range part {
			if h, ok := s.memory.handle(r.seq); ok { // it may have been merged or expired meanwhile
				out = append(out, s.campaign(s.memory.cluster(h)))
			}
		}
		s.mu.Unlock()
	}
	return out
}

// A ranked is a cluster and its place in a view, the higher the sooner.
type ranked struct {
	seq  uint64
	rank float64
}

func (s *Store) ranked(v View) (out []ranked) {
	for from, n := 0, 1; from < n; from += lockedFor {
		s.mu.Lock()
		n = len(s.memory.grown)
		for _, c := range s.memory.grown[min(from, n):min(from+lockedFor, n)] {
			if c != nil && (c.label != None || v != Labelled) && (c.copies > 1 || v == Labelled) {
				out = append(out, ranked{c.seq, v.rank(c)})
			}
		}
		s.mu.Unlock()
	}
	return out
}

func (v View) rank(c *cluster) float64 {
	switch v {
	case Live: // the logarithm of the heat at a time that is the same for all
		return math.Log(float64(c.heat)) + float64(c.last)/rateSpan.Seconds()
	case Newest:
		return float64(c.first)
	}
	return float64(c.copies)
}

func (s *Store) campaign(c *cluster) Campaign {
	out := Campaign{
		ID: s.id(c.seq), Label: c.label, Copies: int(c.copies), Senders: c.senders.count(), Nets: c.nets.count(), Rcpts: c.rcpts.count(),
		First: time.Unix(c.first, 0), Last: time.Unix(c.last, 0), Sample: c.sample, Heat: float64(c.heat),
	}
	if c.name != nil {
		out.Name = *c.name
	}
	return out
}

// A Detail is what is remembered of one campaign. Senders and networks are known by their hashes alone.
type Detail struct {
	Campaign
	Hours    []Hour // from the first to the last of its messages that are remembered, at most a window before the last
	BySender []int  // copies of each sender, most first, of the 64 that came first
	ByNet    []int  // and of each network
	Features int    // of its text and attachments, that count
	Constant int    // of those, the ones that nine in ten of its copies and more have
}

// An Hour is one hour of a campaign.
type Hour struct {
	Start  time.Time
	Copies int
}

// Campaign returns what is remembered of a cluster. The id of one that was merged away stands for the one that took it up,
// which the answer names. The error is ErrNoCluster, or that the file cannot be read.
func (s *Store) Campaign(id string) (Detail, error) {
	s.mu.Lock()
	h, err := s.find(id)
	if err != nil {
		s.mu.Unlock()
		return Detail{}, err
	}
	c := s.full(h)
	out := Detail{Campaign: s.campaign(c), BySender: c.senders.shares(), ByNet: c.nets.shares()}
	for _, e := range c.elements.unpack() {
		if c.inCore(e) > 0 {
			out.Features++
			if e.share() >= constantShare {
				out.Constant++
			}
		}
	}
	own, since := s.family(c.seq), c.last-int64(s.opts.Window/time.Second)
	s.mu.Unlock()
	hours := map[int64]int{}
	err = s.eachDelivery(func(_ uint64, d *delivery) {
		if own[d.seq] && d.at >= since {
			hours[d.at/hour]++
		}
	})
	out.Hours = timeline(hours)
	return out, err
}

// hour is an hour in seconds.
const hour = 3600

// timeline puts hours in their order and fills the gaps.
func timeline(hours map[int64]int) []Hour {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for h := range hours {
		first, last = min(first, h), max(last, h)
	}
	var out []Hour
	for h := first; h <= last; h++ {
		out = append(out, Hour{time.Unix(h*hour, 0), hours[h]})
	}
	return out
}

// find returns the handle of the cluster of an id; the lock is held.
func (s *Store) find(id string) (uint32, error) {
	h, ok := s.memory.handle(s.now(s.seqOf(id)))
	if !ok {
		return 0, ErrNoCluster
	}
	return h, nil
}

// family returns the seq of a cluster and those of the ones that it took up; the lock is held.
func (s *Store) family(seq uint64) map[uint64]bool {
	own := map[uint64]bool{seq: true}
	for from := range s.moved {
		if s.now(from) == seq {
			own[from] = true
		}
	}
	return own
}

// Label sets what people say of a cluster, and its name: nil leaves the name as it is, "" takes it away, and one over 120
// octets is cut. A labelled cluster does not expire. It is on disk once Sync has returned. The error is ErrNoCluster.
func (s *Store) Label(id string, l Label, name *string) (Campaign, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, err := s.find(id)
	if err != nil {
		return Campaign{}, err
	}
	c := s.memory.cluster(s.grow(h, s.full(h)))
	c.label = l
	if name != nil {
		c.setName(*name)
	}
	s.spoken(c)
	s.changes.cluster(c.seq)
	return s.campaign(c), nil
}

func (c *cluster) setName(name string) {
	c.name = nil
	if name = clip(strings.ToValidUTF8(name, "\ufffd")); name != "" {
		c.name = &name
	}
}

// Drop forgets a cluster with its messages, and returns how many those were: the next copy is a first one. It is on disk
// once Sync has returned. The error is ErrNoCluster, or that the file cannot be read.
func (s *Store) Drop(id string) (messages int, err error) {
	s.mu.Lock()
	h, err := s.find(id)
	if err != nil {
		s.mu.Unlock()
		return 0, err
	}
	seq := s.memory.at(h).seq
	own := s.family(seq)
	s.discarded(own)
	for gone := range own {
		if s.shared == nil { // else an edge may yet lead there
			delete(s.moved, gone)
		}
		s.changes.cluster(gone)
	}
	s.drop(h)
	s.mu.Unlock()
	var keys []uint64
	err = s.eachDelivery(func(key uint64, d *delivery) {
		if own[d.seq] {
			keys = append(keys, key)
		}
	})
	for part := range slices.Chunk(keys, lockedFor) {
		s.mu.Lock()
		for _, key := range part {
			if _, ok := s.messages[key]; ok { // it may have expired meanwhile
				s.disremember(key)
				messages++
			}
		}
		s.mu.Unlock()
	}
	return messages, err
}
