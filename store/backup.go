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
		to := &remembering{Writer: w}
		if octets, err = tx.WriteTo(to); err != nil && to.err != nil {
			err = to.err // of that at the head of the file bbolt keeps the text alone
		}
		err = errors.Join(err, tx.Rollback())
	}
	if err != nil {
		return octets, fmt.Errorf("backup: %w", err)
	}
	return octets, nil
}

// A remembering writer keeps the error of its last Write.
type remembering struct {
	io.Writer
	err error
}

func (r *remembering) Write(p []byte) (n int, err error) {
	n, r.err = r.Writer.Write(p)
	return n, r.err
}

// reading begins a read transaction. A compaction lets no other one begin while it changes the database, and closes the old one
// when none is left: so nobody who begins waits for those who read.
func (s *Store) reading() (*bbolt.Tx, error) {
	s.swap.RLock()
	defer s.swap.RUnlock()
	return s.db.Load().Begin(false)
}
