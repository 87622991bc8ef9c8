// Package replica shares the memory of the stores of one site through a broker, a Redis or Valkey server.
//
// Every node holds the whole index and answers from it; nothing here lies in the way of a message. A node tells of its
// entries (store.Entry) by batches in a stream, and keeps them, beside those of all others, in 64 hashes that are the
// state: who starts, was away, or missed something compares itself with the state, in both directions. All keys have the
// hash tag {spamsim}, so that a Redis Cluster keeps them in one slot:
//
//	{spamsim}:ev        stream of batches (wire.go), for keepStream
//	{spamsim}:st:0..63  by key of the entry: the entry (wire.go)
//	{spamsim}:nodes     by number of the node: what it tells of itself (status.go)
//
// Whatever goes wrong ends the session with the broker: the next one begins with a comparison, which finds what either
// side lacks. There is no outbox that could be lost: what a node has to say is what it holds and the state does not. An
// entry lost on the way (a stream trimmed, a broker that started from an old dump) shows in the digests that nodes tell
// of each second, and is found by comparing the buckets that differ.
//
// Everything is authenticated with the key of the site; help topic peers says what somebody with access to the broker can
// still do.
package replica

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"spamsim/store"
)

// Options of a replica.
type Options struct {
	URL     string         // of the broker, see Dial
	Name    string         // of this node, for people
	Key     []byte         // of the site
	Roots   *x509.CertPool // that sign the broker's certificate; nil: the system's
	Version string         // of this program, for people
	// Background sums up what words are worth here; nodes whose backgrounds differ judge differently.
	Background string
	Log        *slog.Logger
}

// A Replica keeps a store in step with those of its peers. Its methods may be called from many goroutines.
type Replica struct {
	share   *store.Share
	o       Options
	seal    *sealer
	session uint64 // tells this run from others of the same node
	cancel  context.CancelFunc
	ended   sync.WaitGroup

	mu       sync.Mutex
	status   Status
	seen     map[uint32]*peer
	missing  map[store.Key]time.Time // others' entries that the state does not have, since when
	resend   []store.Key             // others' entries that the state lost
	compared bool                    // with the state, since the start
	mark     string                  // id of the last batch that was taken in
	clock    time.Duration           // how far the broker's clock is ahead
}

const (
	beat        = time.Second
	sendEvery   = 10 * time.Millisecond
	sweepEvery  = time.Minute
	keepStream  = 20 * time.Second // how long batches stay in the stream: who is away for longer compares himself with the state
	batchSize   = 1024             // entries
	settleAtOne = 64               // clusters that are held against the others between two batches
	longestWait = 2 * time.Second  // between two tries to reach the broker
)

// Start begins to keep a store in step. It does not wait for the broker. The error is of an address that cannot be.
func Start(share *store.Share, o Options) (*Replica, error) {
	b, err := dial(o.URL, o.Roots)
	if err != nil {
		return nil, err
	}
	var session [8]byte
	rand.Read(session[:])
	ctx, cancel := context.WithCancel(context.Background())
	r := &Replica{
		share: share, o: o, seal: newSealer(o.Key), session: binary.LittleEndian.Uint64(session[:]), cancel: cancel,
		seen: map[uint32]*peer{}, missing: map[store.Key]time.Time{},
	}
	r.ended.Go(func() { r.run(ctx, b) })
	return r, nil
}

// Close stops. What was not told yet is found by the comparison that the next start begins with.
func (r *Replica) Close() {
	r.cancel()
	r.ended.Wait()
}

// run holds one session after the other.
func (r *Replica) run(ctx context.Context, b *broker) {
	stop := context.AfterFunc(ctx, func() { b.close() }) // ends a read that blocks
	defer stop()
	defer b.close()
	wait := sendEvery
	for ctx.Err() == nil {
		begun := time.Now()
		err := r.converse(ctx, b)
		if ctx.Err() != nil {
			return
		}
		r.lost(err)
		if time.Since(begun) > longestWait {
			wait = sendEvery
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, longestWait)
	}
}

// converse is one session: a comparison, and then telling, listening and beating until one of them fails.
func (r *Replica) converse(ctx context.Context, b *broker) error {
	mark, err := b.newest(ctx)
	if err != nil {
		return err
	}
	if err := r.meet(ctx, b); err != nil {
		return err
	}
	all := make([]int, store.Buckets)
	for i := range all {
		all[i] = i
	}
	if err := r.compare(ctx, b, all); err != nil {
		return err
	}
	r.joined(mark)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var parts sync.WaitGroup
	for _, part := range []func(context.Context, *broker) error{r.tell, r.listen, r.beats} {
		parts.Go(func() { cancel(part(ctx, b)) })
	}
	parts.Wait()
	return context.Cause(ctx)
}

// tell sends what changed, as long as the session lasts.
func (r *Replica) tell(ctx context.Context, b *broker) error {
	tick := time.NewTicker(sendEvery)
	defer tick.Stop()
	for seq := uint64(1); ; {
		entries := r.share.Changes(batchSize)
		if len(entries) < batchSize {
			entries = append(entries, r.again(batchSize-len(entries))...)
		}
		if len(entries) > 0 {
			if err := r.send(ctx, b, seq, entries); err != nil {
				return err
			}
			seq++
		}
		if len(entries) >= batchSize {
			continue
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// again takes others' entries that are to be told once more.
func (r *Replica) again(limit int) []store.Entry {
	r.mu.Lock()
	n := min(limit, len(r.resend))
	keys := r.resend[:n]
	r.resend = r.resend[n:]
	r.mu.Unlock()
	return r.share.Entries(keys)
}

func (r *Replica) send(ctx context.Context, b *broker, seq uint64, entries []store.Entry) error {
	batch := batch{origin: r.share.Node(), session: r.session, seq: seq}
	for i := range entries {
		batch.entries = append(batch.entries, r.seal.entry(&entries[i]))
	}
	if err := b.append(ctx, r.seal.batch(&batch), batch.entries, r.oldest()); err != nil {
		keys := make([]store.Key, len(entries))
		for i, e := range entries {
			keys[i] = e.Key
		}
		r.share.Unsent(keys)
		return err
	}
	r.count(func(s *Status) { s.Sent += int64(len(entries)) })
	return nil
}

// errGap ends a session in which a batch was missed.
var errGap = errors.New("a batch of a peer was missed")

// listen takes in what others tell.
func (r *Replica) listen(ctx context.Context, b *broker) error {
	last := map[[2]uint64]uint64{} // by origin and session: seq of its last batch
	wait := blockFor
	for ctx.Err() == nil {
		messages, err := b.read(ctx, r.position(), wait)
		if err != nil {
			return err
		}
		if err := r.hear(messages, last); err != nil {
			return err
		}
		if wait = blockFor; r.share.Settle(settleAtOne) > 0 {
			wait = noBlock
		}
	}
	return nil
}

// hear takes in batches: of those that came together, of each part the latest count alone. Where a campaign runs, whoever is
// behind has several counts of one cluster before him.
func (r *Replica) hear(messages []message, last map[[2]uint64]uint64) error {
	var all gathered
	for _, m := range messages {
		if err := r.gather(&all, m.data, last); err != nil {
			r.share.Apply(all.entries, false)
			return err
		}
	}
	r.share.Apply(all.entries, false)
	if len(messages) > 0 {
		r.advance(messages[len(messages)-1].id)
	}
	return nil
}

// gather reads one batch.
func (r *Replica) gather(all *gathered, data []byte, last map[[2]uint64]uint64) error {
	got, err := r.seal.openBatch(data)
	if err != nil {
		r.refuse(err)
		return nil
	}
	if got.origin == r.share.Node() {
		if got.session != r.session {
			r.count(func(s *Status) { s.Twins++ })
		}
		return nil
	}
	from := [2]uint64{uint64(got.origin), got.session}
	if was, known := last[from]; known && got.seq > was+1 {
		return fmt.Errorf("%w: %d after %d", errGap, got.seq, was)
	}
	last[from] = got.seq
	received := int64(0)
	for _, s := range got.entries {
		e, err := readEntry(s)
		if err != nil {
			r.refuse(err)
			continue
		}
		all.add(e)
		received++
	}
	r.count(func(s *Status) { s.Received += received })
	return nil
}

// gathered are entries of several batches, of each part the latest.
type gathered struct {
	entries []store.Entry
	parts   map[store.Key]int
}

func (g *gathered) add(e store.Entry) {
	if e.Kind == store.KindPart {
		if at, again := g.parts[e.Key]; again {
			if e.Stamp > g.entries[at].Stamp {
				g.entries[at] = e
			}
			return
		}
		if g.parts == nil {
			g.parts = map[store.Key]int{}
		}
		g.parts[e.Key] = len(g.entries)
	}
	g.entries = append(g.entries, e)
}

// hourNow is the hour by this machine's clock.
func hourNow() uint32 { return hourOf(time.Now()) }

func hourOf(at time.Time) uint32 { return uint32(max(0, min(math.MaxUint32, at.Unix()/3600))) }

// hours are those by this machine's clock and the broker's, the earlier one first: what ended before that is let go from the
// state, lest one clock that is ahead take away what others hold; and what ended before the later one is left out of digests and
// is not told again, since it is taken in by nobody whose clock is right. The lock is held.
func (r *Replica) hours() (earlier, later uint32) {
	here, there := hourNow(), hourOf(time.Now().Add(-r.clock))
	return min(here, there), max(here, there)
}
