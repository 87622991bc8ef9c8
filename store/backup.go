package store

import (
	"errors"
	"fmt"
	"io"

	"go.etcd.io/bbolt"
)

// ErrNoFile is returned by Backup of a store in memory.
var ErrNoFile = errors.New("there is no file to back up")

// Backup writes the file as it is now, with everything counted before the call, and returns how many octets it has. Mail is
// judged and counted meanwhile; what comes later is not in it.
func (s *Store) Backup(w io.Writer) (octets int64, err error) {
	if s.db.Load() == nil {
		return 0, ErrNoFile
	}
	if err := s.Sync(); err != nil {
		return 0, err
	}
	tx, err := s.reading()
	if err == nil {
		octets, err = tx.WriteTo(w)
		err = errors.Join(err, tx.Rollback())
	}
	if err != nil {
		return octets, fmt.Errorf("backup: %w", err)
	}
	return octets, nil
}

// reading begins a read transaction. A compaction lets no other one begin while it changes the database, and closes the old one
// when none is left: so nobody who begins waits for those who read.
func (s *Store) reading() (*bbolt.Tx, error) {
	s.swap.RLock()
	defer s.swap.RUnlock()
	return s.db.Load().Begin(false)
}
