package store

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/cespare/xxhash/v2"
	"go.etcd.io/bbolt"
)

// A snapshot is the index as it is in memory, in a file beside the store that is written when the store is closed: to read it
// takes a tenth of what reading all records does. It counts for the very state of the database that it was made of, which is
// known by a mark that each snapshot draws and the database has in its bucket meta, and by the number of the transaction
// that put it there. Whatever is wrong with it, the records are read. It goes when the store is opened for writing.
//
//	snapshotMagic; mark 16 octets; transaction u64; the last seq u64; the index (memory.carry); messages and moved, each how
//	many u64, then key and value u64 each; XXH64 of all before, u64. All little endian.
const (
	snapshotSuffix = ".snapshot"
	snapshotMagic  = "spamsim snapshot 2\n"
	snapshotMark   = 16 // octets
	sumSize        = 8
)

var (
	keySnapshot = []byte("snapshot")
	errSnapshot = errors.New("the snapshot of the store cannot be used, and its records are read instead, which takes longer")
	errStale    = errors.New("it is of another state of the store")
)

// fewToSnapshot is how many clusters are read from their records in a tenth of a second: no snapshot is made of fewer.
const fewToSnapshot = 10_000

// beginSnapshot ends what is written to the database with the mark of a snapshot, which save writes.
func (s *Store) beginSnapshot() (save func() error) {
	mark, transaction, err := s.markSnapshot()
	return func() error {
		if err == nil {
			err = s.writeSnapshot(mark, transaction)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("no %s is written, the next start takes longer: %w", s.path+snapshotSuffix, err), dropSnapshot(s.path))
		}
		return nil
	}
}

func (s *Store) markSnapshot() (mark []byte, transaction int, err error) {
	if err := hasRoom(s.path, s.snapshotOctets()); err != nil {
		return nil, 0, err
	}
	db := s.db.Load()
	db.NoFreelistSync = false // else all pages would be read to find the free ones again
	mark = newKey()[:snapshotMark]
	err = db.Update(func(tx *bbolt.Tx) error {
		transaction = tx.ID()
		return tx.Bucket(bucketMeta).Put(keySnapshot, mark)
	})
	return mark, transaction, err
}

// writeSnapshot makes the file anew: in a folder that is another user's a link of that name may lead anywhere.
func (s *Store) writeSnapshot(mark []byte, transaction int) error {
	if err := dropSnapshot(s.path); err != nil {
		return err
	}
	f, err := os.OpenFile(s.path+snapshotSuffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	sum := xxhash.New()
	w := bufio.NewWriterSize(io.MultiWriter(f, sum), 1<<20)
	c := &carrier{w: w}
	s.carry(c, mark, transaction)
	err = errors.Join(c.err, w.Flush(), likeOwner(f, s.path))
	if err == nil {
		_, err = f.Write(binary.LittleEndian.AppendUint64(nil, sum.Sum64()))
	}
	return errors.Join(err, f.Close())
}

// loadSnapshot reads the index from a snapshot, and says whether there was one of this state of the database. Where it returns
// false, memory is empty.
func (s *Store) loadSnapshot(tx *bbolt.Tx) bool {
	mark := tx.Bucket(bucketMeta).Get(keySnapshot)
	f, err := os.Open(s.path + snapshotSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	}
	if err != nil {
		s.tell(fmt.Errorf("%w: %w", errSnapshot, err))
		return false
	}
	defer f.Close()
	if len(mark) != snapshotMark {
		return false
	}
	if err = s.readSnapshot(f, mark, tx.ID()); err == nil {
		return true
	}
	if !errors.Is(err, errStale) {
		s.tell(fmt.Errorf("%s: %w: %w", f.Name(), errSnapshot, err))
	}
	s.memory, s.lastSeq = memory{key: s.memory.key, back: s.memory.back}, 0
	s.messages, s.moved = map[uint64]remembered{}, map[uint64]uint64{}
	return false
}

func (s *Store) readSnapshot(f *os.File, mark []byte, transaction int) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	sum := xxhash.New()
	r := bufio.NewReaderSize(io.TeeReader(io.LimitReader(f, info.Size()-sumSize), sum), 1<<20)
	c := &carrier{r: r, left: info.Size() - sumSize}
	if s.carry(c, mark, transaction); c.err != nil {
		return c.err
	}
	want := make([]byte, sumSize)
	if _, err := f.ReadAt(want, info.Size()-sumSize); err != nil {
		return err
	}
	if sum.Sum64() != binary.LittleEndian.Uint64(want) {
		return errors.New("its sum is wrong")
	}
	return nil
}

// carry moves the index and what it was made of, which must be the same.
func (s *Store) carry(c *carrier, mark []byte, transaction int) {
	head := append([]byte(snapshotMagic), mark...)
	head = binary.LittleEndian.AppendUint64(head, uint64(transaction))
	have := bytes.Clone(head)
	if c.octets(have); c.err == nil && !bytes.Equal(have, head) {
		c.err = errStale
	}
	c.block(8, func() { c.u64(&s.lastSeq) })
	s.memory.carry(c)
	carryMap(c, &s.messages)
	carryMap(c, &s.moved)
}

// dropSnapshot removes the snapshot: the database is about to change.
func dropSnapshot(path string) error {
	if err := os.Remove(path + snapshotSuffix); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// snapshotOctets is about how many a snapshot has.
func (s *Store) snapshotOctets() int64 {
	const handle, record, entry = 8, 3 << 10, 16
	m := &s.memory
	n := int64(len(m.ids.pages)+len(m.post.lists.pages))*pageSize + int64(len(m.slab))*slabSize*(soloOctets+handle)
	n += int64(len(m.grown))*record + int64(len(s.messages)+len(s.moved))*entry
	for i := range m.post.shards {
		n += int64(len(m.post.shards[i].octets))
	}
	return n
}
