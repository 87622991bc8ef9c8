package store

import (
	"errors"
	"maps"
	"slices"

	"go.etcd.io/bbolt"
)

// Of solos and of messages the file has what memory has not: subjects, the names of networks and recipients as hashes,
// the weights of features. What is not in the file yet is in memory until it is; in a store without a file, for good.

// unwritten is what the file does not have yet.
type unwritten struct {
	records    map[uint64][]byte    // of solos, by seq
	deliveries map[uint64]*delivery // by the key of the message
}

// written takes out what a commit has brought to the file, but for what has changed since.
func (s *Store) written(done *changes) {
	for some := range slices.Chunk(done.begun, lockedFor) {
		s.mu.Lock()
		for i := range some {
			if _, again := s.changes.clusters[some[i].seq]; !again {
				delete(s.unwritten.records, some[i].seq)
			}
		}
		s.mu.Unlock()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for seq := range done.clusters {
		if _, again := s.changes.clusters[seq]; !again { // one of another node may be gone and there again
			delete(s.unwritten.records, seq)
		}
	}
	for key := range done.messages {
		if _, again := s.changes.messages[key]; !again {
			delete(s.unwritten.deliveries, key)
		}
	}
}

// A remembered is what memory has of a counted message: its key in the file and when it came, in units of 256 s, of which
// all ones stand for what was taught.
type remembered uint64

const (
	rememberedBits = 24
	rememberedMask = 1<<rememberedBits - 1
	rememberedUnit = 8 // bits
)

func (d *delivery) remembered() remembered {
	at := min(rememberedMask-1, uint64(max(0, d.at))>>rememberedUnit)
	if d.taught {
		at = rememberedMask
	}
	return remembered(d.arrival<<rememberedBits | at)
}

func (r remembered) arrival() uint64 { return uint64(r >> rememberedBits) }

func (r remembered) taught() bool { return r&rememberedMask == rememberedMask }

// before says whether the message came before a time, Unix seconds, to some minutes.
func (r remembered) before(at int64) bool { return int64(r&rememberedMask) < at>>rememberedUnit }

// remember keeps what is known of a counted message; the lock is held.
func (s *Store) remember(key uint64, d *delivery) {
	s.messages[key] = d.remembered()
	s.unwritten.deliveries[key] = d
	s.changes.message(key)
}

// disremember is the opposite.
func (s *Store) disremember(key uint64) {
	if s.messages[key].taught() {
		s.untaught(key)
	}
	s.changes.gone(key, s.messages[key].arrival())
	delete(s.messages, key)
	delete(s.unwritten.deliveries, key)
}

// view reads the file.
func (s *Store) view(read func(*bbolt.Tx) error) error {
	tx, err := s.reading()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return read(tx)
}

// delivery returns what is known of a counted message, nil where it was not counted or the file does not tell; the lock is
// held.
func (s *Store) delivery(key uint64) *delivery {
	r, ok := s.messages[key]
	if d := s.unwritten.deliveries[key]; !ok || d != nil || s.db.Load() == nil {
		return d
	}
	var d *delivery
	err := s.view(func(tx *bbolt.Tx) error {
		of, read, err := readDelivery(r.arrival(), tx.Bucket(bucketMessages).Get(bigEndian(r.arrival())))
		if err == nil && of == key {
			d = read
		}
		return err
	})
	s.tell(err)
	return d
}

// tell reports what went wrong beside the mail.
func (s *Store) tell(err error) {
	if err != nil && s.opts.OnError != nil {
		s.opts.OnError(err)
	}
}

// full returns all that is known of a cluster; the lock is held. Where its record cannot be read, what memory has must do.
func (s *Store) full(h uint32) *cluster {
	at := s.memory.at(h)
	if at.state == grown {
		return s.memory.cluster(h)
	}
	c := &cluster{}
	if err := s.withRecord(at.seq, c.unmarshal); err != nil {
		s.tell(err)
		return s.memory.known(h)
	}
	c.seq, c.heat = at.seq, 1
	return c
}

// withRecord calls do with the record of a solo, good until do returns; the lock is held.
func (s *Store) withRecord(seq uint64, do func(record []byte) error) error {
	if record := s.unwritten.records[seq]; record != nil {
		return do(record)
	}
	if s.db.Load() == nil {
		return errNoRecord
	}
	return s.view(func(tx *bbolt.Tx) error {
		record := tx.Bucket(bucketClusters).Get(bigEndian(seq))
		if record == nil {
			return errNoRecord
		}
		return do(record)
	})
}

var errNoRecord = errors.New("a message's record is missing")

// known is a solo by what memory has.
func (m *memory) known(h uint32) *cluster {
	c, s := m.cluster(h), m.at(h)
	var es []element
	add := func(ids []uint32, of uint32) {
		for _, id := range ids {
			es = append(es, element{id<<nearBits | of, 1, 1, uint8(int(s.whole[of]) / len(ids))})
		}
	}
	text, octets := m.idsOf(s)
	add(text, 0)
	add(octets, octetBit)
	c.elements = pack(nil, es)
	return c
}

// eachDelivery calls do for every counted message, without the lock: what comes or goes meanwhile may be told of or not.
func (s *Store) eachDelivery(do func(key uint64, d *delivery)) error {
	s.mu.Lock()
	mine := maps.Clone(s.unwritten.deliveries)
	s.mu.Unlock()
	for key, d := range mine {
		do(key, d)
	}
	if s.db.Load() == nil {
		return nil
	}
	return s.view(func(tx *bbolt.Tx) error {
		return tx.Bucket(bucketMessages).ForEach(func(k, v []byte) error {
			key, d, err := readDelivery(arrivalOf(k), v)
			if err != nil || mine[key] != nil {
				return err
			}
			s.mu.Lock()
			r, ok := s.messages[key]
			s.mu.Unlock()
			if ok && r.arrival() == d.arrival {
				do(key, d)
			}
			return nil
		})
	})
}
