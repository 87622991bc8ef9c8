package replica

import (
	"cmp"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"spamsim/store"
)

// Status is how a node stands with its peers. Times are null, and texts empty, where there is nothing to tell.
type Status struct {
	Node      string        `json:"node"` // number, as peers name it
	Connected bool          `json:"connected"`
	Since     *time.Time    `json:"since"` // when the session with the broker began, or was lost
	Error     string        `json:"error"` // why the last session ended
	Sessions  int64         `json:"sessions"`
	Sent      int64         `json:"sent"`     // entries
	Received  int64         `json:"received"` // entries of others
	Compared  int64         `json:"compared"` // comparisons with the state
	Forged    int64         `json:"forged"`   // entries and batches that are not of this site's key
	Newer     int64         `json:"newer"`    // entries and batches of a later version, passed over
	Twins     int64         `json:"twins"`    // batches by another process with this node's number: a copied store
	Entries   int           `json:"entries"`  // held
	State     int64         `json:"state"`    // entries of the broker's state
	Lag       time.Duration `json:"lag_ns"`   // of this node behind the stream
	Clock     time.Duration `json:"clock_ns"` // how far this machine's clock is ahead of the broker's
	Digest    string        `json:"digest"`   // over all entries
	Peers     []Peer        `json:"peers"`    // by name, this node among them
}

// A Peer is a node as it tells of itself.
type Peer struct {
	Node       string        `json:"node"`
	Name       string        `json:"name"`
	Version    string        `json:"version"`
	Background string        `json:"background"` // sums up what words are worth there
	Seen       time.Time     `json:"seen"`       // when it was last heard of, by this machine's clock
	Lives      bool          `json:"lives"`
	Lag        time.Duration `json:"lag_ns"`
	Clock      time.Duration `json:"clock_ns"` // how far its clock is ahead of the broker's
	Entries    int           `json:"entries"`
	Digest     string        `json:"digest"`
	Same       bool          `json:"same"` // its digest is that of this node
}

// An Event is a counter and its name.
type Event struct {
	Name string
	N    int64
}

// Events are the counters.
func (s *Status) Events() []Event {
	return []Event{
		{"sent", s.Sent}, {"received", s.Received}, {"compared", s.Compared}, {"sessions", s.Sessions},
		{"forged", s.Forged}, {"newer", s.Newer}, {"twins", s.Twins},
	}
}

// about is what a node tells of itself.
type about struct {
	Name       string
	Version    string
	Background string
	Beat       uint64 // counts up
	Hour       uint32 // that the digests are of
	Digests    string // hex, 16 digits a bucket
	Entries    int
	Lag        time.Duration
	Clock      time.Duration
}

// A peer is what is known of another node.
type peer struct {
	about
	seen time.Time // when its beat last changed
}

// goneAfter is after how long without a beat a node is taken for gone.
const goneAfter = 30 * time.Second

// lives says whether a node does; one that was not heard of yet may. The lock is held.
func (r *Replica) lives(node uint32, now time.Time) bool {
	p, ok := r.seen[node]
	return ok && now.Sub(p.seen) < goneAfter
}

// Status returns how things stand.
func (r *Replica) Status() Status {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.status
	s.Peers = []Peer{}
	s.Node = nodeField(r.share.Node())
	s.Newer += r.share.Newer()
	s.Clock = r.clock
	s.Entries = r.share.Len()
	_, hour := r.hours()
	mine := r.share.Digest(hour)
	s.Digest = short(mine)
	for node, p := range r.seen {
		out := Peer{
			Node: nodeField(node), Name: p.Name, Version: p.Version, Background: p.Background, Seen: p.seen, Lives: r.lives(node, time.Now()),
			Lag: p.Lag, Clock: p.Clock, Entries: p.Entries,
		}
		if theirs, err := p.digests(); err == nil {
			out.Digest, out.Same = short(theirs), theirs == r.share.Digest(p.Hour)
		}
		s.Peers = append(s.Peers, out)
	}
	slices.SortFunc(s.Peers, func(a, b Peer) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Node, b.Node)) })
	return s
}

// short is a digest for people.
func short(d [store.Buckets]uint64) string {
	var sum uint64
	for i, v := range d {
		sum = sum*0x9e3779b97f4a7c15 + v + uint64(i)
	}
	return fmt.Sprintf("%016x", sum)
}

func (a *about) digests() (out [store.Buckets]uint64, err error) {
	b, err := hex.DecodeString(a.Digests)
	if err != nil || len(b) != 8*store.Buckets {
		return out, fmt.Errorf("digests: %w", errForged)
	}
	for i := range out {
		for _, octet := range b[8*i : 8*i+8] {
			out[i] = out[i]<<8 | uint64(octet)
		}
	}
	return out, nil
}

// meet beats once, to learn who else there is.
func (r *Replica) meet(ctx context.Context, b *broker) error {
	r.mu.Lock()
	_, hour := r.hours()
	a := about{
		Name: r.o.Name, Version: r.o.Version, Background: r.o.Background, Beat: uint64(time.Now().UnixNano()), Hour: hour,
		Lag: r.status.Lag, Clock: r.clock,
	}
	r.mu.Unlock()
	return r.beat(ctx, b, &a)
}

func (r *Replica) beat(ctx context.Context, b *broker, a *about) error {
	a.Entries = r.share.Len()
	var digests strings.Builder
	for _, v := range r.share.Digest(a.Hour) {
		fmt.Fprintf(&digests, "%016x", v)
	}
	a.Digests = digests.String()
	data, err := json.Marshal(a)
	if err != nil {
		return err
	}
	sent := time.Now()
	all, now, err := b.beat(ctx, r.share.Node(), append(data, r.seal.sum("n", data)...))
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.clock = sent.Sub(now)
	r.mu.Unlock()
	var gone []string
	for field, data := range all {
		if r.heed(field, []byte(data), now) {
			gone = append(gone, field)
		}
	}
	r.miss(all)
	return b.dismiss(ctx, gone)
}

// keepNode is for how long a node is told of that is not heard of: each store that is made anew has another number, and all nodes
// read all of it each second.
const keepNode = 7 * 24 * time.Hour

// miss forgets the nodes that are gone and that the broker tells of no more.
func (r *Replica) miss(all map[string]string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for node := range r.seen {
		if _, told := all[nodeField(node)]; !told && !r.lives(node, time.Now()) {
			delete(r.seen, node)
		}
	}
}

// heed notes what a node tells of itself, and says whether it did so too long ago to be told of. now is the broker's clock.
func (r *Replica) heed(field string, data []byte, now time.Time) (gone bool) {
	node, err := strconv.ParseUint(field, 16, 32)
	if err != nil {
		r.refuse(errForged)
		return false
	}
	data, err = r.seal.unseal("n", nil, data)
	var a about
	if err == nil {
		err = json.Unmarshal(data, &a)
	}
	if err != nil {
		r.refuse(fmt.Errorf("node %s: %w", field, errForged))
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if told := time.Unix(0, int64(a.Beat)).Add(-a.Clock); now.Sub(told) > keepNode && uint32(node) != r.share.Node() {
		return true
	}
	p, known := r.seen[uint32(node)]
	if !known {
		p = &peer{seen: time.Now()}
		r.seen[uint32(node)] = p
	}
	if p.Beat != a.Beat {
		p.seen = time.Now()
	}
	p.about = a
	return false
}

// beats tells that this node lives, and looks each time whether all hold the same.
func (r *Replica) beats(ctx context.Context, b *broker) error {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	swept, compared := time.Now(), time.Now()
	moved, turn := int64(0), 0
	for {
		if err := r.meet(ctx, b); err != nil {
			return err
		}
		if err := r.measure(ctx, b); err != nil {
			return err
		}
		if time.Since(swept) > sweepEvery {
			r.share.Sweep()
			swept = time.Now()
		}
		busy := moved != r.moved()
		moved = r.moved()
		if differ := r.differing(); len(differ) > 0 && time.Since(compared) > 2*beat {
			if busy { // they all differ at any moment: one after the other is enough
				turn++
				differ = differ[turn%len(differ):][:1]
			}
			if err := r.compare(ctx, b, differ); err != nil {
				return err
			}
			compared = time.Now()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// measure notes how large the state is and how far this node is behind.
func (r *Replica) measure(ctx context.Context, b *broker) error {
	n, err := b.size(ctx)
	if err != nil {
		return err
	}
	mark := r.position()
	newest, err := b.newest(ctx)
	if err != nil {
		return err
	}
	if atOf(newest).Before(atOf(mark)) {
		return errStream
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status.State = n
	r.status.Lag = 0
	if r.mark != emptyStream {
		r.status.Lag = max(0, atOf(newest).Sub(atOf(r.mark)))
	}
	return nil
}

// errStream ends a session in which the stream began anew: what is told now comes before what was read last.
var errStream = errors.New("the stream was lost")

// differing are the buckets to compare: those in which this node and another differ; all where the state has fewer entries than this node.
// A node whose clock is an hour off holds more than others, or less, of what ends within that hour, which is no reason.
func (r *Replica) differing() (out []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	short := r.status.State < int64(r.share.Len()) && r.clock > -time.Hour
	_, hour := r.hours()
	var differ [store.Buckets]bool
	for node, p := range r.seen {
		theirs, err := p.digests()
		if err != nil || node == r.share.Node() || !r.lives(node, time.Now()) || p.Hour < hour {
			continue
		}
		mine := r.share.Digest(p.Hour)
		for i := range differ {
			differ[i] = differ[i] || mine[i] != theirs[i]
		}
	}
	for i, d := range differ {
		if d || short {
			out = append(out, i)
		}
	}
	return out
}

// atOf is the time in an id of the stream, by the broker's clock.
func atOf(id string) time.Time {
	at, _, _ := strings.Cut(id, "-")
	ms, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return time.UnixMilli(0)
	}
	return time.UnixMilli(ms)
}

// oldest is the id before which batches are let go.
func (r *Replica) oldest() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strconv.FormatInt(max(0, atOf(r.mark).Add(-keepStream).UnixMilli()), 10)
}

func (r *Replica) count(do func(*Status)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do(&r.status)
}

func (r *Replica) refuse(err error) {
	r.count(func(s *Status) {
		if err == errVersion {
			s.Newer++
		} else {
			s.Forged++
		}
	})
}

// moved is how many entries were sent and received.
func (r *Replica) moved() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.status.Sent + r.status.Received
}

func (r *Replica) wasCompared() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.compared
}

func (r *Replica) position() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mark
}

func (r *Replica) advance(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mark = id
}

// joined notes that a session began, from a place in the stream on.
func (r *Replica) joined(mark string) {
	r.mu.Lock()
	now := time.Now()
	r.status.Sessions++
	r.mark, r.status.Connected, r.status.Since, r.status.Error = mark, true, &now, ""
	entries := r.share.Len()
	r.mu.Unlock()
	r.o.Log.Info("sharing with peers", "node", nodeField(r.share.Node()), "name", r.o.Name, "entries", entries)
}

// lost notes that a session ended; the log is told once.
func (r *Replica) lost(err error) {
	r.mu.Lock()
	was := r.status.Connected || r.status.Error == ""
	r.status.Connected = false
	if was {
		now := time.Now()
		r.status.Since = &now
	}
	r.status.Error = err.Error()
	r.mu.Unlock()
	if was {
		r.o.Log.Warn("the broker of the peers is lost; mail is judged by what is known here", "err", err)
	}
}
