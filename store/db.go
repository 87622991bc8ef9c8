package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
)

// The file, a bbolt database. Numbers in keys are big endian, so that keys are in the order of arrival.
//
//	meta      "format": "spamsim store", a space and the version; "key": the site key, 32 bytes; "recent", where there
//	          was mail: what it shows of sigma (fit.go); "snapshot", where there was one: its mark (snapshot.go)
//	clusters  seq u64: a record (record.go)
//	messages  arrival u64: key u64, seq of the cluster u64, time i64 in Unix seconds, sender u64, network u64, taught u8,
//	          recipients u64 each, all little endian
//	moved     seq u64 of a cluster that was merged away: seq u64 of the one that took it up
//	shared    where the store shares with other nodes: what share_file.go says
const (
	formatName    = "spamsim store "
	formatVersion = "5"
)

// formatsBefore are the versions that are migrated; their records are of the version of that number (record.go).
var formatsBefore = []string{"1", "2", "3", "4"}

var (
	bucketMeta     = []byte("meta")
	bucketClusters = []byte("clusters")
	bucketMessages = []byte("messages")
	bucketMoved    = []byte("moved")
	bucketShared   = []byte("shared")
	keyFormat      = []byte("format")
	keyKey         = []byte("key")
	keyRecent      = []byte("recent")
)

// openFile opens or makes the database and returns its key.
func (s *Store) openFile(path string) (key []byte, err error) {
	if err := inspect(path); err != nil {
		return nil, err
	}
	if missing(path) && !s.opts.ReadOnly {
		if err := s.make(path); err != nil {
			return nil, err
		}
	}
	unmark := s.markOpen(path)
	db, err := openNamed(path, bbolt.Options{Timeout: s.opts.Timeout, FreelistType: bbolt.FreelistMapType, NoFreelistSync: true, ReadOnly: s.opts.ReadOnly, InitialMmapSize: mapped})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout): // the mark is that of who has it
		return nil, fmt.Errorf("%s: %w", path, ErrInUse)
	case errors.Is(err, bolterrors.ErrInvalid), errors.Is(err, bolterrors.ErrChecksum), errors.Is(err, bolterrors.ErrVersionMismatch), errors.Is(err, errPage):
		unmark()
		return nil, blame(path, err)
	case err != nil:
		unmark()
		return nil, fmt.Errorf("open store: %w", err)
	}
	err = db.View(func(tx *bbolt.Tx) error { key, err = checkFormat(tx); return err })
	if err == nil && !s.opts.ReadOnly {
		err = errors.Join(renew(db), sweepUp(path))
	}
	if err != nil {
		db.Close()
		unmark()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s.path = path
	s.db.Store(db)
	return key, nil
}

// mapped is how much of the address space the file may take before it is mapped anew, for which all readers would have to
// end: the mail reads.
const mapped = 1 << 36 & math.MaxInt

// openBolt opens a database. Where bbolt gives up on its pages, the error wraps errPage.
func openBolt(path string, o *bbolt.Options) (db *bbolt.DB, err error) {
	defer func() {
		if why := recover(); why != nil {
			err = fmt.Errorf("%w: %v", errPage, why)
		}
	}()
	db, err = bbolt.Open(path, 0o600, o)
	if err == nil {
		db.AllocSize = fileStep
	}
	return db, err
}

// fileStep is by how much the file grows at once, octets.
const fileStep = 1 << 20

func (s *Store) initialise(tx *bbolt.Tx) error {
	for _, name := range [][]byte{bucketMeta, bucketClusters, bucketMessages, bucketMoved, bucketShared} {
		if _, err := tx.CreateBucketIfNotExists(name); err != nil {
			return err
		}
	}
	key := s.opts.Key
	if key == nil {
		key = newKey()
	}
	meta := tx.Bucket(bucketMeta)
	return errors.Join(meta.Put(keyFormat, []byte(formatName+formatVersion)), meta.Put(keyKey, key))
}

// checkFormat returns the key of a database of this version.
func checkFormat(tx *bbolt.Tx) ([]byte, error) {
	meta := tx.Bucket(bucketMeta)
	if meta == nil || len(meta.Get(keyFormat)) < len(formatName) || string(meta.Get(keyFormat)[:len(formatName)]) != formatName {
		return nil, fmt.Errorf("%w: it is a database of another program", ErrForeign)
	}
	if v := string(meta.Get(keyFormat)[len(formatName):]); v != formatVersion && !slices.Contains(formatsBefore, v) {
		return nil, fmt.Errorf("%w: it has version %q of the format, this program reads %q", ErrVersion, v, formatVersion)
	}
	for _, name := range [][]byte{bucketClusters, bucketMessages, bucketMoved} {
		if tx.Bucket(name) == nil {
			return nil, fmt.Errorf("%w: it has no bucket %q", ErrForeign, name)
		}
	}
	return append([]byte(nil), meta.Get(keyKey)...), nil
}

// renew migrates a database that is not as this version makes it. What needs nothing is not written to, for its snapshot's sake.
func renew(db *bbolt.DB) error {
	old := false
	err := db.View(func(tx *bbolt.Tx) error {
		old = tx.Bucket(bucketShared) == nil || string(tx.Bucket(bucketMeta).Get(keyFormat)) != formatName+formatVersion
		return nil
	})
	if err != nil || !old {
		return err
	}
	return db.Update(migrate)
}

// migrate makes a database of a version before one of this version: its records are rewritten.
func migrate(tx *bbolt.Tx) error {
	if _, err := tx.CreateBucketIfNotExists(bucketShared); err != nil { // some of version 4 have none yet
		return err
	}
	meta, clusters := tx.Bucket(bucketMeta), tx.Bucket(bucketClusters)
	if string(meta.Get(keyFormat)) == formatName+formatVersion {
		return nil
	}
	renewed := map[string][]byte{} // a bucket must not change while it is walked
	err := clusters.ForEach(func(k, v []byte) error {
		var c cluster
		if err := c.unmarshal(v); err != nil {
			return fmt.Errorf("cluster %x: %w", k, err)
		}
		renewed[string(k)] = c.marshal()
		return nil
	})
	if err != nil {
		return err
	}
	for k, v := range renewed {
		if err := clusters.Put([]byte(k), v); err != nil {
			return err
		}
	}
	return meta.Put(keyFormat, []byte(formatName+formatVersion))
}

func (s *Store) loadRecent(v []byte) error {
	if v == nil {
		return nil
	}
	return s.loadFits(v)
}

func (s *Store) loadMessage(k, v []byte) error {
	key, d, err := readDelivery(arrivalOf(k), v)
	if err != nil {
		return err
	}
	s.lastSeq = max(s.lastSeq, d.arrival)
	s.messages[key] = d.remembered()
	if h, ok := s.memory.handle(s.now(d.seq)); ok && s.memory.at(h).state == grown {
		s.memory.cluster(h).warm(d.at)
	}
	return nil
}

// arrivalOf is the arrival that a key of the bucket of messages stands for.
func arrivalOf(k []byte) uint64 { return binary.BigEndian.Uint64(k) }

// readDelivery reads a message as marshal wrote it.
func readDelivery(arrival uint64, v []byte) (key uint64, d *delivery, err error) {
	r := reader{data: v}
	key = r.u64()
	d = &delivery{arrival: arrival, seq: r.u64(), at: int64(r.u64()), sender: r.u64(), network: r.u64(), taught: r.byte() != 0}
	for len(r.data) >= 8 {
		d.rcpts = append(d.rcpts, r.u64())
	}
	if r.cut {
		return 0, nil, fmt.Errorf("message %x: %w", arrival, ErrRecord)
	}
	return key, d, nil
}

func (d *delivery) marshal(key uint64) []byte {
	le := binary.LittleEndian
	b := make([]byte, 0, 41+8*len(d.rcpts))
	for _, v := range []uint64{key, d.seq, uint64(d.at), d.sender, d.network} {
		b = le.AppendUint64(b, v)
	}
	taught := byte(0)
	if d.taught {
		taught = 1
	}
	b = append(b, taught)
	for _, r := range d.rcpts {
		b = le.AppendUint64(b, r)
	}
	return b
}

// changes are what the file does not have yet. The zero value notes nothing: a scratch store has no file.
type changes struct {
	clusters map[uint64]struct{} // by seq
	messages map[uint64]struct{} // by key
	removed  []uint64            // arrivals
	shared   map[Key]struct{}    // entries
	begun    []begun             // solos that other nodes told of, in the order of their seq
	since    time.Time           // the first of them
}

// A begun is a solo that another node told of, with all that the file is to have of it.
type begun struct {
	seq    uint64
	key    Key
	held   held
	record []byte
}

func (c *changes) begin(b begun) {
	if c.clusters == nil {
		return
	}
	if len(c.begun) == 0 {
		c.since = time.Now()
	}
	c.begun = append(c.begun, b)
}

// Solos of other nodes come by the thousand, in any order, and can be asked for again: they are written many at a time, since
// those of one commit lie all over the file.
const (
	begunAtOnce = 1 << 17
	begunAfter  = 2 * time.Second
)

// takeBegun takes out what is to be written of them now.
func (c *changes) takeBegun(all bool) (out []begun) {
	if n := len(c.begun); n == 0 || !all && n < begunAtOnce && time.Since(c.since) < begunAfter {
		return nil
	}
	n := min(len(c.begun), begunAtOnce)
	out, c.begun = c.begun[:n:n], c.begun[n:]
	return out
}

// reset forgets all but what is begun.
func (c *changes) reset() {
	*c = changes{clusters: map[uint64]struct{}{}, messages: map[uint64]struct{}{}, shared: map[Key]struct{}{}, begun: c.begun, since: c.since}
}

func (c *changes) cluster(seq uint64) {
	if c.clusters != nil {
		c.clusters[seq] = struct{}{}
	}
}

func (c *changes) message(key uint64) {
	if c.messages != nil {
		c.messages[key] = struct{}{}
	}
}

func (c *changes) gone(key, arrival uint64) {
	if c.messages != nil {
		delete(c.messages, key)
		c.removed = append(c.removed, arrival)
	}
}

// share notes an entry.
func (c *changes) share(k Key) {
	if c.shared != nil {
		c.shared[k] = struct{}{}
	}
}

func (c *changes) empty() bool {
	return len(c.clusters)+len(c.messages)+len(c.removed)+len(c.shared) == 0
}

// restore puts changes back that could not be written; what changed since is written as it is then.
func (c *changes) restore(old *changes) {
	maps.Copy(c.clusters, old.clusters)
	maps.Copy(c.messages, old.messages)
	c.removed = append(c.removed, old.removed...)
	maps.Copy(c.shared, old.shared)
	c.begun = append(old.begun, c.begun...)
}

// A pair is a key and its value; a nil value deletes.
type keyValue struct {
	bucket     []byte
	key, value []byte
}

// pending encodes the changes; the lock is held.
func (s *Store) pending() []keyValue {
	var out []keyValue
	for seq := range s.changes.clusters {
		put := keyValue{bucketClusters, bigEndian(seq), nil}
		if h, ok := s.memory.handle(seq); ok {
			if put.value = s.marshal(h); put.value == nil {
				continue // it is written
			}
		} else if into, ok := s.moved[seq]; ok {
			out = append(out, keyValue{bucketMoved, bigEndian(seq), bigEndian(into)})
		} else {
			out = append(out, keyValue{bucketMoved, bigEndian(seq), nil})
		}
		out = append(out, put)
	}
	for key := range s.changes.messages {
		if d := s.unwritten.deliveries[key]; d != nil {
			out = append(out, keyValue{bucketMessages, bigEndian(d.arrival), d.marshal(key)})
		}
	}
	for _, arrival := range s.changes.removed {
		out = append(out, keyValue{bucketMessages, bigEndian(arrival), nil})
	}
	for k := range s.changes.shared {
		out = append(out, s.sharedRow(k))
	}
	if s.unsaved >= saveRecentEvery {
		s.unsaved = 0
		out = append(out, keyValue{bucketMeta, keyRecent, s.marshalFits()})
	}
	return out
}

// marshal returns the record of a cluster; nil where it is a solo whose record was written.
func (s *Store) marshal(h uint32) []byte {
	if at := s.memory.at(h); at.state == alone {
		return s.unwritten.records[at.seq]
	}
	return s.memory.cluster(h).marshal()
}

func bigEndian(v uint64) []byte { return binary.BigEndian.AppendUint64(nil, v) }

// A committer writes the changes every commitEvery, off the way of the mail. It is the only one who writes to the file.
type committer struct {
	stop         chan struct{}
	ended        chan struct{}
	flush        chan chan error
	pause        chan func()
	done, failed atomic.Int64
}

// commitEvery is how long a count may be in memory alone.
const commitEvery = 50 * time.Millisecond

func (c *committer) start(s *Store) {
	c.stop, c.ended, c.flush, c.pause = make(chan struct{}), make(chan struct{}), make(chan chan error), make(chan func())
	go func() {
		defer close(c.ended)
		tick := time.NewTicker(commitEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				c.write(s, s.db.Load().Update, false)
			case reply := <-c.flush:
				reply <- c.commit(s)
			case do := <-c.pause:
				do()
			case <-c.stop:
				return
			}
		}
	}()
}

// between runs do while nothing is written.
func (c *committer) between(do func() error) error {
	reply := make(chan error, 1)
	select {
	case c.pause <- func() { reply <- do() }:
		return <-reply
	case <-c.ended:
		return ErrClosed
	}
}

// commit writes what is pending, all of it.
func (c *committer) commit(s *Store) error {
	for {
		if err := c.write(s, s.db.Load().Update, true); err != nil || !s.waiting() {
			return err
		}
	}
}

// fillAppended is how much of a page of clusters or messages is filled before the next one is begun: their keys come in their
// order, and records are read more often than they grow.
const fillAppended = 0.9

// write writes what is pending through update, all or what is due. What cannot be written is kept and tried again with the
// next.
func (c *committer) write(s *Store, update func(func(*bbolt.Tx) error) error, all bool) error {
	began := s.toBegin(all)
	s.mu.Lock()
	if len(began) == 0 && s.changes.empty() && s.unsaved < saveRecentEvery {
		s.mu.Unlock()
		return nil
	}
	s.bringAlong()
	todo, taken := s.pending(), s.changes
	s.changes.reset()
	s.mu.Unlock()
	taken.begun = began
	todo = append(rowsOf(began), todo...)
	err := update(func(tx *bbolt.Tx) error {
		for _, p := range todo {
			b := tx.Bucket(p.bucket)
			if bytes.Equal(p.bucket, bucketClusters) || bytes.Equal(p.bucket, bucketMessages) {
				b.FillPercent = fillAppended
			}
			if p.value == nil {
				if err := b.Delete(p.key); err != nil {
					return err
				}
			} else if err := b.Put(p.key, p.value); err != nil {
				return err
			}
		}
		return nil
	})
	// Not before: who brings it over meanwhile would find what it was. A commit that failed may have been written all the same.
	s.compaction.journal.note(todo)
	if err != nil {
		s.mu.Lock()
		s.changes.restore(&taken)
		s.mu.Unlock()
		c.failed.Add(1)
		if s.opts.OnError != nil {
			s.opts.OnError(fmt.Errorf("commit: %w", err))
		}
		return fmt.Errorf("commit: %w", err)
	}
	s.written(&taken)
	c.done.Add(1)
	return nil
}

// Sync returns when everything counted before the call is on disk.
func (s *Store) Sync() error {
	if s.db.Load() == nil || s.opts.ReadOnly {
		return nil
	}
	reply := make(chan error, 1)
	select {
	case s.commits.flush <- reply:
		return <-reply
	case <-s.commits.ended:
		return ErrClosed
	}
}

// ErrClosed is returned after Close.
var ErrClosed = errors.New("the store is closed")

// fileSize is the size of the file in bytes.
func (s *Store) fileSize() int64 {
	info, err := os.Stat(s.path)
	if err != nil {
		return 0
	}
	return info.Size()
}
