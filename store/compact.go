package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
)

// bbolt never gives room back: what is deleted leaves free pages, which later records take. Compact copies what lives to a
// new file beside the store, in slices that each have a short read transaction, so that the commits go on; which keys they
// write meanwhile is noted (journal.go). When few are left to bring over, the committer does that itself, between two
// commits, and puts the new file in the old one's place. Until that rename the old file is whole, and from it on the new one,
// which was synced before. Mail is judged in memory and waits for none of it.

// compactMark is what the name of a store is followed by in that of the new file while it is written. One that is found when
// the store is opened was left by an unclean stop, and goes.
const compactMark = ".compact"

// Errors of Compact.
var (
	ErrCompacting = errors.New("the store is being compacted already")
	ErrReadOnly   = errors.New("the store is open for reading alone")
)

// Compacted says what Compact did.
type Compacted struct {
	Before int64 `json:"before"` // octets of the file
	After  int64 `json:"after"`
}

// A compaction is what the store knows of its compactions. The zero value is of a store without a file.
type compaction struct {
	one     sync.Mutex         // held while one runs, and for ever once the store is closed
	closing chan struct{}      // closed by Close
	kept    sync.WaitGroup     // of keepSmall
	journal journal            // keys written since the one under way began
	at      func(string) error // told of each step, which fails with its error; nil but in tests
}

// step is where a test lets a compaction fail.
func (c *compaction) step(name string) error {
	if c.at == nil {
		return nil
	}
	return c.at(name)
}

// stopped says why a compaction is to end before its time.
func (c *compaction) stopped(ctx context.Context) error {
	select {
	case <-c.closing:
		return ErrClosed
	default:
		return ctx.Err()
	}
}

// end stops a compaction and lets none begin.
func (c *compaction) end() {
	close(c.closing)
	c.one.Lock()
	c.kept.Wait()
}

// Compact makes the file as small as what it holds. Mail is judged and counted meanwhile. Where it goes wrong or ctx ends, the
// file stays as it is. Tell, unless it is nil, hears how many octets of records were copied of about how many.
func (s *Store) Compact(ctx context.Context, tell func(done, of int64)) (Compacted, error) {
	switch {
	case s.db.Load() == nil:
		return Compacted{}, ErrNoFile
	case s.opts.ReadOnly:
		return Compacted{}, ErrReadOnly
	case !s.compaction.one.TryLock():
		if err := s.compaction.stopped(ctx); err != nil {
			return Compacted{}, err
		}
		return Compacted{}, ErrCompacting
	}
	defer s.compaction.one.Unlock()
	out := Compacted{Before: s.fileSize()}
	if err := s.compact(ctx, tell); err != nil {
		return Compacted{}, fmt.Errorf("compact: %w", err)
	}
	out.After = s.fileSize()
	return out, nil
}

func (s *Store) compact(ctx context.Context, tell func(done, of int64)) error {
	if err := s.Sync(); err != nil {
		return err
	}
	old := s.db.Load()
	path, err := filepath.EvalSymlinks(s.path)
	if err != nil {
		return err
	}
	size, free := extent(old)
	if err := hasRoom(path, size-free); err != nil {
		return err
	}
	s.compaction.journal.begin()
	defer s.compaction.journal.end()
	fresh, file, err := newBeside(path)
	if err != nil {
		return err
	}
	if err := s.replace(ctx, path, fresh, file, func(done int64) {
		if tell != nil {
			tell(min(done, size-free), size-free)
		}
	}); err != nil {
		return errors.Join(err, fresh.Close(), os.Remove(path+compactMark))
	}
	return old.Close() // once nobody reads it
}

// replace copies what lives into the new file, and puts that in the place of the one at path.
func (s *Store) replace(ctx context.Context, path string, fresh *bbolt.DB, file *os.File, tell func(done int64)) error {
	c := copying{from: s.db.Load(), to: fresh, file: file, tell: tell, stopped: func() error {
		return errors.Join(s.compaction.stopped(ctx), s.compaction.step("copying"))
	}}
	if err := c.all(); err != nil {
		return err
	}
	for range catchUps {
		if err := fresh.Sync(); err != nil {
			return err
		}
		keys := s.compaction.journal.take()
		if err := errors.Join(c.stopped(), s.compaction.step("catching up"), c.bring(keys)); err != nil {
			return err
		}
		if len(keys) < fewKeys {
			break
		}
	}
	return s.commits.between(func() error { return s.adopt(path, &c) })
}

const (
	catchUps = 8    // times that what was written meanwhile is brought over before the commits wait
	fewKeys  = 1000 // that the commits may wait for
)

// adopt brings over what is left and goes on with the new file. The committer calls it, so nothing is written meanwhile.
func (s *Store) adopt(path string, c *copying) error {
	err := errors.Join(s.compaction.step("bringing the rest over"), c.bring(s.compaction.journal.take()))
	if err == nil {
		err = errors.Join(s.compaction.step("syncing"), c.fit(), c.to.Sync())
	}
	if err == nil {
		err = errors.Join(s.compaction.step("renaming"))
	}
	if err == nil {
		err = os.Rename(path+compactMark, path)
	}
	if err != nil {
		return err
	}
	c.to.NoSync, c.to.AllocSize = false, c.from.AllocSize
	s.swap.Lock()
	s.db.Store(c.to)
	s.swap.Unlock()
	if err := errors.Join(s.compaction.step("renamed"), syncFolder(filepath.Dir(path))); err != nil && s.opts.OnError != nil {
		s.opts.OnError(fmt.Errorf("compact: %w", err)) // a crash of the machine may bring the old file back
	}
	return nil
}

// extent is how many octets a database has, and how many of them are free.
func extent(db *bbolt.DB) (size, free int64) {
	_ = db.View(func(tx *bbolt.Tx) error { // fails only where it is closed, which is as good as empty
		size = tx.Size()
		return nil
	})
	return size, min(size, freeOctets(db))
}

// freeOctets are those of its free pages.
func freeOctets(db *bbolt.DB) int64 {
	stats := db.Stats()
	return int64(stats.FreePageN+stats.PendingPageN) * int64(db.Info().PageSize)
}

// hasRoom says whether the disk has room for so many octets more, and a quarter more of them for what comes meanwhile. A disk
// that is filled would harm others than the store.
func hasRoom(path string, octets int64) error {
	free, err := freeOn(filepath.Dir(path))
	if err != nil {
		return err
	}
	if free < octets+octets/4 {
		return fmt.Errorf("%w: %d octets are free, and about %d are wanted", syscall.ENOSPC, free, octets+octets/4)
	}
	return nil
}

// wasteful is from how many free octets on, where they are more than half of the file, it is compacted unasked.
const wasteful = 16 << 20

// keepSmall compacts the file now and then where that pays, until the store is closed.
func (s *Store) keepSmall() {
	tick := time.NewTicker(s.opts.CompactEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.compaction.closing:
			return
		case <-tick.C:
		}
		if size, free := extent(s.db.Load()); free < wasteful || free <= size/2 {
			continue
		}
		c, err := s.Compact(context.Background(), nil)
		switch {
		case errors.Is(err, ErrCompacting), errors.Is(err, ErrClosed):
		case err != nil && s.opts.OnError != nil:
			s.opts.OnError(err)
		case err == nil && s.opts.OnCompact != nil:
			s.opts.OnCompact(c)
		}
	}
}
