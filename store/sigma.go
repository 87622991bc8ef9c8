package store

import "math"

// sigma is the normal deviate of the chance that an unrelated message matches anything stored as well as this.
func (s *Store) sigma(m *match) float64 {
	return math.Min(40, m.score/20)
}
