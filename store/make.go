package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
)

// missing says whether there is no store at path yet: no file, or one of no octets, as is left where one could not be made.
func missing(path string) bool {
	info, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// make makes the file of a store that is not there. It has its name only once it is whole and on disk: one that a full disk or
// a crash had cut could not be told from another program's, and bbolt ends the process where it reads beyond the end. Until
// then a file of no octets has the name, and its lock keeps others from making the same.
func (s *Store) make(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	defer f.Close()
	if err := lock(f, s.opts.Timeout); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if !missing(path) { // somebody else was first
		return nil
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	if err := s.makeBeside(path); err != nil {
		return fmt.Errorf("open store: %w", err)
	}
	return nil
}

// makeBeside makes the file under another name, and then gives it its own.
func (s *Store) makeBeside(path string) error {
	db, _, err := newBeside(path)
	if err == nil {
		db.AllocSize = fileStep
		err = errors.Join(db.Update(func(tx *bbolt.Tx) error { return s.initialise(tx) }), db.Sync(), db.Close())
	}
	if err != nil {
		_ = os.Remove(path + compactMark) // there may be none
		return err
	}
	return errors.Join(os.Rename(path+compactMark, path), syncFolder(filepath.Dir(path)))
}

// lockAgain is how often a lock that somebody else has is tried again, as by bbolt.
const lockAgain = 50 * time.Millisecond

// lock takes the lock of a file. The error is ErrInUse where somebody else has it for so long.
func lock(f *os.File, within time.Duration) error {
	for end := time.Now().Add(within); ; time.Sleep(lockAgain) {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return os.NewSyscallError("flock", err)
		case time.Now().After(end):
			return ErrInUse
		}
	}
}
