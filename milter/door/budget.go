package door

import "sync/atomic"

// A Budget counts octets that are held. The zero value holds none.
type Budget struct{ n atomic.Int64 }

// Take adds n unless the sum would be over the limit.
func (b *Budget) Take(n int, limit int64) bool {
	if b.n.Add(int64(n)) <= limit {
		return true
	}
	b.n.Add(-int64(n))
	return false
}

// Give takes n off.
func (b *Budget) Give(n int) { b.n.Add(-int64(n)) }

// Held is how many octets are held.
func (b *Budget) Held() int64 { return b.n.Load() }
