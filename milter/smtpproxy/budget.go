package smtpproxy

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// defaultJudging is how many messages are judged at once.
func defaultJudging() int { return 4 * runtime.GOMAXPROCS(0) }

// A budget bounds the octets that all messages hold together.
type budget struct {
	limit int64
	held  atomic.Int64
}

// take asks for n octets more; false leaves the budget as it was.
func (b *budget) take(n int64) bool {
	if b.held.Add(n) > b.limit {
		b.held.Add(-n)
		return false
	}
	return true
}

func (b *budget) give(n int64) { b.held.Add(-n) }

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
	budget *budget
	taken  int64
	users  atomic.Int32
	spare  *[]byte
}

// hold returns an empty message, or nil where the budget is spent.
func hold(b *budget) *held {
	h := &held{budget: b, spare: buffers.Get().(*[]byte)}
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
	if more := int64(need) - h.taken; more > 0 {
		if !h.budget.take(more) {
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
	h.budget.give(h.taken)
	if cap(h.raw) <= keptHeld {
		*h.spare = h.raw
		buffers.Put(h.spare)
	}
}
