// Package store remembers recent mail in clusters.
package store

import (
	"time"

	"spamsim/nilsimsa"
	"spamsim/parse"
)

// Options of a store. A zero field means its default.
type Options struct {
	Window   time.Duration // how long a cluster lives after its last copy, default 7 days
	Timeout  time.Duration // how long Open waits for the file's lock, default 1 s
	Key      []byte        // site key of the sketches and index; nil: the store makes its own
	ReadOnly bool
}

// A Store holds the clusters of recent mail. Its methods may be called from many goroutines.
type Store struct{}

// A Trace is what the store needs of one message.
type Trace struct {
	Text     string // as hashed
	Nilsimsa nilsimsa.Code
	SimHash  uint64
	// more to come
}

// NewTrace computes the codes and features of a message.
func NewTrace(m *parse.Message) *Trace { return &Trace{} }

// Open opens the store at path; path "" is a scratch store in memory.
func Open(path string, o Options) (*Store, error) { return &Store{}, nil }

// Close writes what is not yet on disk and closes the file.
func (s *Store) Close() error { return nil }

// Sync returns when everything counted before the call is on disk.
func (s *Store) Sync() error { return nil }

// Stats are the store's counters.
type Stats struct {
	Clusters, Messages int
	Bytes              int64
}

// Stats returns the counters of now.
func (s *Store) Stats() Stats { return Stats{} }
