package store

import (
	"math"

	"spamsim/parse"
)

// How a score becomes a sigma.
//
// The best score of an unrelated message against N stored ones follows a power law: the chance that it reaches t is
//
//	p = 1 - exp(-rate)        rate = scale K(N) / t^3        K(N) = 78 ln(1 + N/100)^1.5
//
// fitted to mail of the SpamAssassin corpus that shares at most a tenth of its 4-word shingles with the rest, at N of 100,
// 400 and 1,000, and to the same mail against 1,000 to 100,000 texts of an order-2 Markov chain over the other half of it
// (the account in the help has the table). Sigma is the normal deviate of p. K grows slower than N, since the mail that
// comes near is the mail on the same subjects, of which more is soon there. Scale is 1 until the site's own mail shows
// another: see fit.
const (
	nullScale  = 78
	nullGrowth = 1.5
	nullTail   = 3.0
	nullUnit   = 100 // the N from which K grows; below it nothing was measured, and a smaller store is taken for one of this size
)

// Longer texts share more with few others, and gain less by many.
const (
	longText   = 200 // tokens
	longScale  = 1.4
	longGrowth = 0.75 * nullGrowth
	hanScale   = 2.3 // of scripts cut into characters: two halves of the CCERT set, each held against a background of the other
)

// A cluster of many copies is held against a background of its own: single messages beside it do not make a match with it
// any less improbable, but mail that belongs together without being copies (threads, a sender's boilerplate) gathers in
// such clusters, for which manyFloor stands.
const (
	manyCopies = 4
	manyFloor  = 1300
)

// maxSigma is printed for all that is beyond the reach of the arithmetic.
const maxSigma = 8

// rate is how many unrelated messages in store are expected to match as well as this, before the site's scale.
func (s *Store) rate(m *match, t *Trace) float64 {
	stored := s.memory.live
	if m.c.copies >= manyCopies {
		stored = min(stored, s.memory.many) + manyFloor
	}
	return nullRate(m.score, stored, t)
}

func nullRate(score float64, stored int, t *Trace) float64 {
	if score <= 0 {
		return math.Inf(1)
	}
	k, growth := float64(nullScale), nullGrowth
	if t.Tokens >= longText {
		k, growth = longScale*nullScale*math.Pow(math.Ln2, nullGrowth-longGrowth), longGrowth
	}
	if t.Script == parse.CJK {
		k *= hanScale
	}
	return k * math.Pow(math.Log1p(float64(max(stored, nullUnit))/nullUnit), growth) * math.Pow(score, -nullTail)
}

// deviate is the normal deviate of the chance of an event of a rate.
func deviate(rate float64) float64 {
	p := -math.Expm1(-rate)
	return max(0, min(maxSigma, math.Sqrt2*math.Erfinv(1-2*p)))
}

// sigma is the normal deviate of the chance that an unrelated message matches anything stored as well as this.
func (s *Store) sigma(m *match, t *Trace) float64 {
	return deviate(s.fits[t.Script].scale() * s.rate(m, t))
}
