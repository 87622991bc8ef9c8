package store

// The bound on memory. Where there are more clusters than Options.Limit, a hand goes round over all of them in the order of
// arrival and drops what is of least use: messages that nothing resembled yet, oldest first. Only where a whole round finds
// none do campaigns go, at first those of few copies that were not seen of late, at last those of many that were. A flood of unique mail thus pushes out
// itself. What people labelled stays, and where that alone is more than the limit, so does all of it.

const (
	// handSteps is how many numbers the hand passes for one message: most clusters have two, and most rounds find most of
	// them useless, so that a few steps make the room that a message takes.
	handSteps = 1024
	// messagesPerCluster is how many messages are remembered for each cluster of the limit. One over it is forgotten, drawn
	// at random so that nobody chooses which: its retry would count as another copy.
	messagesPerCluster = 4
	// seenOfLate is how many seconds ago the last copy came of what was seen of late.
	seenOfLate = 3600
)

// A useful is how little use lets a cluster go.
type useful uint8

const (
	unlike     useful = iota // nothing resembled it
	smallStale               // a campaign of few copies, not seen of late
	small                    // of few copies
	stale                    // of many, not seen of late
	live
	usefuls // how many there are
)

// A hand goes round over the clusters.
type hand struct {
	seq     uint64
	lets    useful
	dropped int // in this round
}

// bound keeps to the limit, by at most handSteps steps. now is Unix seconds; seq, of the cluster that a message was just
// counted into, is left.
func (s *Store) bound(now int64, seq uint64) {
	if s.opts.Limit <= 0 {
		return
	}
	for n := 0; n < handSteps && s.memory.live > s.opts.Limit; n++ {
		s.step(now, seq)
	}
	if len(s.messages) > messagesPerCluster*s.opts.Limit {
		s.forgetOne()
	}
}

// step moves the hand by one number.
func (s *Store) step(now int64, but uint64) {
	if s.hand.seq++; s.hand.seq > s.lastSeq {
		if s.hand.dropped > 0 {
			s.hand = hand{}
		} else {
			s.hand = hand{lets: min(s.hand.lets+1, usefuls-1)}
		}
		return
	}
	h, ok := s.memory.handle(s.hand.seq)
	if !ok || s.hand.seq == but {
		return
	}
	if at := s.memory.at(h); at.state == grown {
		if c := s.memory.cluster(h); c.label != None || c.use(now) > s.hand.lets {
			return
		}
	}
	s.drop(h)
	s.hand.dropped++
}

// use says of what use a cluster is.
func (c *cluster) use(now int64) useful {
	switch {
	case c.copies == 1:
		return unlike
	case c.copies < manyCopies && c.last < now-seenOfLate:
		return smallStale
	case c.copies < manyCopies:
		return small
	case c.last < now-seenOfLate:
		return stale
	}
	return live
}

// forgetOne forgets some message that was not taught.
func (s *Store) forgetOne() {
	tries := 8
	for key, r := range s.messages { // begins anywhere
		if !r.taught() {
			s.disremember(key)
			return
		}
		if tries--; tries == 0 {
			return
		}
	}
}
