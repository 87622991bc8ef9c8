package store

import "spamsim/parse"

// An Explanation says how the evidence of one message came about.
type Explanation struct {
	Evidence Evidence
	Held     int     // clusters that the message was held against
	Matches  []Match // those that it resembles, best first; of a message that was counted before, its own cluster
	Spoken   int     // which of Matches the evidence speaks of; -1 where there is none
	MinWords int     // words from which a text is judged
	CopyFrom float64 // score from which a message counts as a copy

	Spans    []Span   // the text as hashed, marked against the cluster spoken of; at most explainWords words
	Left     int      // words of the text beyond those
	Telling  []Shared // what is shared of those words and weighs most, heaviest first
	Features Overlap  // of the text
	Files    Overlap  // of attachments
	Core     int      // features of the cluster, of text and attachments, that count
	Constant int      // of those, the ones that nine in ten of its copies and more have
}

// A Match is one cluster that a message resembles.
type Match struct {
	Cluster   string // id in hex
	Sample    string // the subject of its first copy
	Copies    int    // without this message
	Label     Label
	Shared    float64    // weight of what is shared, in nats
	InCore    float64    // the part of the cluster's text that is shared, 0 to 1
	InMessage float64    // the part of the message's
	Score     float64    // Shared, lowered where little of both is shared
	Sigma     float64    // normal deviate of that score
	Chance    [3]float64 // the background: scores that a sigma of 1, 2 and 3 takes, which unrelated mail reaches in 15.9, 2.3 and 0.13 %
	Needed    float64    // the score that the sigma asked for takes
	Copy      bool       // the message counts as a copy of it
}

// A Span is a run of words of one mark.
type Span struct {
	Mark Mark
	Text string
}

// Mark says how a word stands to a cluster.
type Mark uint8

// The marks.
const (
	Unseen  Mark = iota // too common to tell anything, or not in the sample of features that is kept
	Both                // in the cluster too
	Differs             // not in the cluster
)

// String returns the word of the JSON.
func (m Mark) String() string { return [...]string{"unseen", "shared", "differs"}[m] }

// A Shared is a feature that message and cluster share.
type Shared struct {
	Text   string  // one word, two that follow each other, or two of which beginnings or ends are alike
	Weight float64 // nats
}

// An Overlap counts features.
type Overlap struct {
	Message int // of the message, that were looked up
	Shared  int // of those, in the cluster too
}

// What an explanation shows at most.
const (
	explainWords  = 2000
	explainShared = 12
)

// constantShare is the part of a cluster's copies that have what is called constant.
const constantShare = 0.9

// Explain judges a message as Judge does and says why. For each match it tells which score a sigma would take. It leaves no
// trace.
func (s *Store) Explain(t *Trace, x *Transaction, sigma float64) Explanation {
	q := s.memory.query(t)
	e, known := s.explain(q, x, sigma)
	words := parse.AppendTokens(nil, t.Text)
	if e.Left = max(0, len(words)-explainWords); e.Left > 0 {
		words = words[:explainWords]
	}
	draw := func(f feature) uint64 { return s.memory.draw(f) }
	units, features := units(t.Text, words), place(words)
	e.Spans = spansOf(units, markWords(len(words), features, func(f feature) Mark { return known[draw(f)].mark }))
	e.Telling = heaviest(units, features, func(f feature) float64 { return known[draw(f)].shared })
	return e
}

// A knownFeature is how a feature of the message stands to the cluster spoken of.
type knownFeature struct {
	mark   Mark
	shared float64 // its weight where it is shared, nats
}

// explain is what Explain does under the lock. The features are by their draws.
func (s *Store) explain(q *query, x *Transaction, sigma float64) (Explanation, map[uint64]knownFeature) {
	s.mu.Lock()
	defer s.mu.Unlock()
	j, ev := s.judge(q, x)
	e := Explanation{Evidence: ev, Held: s.memory.live, Spoken: -1, MinWords: minTokens, CopyFrom: joinScore}
	matches := j.matches
	if ev.Known {
		h, _ := s.memory.handle(s.now(s.delivery(j.key).seq))
		matches = []match{s.memory.measure(q, h)}
	}
	for i := range matches {
		matches[i].c = s.full(matches[i].handle)
		e.Matches = append(e.Matches, s.matchOf(&matches[i], q.t, sigma))
		if e.Spoken < 0 && e.Matches[i].Cluster == ev.Cluster {
			e.Spoken = i
		}
	}
	if e.Spoken < 0 {
		return e, nil
	}
	known := s.hold(&e, q, &matches[e.Spoken])
	return e, known
}

func (s *Store) matchOf(m *match, t *Trace, sigma float64) Match {
	out := Match{
		Cluster: s.id(m.c.seq), Sample: m.c.sample, Copies: int(m.c.copies), Label: m.c.label,
		Shared: m.evidence, InCore: m.inCore, InMessage: m.inMessage, Score: m.score, Sigma: s.sigma(m, t), Copy: m.score >= joinScore,
	}
	for i := range out.Chance {
		out.Chance[i] = s.scoreOf(m, t, float64(i+1))
	}
	out.Needed = s.scoreOf(m, t, sigma)
	return out
}

// scoreOf is the score with which the match would have a sigma: the inverse of sigma, by halving, since sigma grows with the
// score. A sigma that no score has is told as the highest score looked at.
func (s *Store) scoreOf(m *match, t *Trace, sigma float64) float64 {
	x := *m
	low, high := 0.0, 1e6
	for range 60 {
		x.score = (low + high) / 2
		if s.sigma(&x, t) < sigma {
			low = x.score
		} else {
			high = x.score
		}
	}
	return high
}

// hold counts what the message and a cluster share, and tells of each feature of the message how it stands to the cluster.
func (s *Store) hold(e *Explanation, q *query, m *match) map[uint64]knownFeature {
	files := map[uint64]bool{}
	for _, f := range q.t.features {
		if f.kind == attachment {
			files[s.memory.draw(f)] = true
		}
	}
	overlap := func(draw uint64) *Overlap {
		if files[draw] {
			return &e.Files
		}
		return &e.Features
	}
	known := make(map[uint64]knownFeature, len(q.features))
	for _, f := range q.features {
		overlap(f.draw).Message++
		if f.rank <= m.c.tau {
			known[f.draw] = knownFeature{mark: Differs}
		}
	}
	for _, el := range m.c.elements.unpack() {
		if m.c.inCore(el) == 0 {
			continue
		}
		e.Core++
		if el.share() >= constantShare {
			e.Constant++
		}
		if at, ok := q.find(el.id); ok {
			f := &q.features[at]
			known[f.draw] = knownFeature{Both, float64(f.w)}
			overlap(f.draw).Shared++
		}
	}
	return known
}

// draw is the number by which a query knows a feature.
func (m *memory) draw(f feature) uint64 { return mix(mix(f.hash ^ m.key)) }
