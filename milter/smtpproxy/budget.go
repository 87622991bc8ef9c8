package smtpproxy

import (
	"net/netip"
	"runtime"
	"sync"
	"sync/atomic"

	"spamsim/milter/door"
)

// defaultJudging is how many messages are judged at once.
func defaultJudging() int { return 4 * runtime.GOMAXPROCS(0) }

// Sizes of a held message's buffer.
const (
	firstHeld = 32 << 10       // at first
	keptHeld  = 256 << 10      // at most, to be used again
	aboveHeld = 2 * readBuffer // what is read at a time, of which each octet may become two
)

// buffers are those of messages that are done.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// A budget counts the octets that are held: of all, and of each network that is not trusted.
type budget struct {
	door.Budget
	limit int64
	mu    sync.Mutex
	of    map[netip.Prefix]int64
}

// take adds n octets to what is held, and to what is held of a network, of which mine are those of the same message. Besides one
// message a network may hold no more than it leaves to all others (dynamic thresholds, Choudhury and Hahne 1998, with alpha 1):
// one that takes all it can leaves half, two leave a third, so that there is always room for somebody's mail. The zero prefix is
// that of the trusted, who may take all.
func (b *budget) take(n, mine int, of netip.Prefix) bool {
	if !of.IsValid() {
		return b.Take(n, b.limit)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	before, after := b.of[of], b.of[of]+int64(n)
	if before > int64(mine) && after > b.limit-b.Held()-int64(n) || !b.Take(n, b.limit) {
		return false
	}
	b.of[of] = after
	return true
}

// give takes n octets off.
func (b *budget) give(n int, of netip.Prefix) {
	b.Give(n)
	if !of.IsValid() {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.of[of] -= int64(n); b.of[of] == 0 {
		delete(b.of, of)
	}
}

// A held is a message in memory, charged to the budget. Two may hold it: the session, and a judgement that the session
// no longer waits for; the last one gives the memory back.
type held struct {
	raw    []byte
	most   int // octets of raw, header of a larger message aside
	budget *budget
	of     netip.Prefix // whose it is, zero for a trusted client
	taken  int
	users  atomic.Int32
	spare  *[]byte
}

// hold returns an empty message, or nil where the budget is spent.
func (s *Server) hold(of netip.Prefix) *held {
	h := &held{most: s.cfg.MaxJudged + aboveHeld, budget: &s.budget, of: of, spare: buffers.Get().(*[]byte)}
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
	switch {
	case need <= cap(h.raw):
		need = cap(h.raw)
	case need <= h.most:
		need = max(need, min(2*cap(h.raw), h.most))
	default:
		need = max(need, 2*cap(h.raw))
	}
	if more := need - h.taken; more > 0 {
		if !h.budget.take(more, h.taken, h.of) {
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
	h.budget.give(h.taken, h.of)
	if cap(h.raw) <= keptHeld {
		*h.spare = h.raw
		buffers.Put(h.spare)
	}
}
