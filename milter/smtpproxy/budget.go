package smtpproxy

import (
	"runtime"
	"sync"
	"sync/atomic"

	"spamsim/milter/door"
)

// defaultJudging is how many messages are judged at once.
func defaultJudging() int { return 4 * runtime.GOMAXPROCS(0) }

// Sizes of a held message's buffer.
const (
	firstHeld = 32 << 10  // at first
	keptHeld  = 256 << 10 // at most, to be used again
)

// buffers are those of messages that are done.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// A held is a message in memory, charged to the budget. Two may hold it: the session, and a judgement that the session
// no longer waits for; the last one gives the memory back.
type held struct {
	raw    []byte
	budget *door.Budget
	limit  int64 // of the budget
	taken  int
	users  atomic.Int32
	spare  *[]byte
}

// hold returns an empty message, or nil where the budget is spent.
func hold(b *door.Budget, limit int64) *held {
	h := &held{budget: b, limit: limit, spare: buffers.Get().(*[]byte)}
	h.raw = (*h.spare)[:0]
	h.users.Store(1)
	if !h.room(firstHeld) {
		h.release()
		return nil
	}
	return h
}

// room makes room for n octets more; false is a spent budget.
func (h *held) room(n int) bool {
	need := len(h.raw) + n
	if need > cap(h.raw) {
		need = max(need, 2*cap(h.raw))
	} else {
		need = cap(h.raw)
	}
	if more := need - h.taken; more > 0 {
		if !h.budget.Take(more, h.limit) {
			return false
		}
		h.taken += more
	}
	if need > cap(h.raw) {
		raw := make([]byte, len(h.raw), need)
		copy(raw, h.raw)
		h.raw = raw
	}
	return true
}

// retain adds a user.
func (h *held) retain() { h.users.Add(1) }

// release takes a user away.
func (h *held) release() {
	if h.users.Add(-1) > 0 {
		return
	}
	h.budget.Give(h.taken)
	if cap(h.raw) <= keptHeld {
		*h.spare = h.raw
		buffers.Put(h.spare)
	}
}
