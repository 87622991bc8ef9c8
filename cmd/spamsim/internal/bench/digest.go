package bench

import (
	"time"

	"spamsim/nilsimsa"
)

// A Digest says how fast Nilsimsa codes are computed of 16 KB of text, in MB (10^6 bytes) a second on one core.
type Digest struct {
	MBPerS      float64 `json:"mb_per_s"`
	PlainMBPerS float64 `json:"plain_mb_per_s"` // by the plain loop
}

func measureDigest(spell time.Duration) *Digest {
	const times = 20 // some milliseconds, since processor time is told in microseconds
	text := newWriter(1).text(16 << 10)
	both := []func([]byte) nilsimsa.Code{nilsimsa.Sum, nilsimsa.Plain}
	taken := make([][]time.Duration, len(both))
	leastOf(spell, func() { // in turn, so that what else the machine does disturbs both alike
		for i, sum := range both {
			taken[i] = append(taken[i], timeOf(func() {
				for range times {
					sum(text)
				}
			}))
		}
	})
	rate := func(taken []time.Duration) float64 {
		return rounded(times * float64(len(text)) / 1e6 / quartile(taken).Seconds())
	}
	return &Digest{MBPerS: rate(taken[0]), PlainMBPerS: rate(taken[1])}
}
