package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
)

// openTold is openBolt, and returns the file that the database has open.
func openTold(path string, o bbolt.Options) (db *bbolt.DB, f *os.File, err error) {
	o.OpenFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		f, err = os.OpenFile(name, flag, mode)
		return f, err
	}
	db, err = openBolt(path, &o)
	return db, f, err
}

// openNamed opens the database of that name. Whoever waits for the lock of a file waits for that very file, and another process
// may have compacted the store meanwhile: then it is the new one that counts.
func openNamed(path string, o bbolt.Options) (*bbolt.DB, error) {
	for {
		db, f, err := openTold(path, o)
		if err != nil {
			return nil, err
		}
		mine, err := f.Stat()
		if err != nil {
			return nil, errors.Join(err, db.Close())
		}
		if named, err := os.Stat(path); err == nil && os.SameFile(mine, named) {
			return db, nil
		}
		if err := db.Close(); err != nil {
			return nil, err
		}
	}
}

// sweepUp removes what an unclean stop amid a compaction left. The store's lock is held, so nobody writes it.
func sweepUp(path string) error {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if err := os.Remove(path + compactMark); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// newBeside makes the file that is to take the place of the store at path, and holds its lock: whoever opens the store once it
// has the name finds it in use. It has the owner and the mode of the store.
func newBeside(path string) (*bbolt.DB, *os.File, error) {
	if err := sweepUp(path); err != nil {
		return nil, nil, err
	}
	db, f, err := openTold(path+compactMark, bbolt.Options{
		Timeout: time.Second, FreelistType: bbolt.FreelistMapType, NoFreelistSync: true, NoSync: true, InitialMmapSize: mapped,
	})
	if err != nil {
		return nil, nil, err
	}
	db.AllocSize = 2 * sliceOctets // by which the file grows, with a sync
	if err := likeOwner(f, path); err != nil {
		return nil, nil, errors.Join(err, db.Close(), os.Remove(path+compactMark))
	}
	return db, f, nil
}

// likeOwner gives a file the owner and the mode of another: root may compact the store of a daemon that is not. Where they
// are the same already nothing is asked of the system, which may not let a daemon ask.
func likeOwner(f *os.File, path string) error {
	want, err := os.Stat(path)
	if err != nil {
		return err
	}
	have, err := f.Stat()
	if err != nil {
		return err
	}
	to, ok := want.Sys().(*syscall.Stat_t)
	if from, same := have.Sys().(*syscall.Stat_t); ok && same && (from.Uid != to.Uid || from.Gid != to.Gid) {
		if err := f.Chown(int(to.Uid), int(to.Gid)); err != nil {
			return err
		}
	}
	if have.Mode() == want.Mode() {
		return nil
	}
	return f.Chmod(want.Mode().Perm())
}

// syncFolder returns when the names in a folder are on disk.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Close writes what is not on disk yet and closes the file. No other method may run or follow.
func (s *Store) Close() error { return s.close(fewToSnapshot) }

// close is Close with a snapshot of so many clusters and more.
func (s *Store) close(few int) error {
	s.mu.Lock()
	s.sweep.end()
	s.mu.Unlock()
	if s.db.Load() == nil {
		return nil
	}
	if s.opts.ReadOnly {
		return s.db.Load().Close()
	}
	s.compaction.end()
	close(s.commits.stop)
	<-s.commits.ended
	if s.unsaved > 0 {
		s.unsaved = saveRecentEvery
	}
	err := s.commits.commit(s)
	save := func() error { return nil }
	if err == nil && s.memory.live >= few {
		save = s.beginSnapshot()
	}
	if err == nil { // else nobody knows what the file has: the next start will look
		if err = os.Remove(s.path + openMark); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	s.tell(save()) // without it the store is as good, and slower to open
	return errors.Join(err, s.db.Load().Close())
}
