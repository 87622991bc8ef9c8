package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"spamsim/parse"
	"spamsim/store"
)

// bands are of the length of the text in octets.
var bands = []struct {
	name string
	from int
}{{"under 1 KB", 0}, {"1 to 8 KB", 1 << 10}, {"over 8 KB", 8 << 10}}

// levels are the sigmas whose shares are counted.
var levels = []float64{1, 2, 2.5, 3}

// draws is how often the messages that are stored are drawn anew: one draw of 400 has any share from 0.06 to 0.65 % beyond 3 sigma.
const draws = 12

// calibration prints what share of unrelated mail reaches each sigma, by what is stored and by length.
func calibration(sides []side) {
	fmt.Println("unrelated mail that reaches sigma, % (true: 1 15.87, 2 2.28, 2.5 0.62, 3 0.13)")
	for _, n := range []int{100, 400} {
		report(fmt.Sprintf("%d messages of the same half stored, of %d draws the mean (and least to most)", n, draws), draws, sides,
			func(s *side, draw int) (stored, probes []*store.Trace) {
				all := unrelated(s.judged)
				rand.New(rand.NewPCG(uint64(draw+1), uint64(n))).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
				return all[:n], all[n:]
			})
	}
	for _, n := range []int{1000, 100_000} {
		report(fmt.Sprint(n, " texts of a Markov chain over the other half stored"), 1, sides, func(s *side, _ int) (stored, probes []*store.Trace) {
			return newMarkov(s.fitted).texts(n), unrelated(s.judged)
		})
	}
	fmt.Println()
}

// report prints the shares of so many draws together.
func report(title string, draws int, sides []side, split func(*side, int) (stored, probes []*store.Trace)) {
	counts := map[string][]drawn{} // by band and level
	for _, b := range bands {
		for range levels {
			counts[b.name] = append(counts[b.name], make(drawn, draws))
		}
	}
	for draw := range draws {
		for i := range sides {
			stored, probes := split(&sides[i], draw)
			s := sides[i].open()
			for k, t := range stored {
				s.Count(t, unique(k))
			}
			for _, t := range probes {
				sigma, band := s.Judge(t, unique(-1)).Sigma, bandOf(t)
				for l, level := range levels {
					counts[band][l][draw].add(sigma >= level)
				}
			}
		}
	}
	fmt.Printf("  %s\n", title)
	for _, b := range bands {
		c := counts[b.name]
		fmt.Printf("    %-11s %5d messages  1: %-24v 2: %-22v 2.5: %-22v 3: %v\n", b.name, c[0].all().of/draws, c[0], c[1], c[2], c[3])
	}
}

// drawn are the tallies of some draws of the same messages.
type drawn []tally

func (d drawn) all() (sum tally) {
	for _, t := range d {
		sum.n, sum.of = sum.n+t.n, sum.of+t.of
	}
	return sum
}

// String is the share of all in per cent, with the least and the most of the draws, or as that of a tally where there is one.
func (d drawn) String() string {
	if len(d) == 1 {
		return d[0].String()
	}
	least, most := math.Inf(1), 0.0
	for _, t := range d {
		share := 100 * float64(t.n) / float64(t.of)
		least, most = min(least, share), max(most, share)
	}
	sum := d.all()
	return fmt.Sprintf("%.2f (%.2f to %.2f)", 100*float64(sum.n)/float64(sum.of), least, most)
}

func bandOf(t *store.Trace) string {
	name := bands[0].name
	for _, b := range bands {
		if t.Octets >= b.from {
			name = b.name
		}
	}
	return name
}

// unique is a transaction that shares nothing with another.
func unique(n int) *store.Transaction {
	id := fmt.Sprint("unique ", n)
	return &store.Transaction{Message: id, Sender: id, Network: id, Recipients: []string{id}, Time: time.Unix(1e9, 0)}
}

// A markov is an order-2 chain over the words of some mail.
type markov struct {
	next   map[[2]string][]string
	starts [][2]string
	sizes  []int
	*rand.Rand
}

func newMarkov(from []*mail) *markov {
	m := &markov{next: map[[2]string][]string{}, Rand: rand.New(rand.NewPCG(2, 3))}
	for _, x := range from {
		w := strings.Fields(x.body)
		if len(w) < 20 {
			continue
		}
		m.sizes = append(m.sizes, len(w))
		for i := range w[2:] {
			k := [2]string{w[i], w[i+1]}
			m.next[k] = append(m.next[k], w[i+2])
			if i%10 == 0 {
				m.starts = append(m.starts, k)
			}
		}
	}
	return m
}

// text makes up a text of n words, or as many as one of the mails has where n is 0.
func (m *markov) text(n int) string {
	if n == 0 {
		n = m.sizes[m.IntN(len(m.sizes))]
	}
	var out []string
	k := m.starts[m.IntN(len(m.starts))]
	for len(out) < n {
		all := m.next[k]
		if len(all) == 0 {
			k = m.starts[m.IntN(len(m.starts))]
			continue
		}
		w := all[m.IntN(len(all))]
		out, k = append(out, w), [2]string{k[1], w}
	}
	return strings.Join(out, " ")
}

func (m *markov) texts(n int) []*store.Trace {
	out := make([]*store.Trace, n)
	for i := range out {
		out[i] = trace(m.text(0))
	}
	return out
}

// trace is that of a plain message with this text.
func trace(text string) *store.Trace {
	return store.NewTrace(&parse.Message{Blocks: []parse.Block{{Text: text}}})
}
