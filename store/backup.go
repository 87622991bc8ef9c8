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
	if s.db == nil {
		return 0, ErrNoFile
	}
	if err := s.Sync(); err != nil {
		return 0, err
	}
	err = s.db.View(func(tx *bbolt.Tx) error {
		octets, err = tx.WriteTo(w)
		return err
	})
	if err != nil {
		return octets, fmt.Errorf("backup: %w", err)
	}
	return octets, nil
}
