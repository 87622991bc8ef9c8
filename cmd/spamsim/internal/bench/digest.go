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
	rate := func(sum func([]byte) nilsimsa.Code) float64 {
		least := leastOf(spell/2, func() {
			for range times {
				sum(text)
			}
		})
		return rounded(times * float64(len(text)) / 1e6 / least.Seconds())
	}
	return &Digest{MBPerS: rate(nilsimsa.Sum), PlainMBPerS: rate(nilsimsa.Plain)}
}
