package store

import (
	"iter"
	"time"
)

const (
	// sweeps is how often in one window clusters are expired.
	sweeps = 200
	// dropCost is how many looks at a cluster cost as much as dropping one, which is taken out of some hundred lists.
	dropCost = 64
)

// A sweep is expiry under way: it goes on with each message that is counted, for about lockedFor looks, so that none waits for
// all of it. The zero value is none.
type sweep struct {
	next func() (struct{}, bool)
	stop func()
}

// end gives up what is left.
func (w *sweep) end() {
	if w.stop != nil {
		w.stop()
	}
	*w = sweep{}
}

// expire drops the clusters whose last copy came before the window. It begins once in a while only; now is the time of the
// message at hand.
func (s *Store) expire(now time.Time) {
	at, window := now.Unix(), int64(s.opts.Window/time.Second)
	if s.sweep.next == nil {
		if at-s.swept < window/sweeps && at >= s.swept {
			return
		}
		s.swept = at
		s.sweep.next, s.sweep.stop = iter.Pull(s.expired(at - window))
	}
	if _, more := s.sweep.next(); !more {
		s.sweep.end()
	}
}

// expired drops what came before a time, Unix seconds, and yields now and then. What changes between is seen as it is then.
func (s *Store) expired(before int64) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		looks := 0
		pause := func(cost int) bool {
			if looks += cost; looks < lockedFor {
				return true
			}
			looks = 0
			return yield(struct{}{})
		}
		if !s.expireClusters(before, pause) || !s.expireMessages(before, pause) {
			return
		}
		for seq := range s.moved {
			if _, ok := s.memory.handle(s.now(seq)); !ok && !s.linked(seq) {
				delete(s.moved, seq)
				s.changes.cluster(seq)
				s.leadsNowhere(seq)
			}
			if !pause(1) {
				return
			}
		}
	}
}

func (s *Store) expireClusters(before int64, pause func(cost int) bool) (done bool) {
	for h := uint32(0); h < s.memory.top; h++ {
		cost := 1
		if s.memory.expired(h, before) {
			s.drop(h)
			cost = dropCost
		}
		if !pause(cost) {
			return false
		}
	}
	return true
}

// expired says whether the last copy came before a time, Unix seconds, and nobody labelled it.
func (m *memory) expired(h uint32, before int64) bool {
	s := m.at(h)
	switch s.state {
	case alone:
		return int64(s.last) < before
	case grown:
		c := m.grown[s.place]
		return c.last < before && c.label == None
	}
	return false
}

func (s *Store) expireMessages(before int64, pause func(cost int) bool) (done bool) {
	for key, r := range s.messages {
		if r.before(before) {
			s.disremember(key)
		}
		if !pause(1) {
			return false
		}
	}
	return true
}
