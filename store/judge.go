package store

import (
	"math"
	"time"

	"spamsim/simhash"
)

// Judge says what a message resembles and leaves no trace of it.
func (s *Store) Judge(t *Trace, x *Transaction) Evidence {
	q := s.memory.query(t)
	defer q.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ev := s.judge(q, x)
	return ev
}

// Count judges a message and counts it. A message that was counted before is judged as it was then.
func (s *Store) Count(t *Trace, x *Transaction) Evidence {
	q := s.memory.query(t)
	defer q.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expire(x.Time)
	j, ev := s.judge(q, x)
	if ev.Abstain == "" && !ev.Known {
		s.observe(j)
		s.count(j, x, None)
	}
	return ev
}

// observe lets the message say what unrelated mail looks like.
func (s *Store) observe(j *judgement) {
	rate := math.Inf(1)
	for i := range j.matches {
		rate = min(rate, s.rate(&j.matches[i], j.q.t))
	}
	s.fits[j.q.t.Script].observe(rate)
	s.unsaved++
}

// A judgement is a message and the clusters it resembles.
type judgement struct {
	q       *query
	key     uint64
	matches []match
	members int // matches at the front of which it is a copy
}

// minTokens is the number of words below which a text says too little, where no attachment speaks for it.
const minTokens = 12

// judge holds a message against the store.
func (s *Store) judge(q *query, x *Transaction) (*judgement, Evidence) {
	return s.judgeBy(q, x, s.memory.matches)
}

// judgeBy is judge with the clusters that find returns, best first.
func (s *Store) judgeBy(q *query, x *Transaction, find func(*query) []match) (*judgement, Evidence) {
	j := &judgement{q: q, key: s.hash(x.Message)}
	j.q.sender = s.sender(x.Sender)
	if !q.t.informative() {
		return j, Evidence{Abstain: "short"}
	}
	if d := s.delivery(j.key); d != nil {
		if h, ok := s.memory.handle(s.now(d.seq)); ok {
			return j, s.again(j, h)
		}
	}
	j.matches = find(j.q)
	for i := range j.matches {
		m := &j.matches[i]
		if m.score < joinScore {
			break
		}
		m.c = s.full(m.handle)
		j.members++
	}
	if j.members > 0 && s.taughtElsewhere(j.key) {
		return j, s.again(j, j.matches[0].handle)
	}
	return j, s.evidence(j, x)
}

// informative says whether there is enough in a message to judge it.
func (t *Trace) informative() bool {
	if t.Tokens >= minTokens {
		return true
	}
	for _, f := range t.features {
		if f.kind == attachment {
			return true
		}
	}
	return false
}

// again is the evidence of a message that was counted into a cluster already.
func (s *Store) again(j *judgement, h uint32) Evidence {
	m := s.memory.measure(j.q, h)
	ev := s.describe(&m, j.q.t)
	ev.Member, ev.Known = true, true
	return ev
}

// evidence is what the matches say.
func (s *Store) evidence(j *judgement, x *Transaction) Evidence {
	if len(j.matches) == 0 {
		return Evidence{}
	}
	ev := s.describe(&j.matches[0], j.q.t)
	best := s.foremost(j)
	if best > 0 {
		ev = s.describe(&j.matches[best], j.q.t)
	}
	ev.Sigma = 0
	for i := range j.matches {
		ev.Sigma = max(ev.Sigma, s.sigma(&j.matches[i], j.q.t))
	}
	if ev.Member = j.members > 0; !ev.Member {
		return ev
	}
	s.include(&ev, j, best, x)
	return ev
}

// include counts the message, and the clusters that it joins, into what is said of the cluster.
func (s *Store) include(ev *Evidence, j *judgement, best int, x *Transaction) {
	c := j.matches[best].c
	senders, nets, rcpts := c.senders.clone(), c.nets.clone(), c.rcpts.clone()
	if best == 0 && !j.apart() {
		for _, m := range j.matches[1:j.merged()] {
			ev.Copies += int(m.c.copies)
			senders.merge(&m.c.senders)
			nets.merge(&m.c.nets)
			rcpts.merge(&m.c.rcpts)
		}
	}
	ev.Copies++
	senders.add(j.q.sender, 1)
	nets.add(s.hash(x.Network), 1)
	for _, r := range x.Recipients {
		rcpts.add(s.hash(r), 1)
	}
	ev.Senders, ev.Nets, ev.Rcpts = senders.count(), nets.count(), rcpts.count()
}

// foremost is the match to speak of: the best one, unless that is of few copies and another of the clusters that the message
// is a copy of has many. By joinScore alone one message in fifty is a copy of some cluster of many by chance; whoever sent such a
// message twice would be told of all the copies of that cluster.
func (s *Store) foremost(j *judgement) int {
	if j.members == 0 || j.matches[0].c.copies >= manyCopies {
		return 0
	}
	for i := 1; i < j.members; i++ {
		if m := &j.matches[i]; m.c.copies >= manyCopies && s.sigma(m, j.q.t) >= siblingSigma {
			return i
		}
	}
	return 0
}

// siblingSigma is how improbable it has to be that the message is a copy of a cluster of many, where it is one of another too. At 2.5
// all copies are found that are at 0; at 3 one in a thousand is not.
const siblingSigma = 2.5

// apart says whether the message is kept as a cluster of its own although it is a copy: where a grown cluster stands for
// too small a part of its text, its siblings would not be recognised by that cluster.
func (j *judgement) apart() bool {
	m := &j.matches[0]
	return m.c.copies >= maxGrowth && m.inMessage < wellKnown
}

// wellKnown is the share of a message's text that a grown cluster must have to take it up.
const wellKnown = 0.3

// merged is how many of the matches become one cluster with the message.
func (j *judgement) merged() int {
	n := min(1, j.members)
	for n < j.members && j.matches[n].score >= mergeScore {
		n++
	}
	return n
}

const (
	joinScore  = 25  // nats from which a message counts as a copy
	mergeScore = 300 // nats from which a message makes two clusters one
)

func (s *Store) describe(m *match, t *Trace) Evidence {
	c := m.c
	return Evidence{
		Score: m.score, Cluster: s.id(c.seq), Copies: int(c.copies), Label: c.label, Sample: c.sample,
		Senders: c.senders.count(), Nets: c.nets.count(), Rcpts: c.rcpts.count(),
		First: time.Unix(c.first, 0), Last: time.Unix(c.last, 0), Sigma: s.sigma(m, t),
		Nilsimsa: t.Nilsimsa.Similarity(c.nilsimsa), SimHash: simhash.Distance(t.SimHash, c.simhash),
		InCore: m.inCore, InMessage: m.inMessage,
	}
}
