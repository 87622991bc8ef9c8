package store

// RecentSigmas returns the sigma of the best match of each recent message that was no copy of anything, of all scripts, by
// the scale of now: at most 2,048 of each script, none of 3 or more. Where sigma is true they are the upper half of the
// normal distribution, and the lower half of them is 0.
func (s *Store) RecentSigmas() []float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []float64
	for i := range s.fits {
		f := &s.fits[i]
		for _, rate := range f.rates {
			out = append(out, deviate(f.scale()*float64(rate)))
		}
	}
	return out
}
