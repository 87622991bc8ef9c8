package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"spamsim/simhash/scan"
)

// A Scan says what it takes to find the nearest of so many codes of 256 bits, in nanoseconds a code.
type Scan struct {
	Codes         int     `json:"codes"`
	NSPerCode     float64 `json:"ns_per_code"`               // one search
	ReadNSPerCode float64 `json:"read_ns_per_code"`          // reading the codes, and nothing else
	Batch16NS     float64 `json:"batch16_ns_per_code_query"` // 16 searches in one pass, for each of them
}

// measureScans scans sets of random codes. A scan looks at every code whatever it is, unlike an index.
func measureScans(ctx context.Context, o Options) ([]Scan, error) {
	r := rand.New(rand.NewPCG(1, 2))
	random := func() [4]uint64 { return [4]uint64{r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()} }
	var set scan.Set
	var out []Scan
	for _, n := range o.Codes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		o.Tell(fmt.Sprintf("the scan of %d codes", n))
		for set.Len() < n {
			set.Add(random())
		}
		var queries [16][4]uint64
		for i := range queries {
			queries[i] = random()
		}
		out = append(out, measureScan(&set, queries[:], o.Spell))
	}
	return out, nil
}

func measureScan(set *scan.Set, queries [][4]uint64, spell time.Duration) Scan {
	n, hits := set.Len(), make([]scan.Hit, len(queries))
	times := max(1, 1_000_000/n) // processor time is told in microseconds
	measure := func(taken *[]time.Duration, run func()) {
		*taken = append(*taken, timeOf(func() {
			for range times {
				run()
			}
		}))
	}
	var read, one, batch []time.Duration
	leastOf(spell, func() { // in turn, so that what else the machine does disturbs all three alike
		measure(&read, func() { set.Read() })
		measure(&one, func() { hits[0] = set.Nearest(queries[0]) })
		measure(&batch, func() { set.NearestEach(queries, hits) })
	})
	each := func(taken []time.Duration, searches int) float64 {
		return rounded(float64(quartile(taken).Nanoseconds()) / float64(times*n*searches))
	}
	return Scan{Codes: n, NSPerCode: each(one, 1), ReadNSPerCode: each(read, 1), Batch16NS: each(batch, len(queries))}
}

// quartile is what a quarter of some runs took less than. The least will not do for runs of a millisecond: now and then the kernel
// books what one took to the next.
func quartile(taken []time.Duration) time.Duration {
	slices.Sort(taken)
	return taken[len(taken)/4]
}
