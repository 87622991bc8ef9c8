package store

import (
	"os"
	"sync"

	"go.etcd.io/bbolt"
)

// A journal has the keys that were written since a compaction began: what the new file may have otherwise. The values are
// those of the old file when they are brought over.
type journal struct {
	mu   sync.Mutex
	keys map[recordKey]struct{} // nil while there is no compaction
}

type recordKey struct{ bucket, key string }

func (j *journal) begin() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.keys = map[recordKey]struct{}{}
}

func (j *journal) end() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.keys = nil
}

// note says what was written, or may have been.
func (j *journal) note(todo []keyValue) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.keys == nil {
		return
	}
	for _, p := range todo {
		j.keys[recordKey{string(p.bucket), string(p.key)}] = struct{}{}
	}
}

// take returns what was noted since the last call.
func (j *journal) take() map[recordKey]struct{} {
	j.mu.Lock()
	defer j.mu.Unlock()
	out := j.keys
	j.keys = map[recordKey]struct{}{}
	return out
}

// A copying brings records from one database to another.
type copying struct {
	from, to *bbolt.DB
	file     *os.File // of to
	done     int64    // octets
	tell     func(done int64)
	stopped  func() error // asked before each slice
}

const (
	sliceOctets = 2 << 20 // of records that one read transaction sees: a long one would keep the old file from taking its free pages
	fillCopied  = 0.9     // of a page, as bbolt's own compaction has it: keys come in their order
)

// all copies every bucket.
func (c *copying) all() error {
	var names [][]byte
	err := c.from.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, _ *bbolt.Bucket) error {
			names = append(names, append([]byte(nil), name...))
			return nil
		})
	})
	for _, name := range names {
		for next := []byte{}; err == nil && next != nil; {
			if err = c.stopped(); err == nil {
				next, err = c.slice(name, next)
				c.tell(c.done)
			}
		}
	}
	return err
}

// slice copies records of a bucket from a key on, and returns the key that is next, nil at the end.
func (c *copying) slice(name, begin []byte) (next []byte, err error) {
	err = c.from.View(func(r *bbolt.Tx) error {
		return c.to.Update(func(w *bbolt.Tx) error {
			to, err := w.CreateBucketIfNotExists(name)
			if err != nil {
				return err
			}
			to.FillPercent = fillCopied
			from := r.Bucket(name).Cursor()
			octets := 0
			for k, v := from.Seek(begin); k != nil; k, v = from.Next() {
				if octets >= sliceOctets {
					next = append([]byte(nil), k...)
					break
				}
				if err := to.Put(k, v); err != nil {
					return err
				}
				octets += len(k) + len(v)
			}
			c.done += int64(octets)
			return nil
		})
	})
	return next, err
}

// fit cuts from the new file what bbolt took at its end for what may come.
func (c *copying) fit() error {
	size, _ := extent(c.to)
	return c.file.Truncate(size)
}

// bring makes records of the new file what they are in the old one.
func (c *copying) bring(keys map[recordKey]struct{}) error {
	if len(keys) == 0 {
		return nil
	}
	return c.from.View(func(r *bbolt.Tx) error {
		return c.to.Update(func(w *bbolt.Tx) error {
			for k := range keys {
				from, to, key := r.Bucket([]byte(k.bucket)), w.Bucket([]byte(k.bucket)), []byte(k.key)
				v := from.Get(key)
				err := to.Delete(key)
				if v != nil {
					err = to.Put(key, v)
				}
				if err != nil {
					return err
				}
			}
			return nil
		})
	})
}
