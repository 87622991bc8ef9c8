package store

import "math"

// How a score becomes a sigma.
//
// The best score of an unrelated message against N stored ones follows a power law: the chance that it reaches t is
//
//	p = 1 - exp(-c N^b / t^a)
//
// with the figures below, fitted to the mail of the SpamAssassin corpus that shares at most a tenth of its 4-word shingles
// with the rest, at N of 100, 400 and 1,500 (the account in the help has the table). Sigma is the normal deviate of p. The
// length of the texts does not enter: a sketch has the same size for all.
const (
	nullScale  = 0.9  // c
	nullGrowth = 0.82 // b
	nullTail   = 3.0  // a
	nullFloor  = 100  // N below which nothing was measured: a smaller store is taken for one of this size
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

// sigma is the normal deviate of the chance that an unrelated message matches anything stored as well as this.
func (s *Store) sigma(m *match) float64 {
	stored := s.memory.live
	if m.c.copies >= manyCopies {
		stored = min(stored, s.memory.many) + manyFloor
	}
	return sigmaOf(m.score, stored)
}

func sigmaOf(score float64, stored int) float64 {
	if score <= 0 {
		return 0
	}
	rate := nullScale * math.Pow(float64(max(stored, nullFloor)), nullGrowth) * math.Pow(score, -nullTail)
	p := -math.Expm1(-rate)
	return max(0, min(maxSigma, math.Sqrt2*math.Erfinv(1-2*p)))
}
