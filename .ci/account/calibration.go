package main

import (
	"fmt"
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

// calibration prints what share of unrelated mail reaches each sigma, by what is stored and by length.
func calibration(sides []side) {
	fmt.Println("unrelated mail that reaches sigma, % (true: 1 15.87, 2 2.28, 2.5 0.62, 3 0.13)")
	for _, n := range []int{100, 400} {
		report(fmt.Sprint(n, " messages of the same half stored"), sides, func(s *side) (stored, probes []*store.Trace) {
			all := unrelated(s.judged)
			rand.New(rand.NewPCG(1, uint64(n))).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			return all[:n], all[n:]
		})
	}
	for _, n := range []int{1000, 100_000} {
		report(fmt.Sprint(n, " texts of a Markov chain over the other half stored"), sides, func(s *side) (stored, probes []*store.Trace) {
			return newMarkov(s.fitted).texts(n), unrelated(s.judged)
		})
	}
	fmt.Println()
}

func report(title string, sides []side, split func(*side) (stored, probes []*store.Trace)) {
	counts := map[string][]tally{}
	for i := range sides {
		stored, probes := split(&sides[i])
		s := sides[i].open()
		for k, t := range stored {
			s.Count(t, unique(k))
		}
		for _, t := range probes {
			sigma, band := s.Judge(t, unique(-1)).Sigma, bandOf(t)
			if counts[band] == nil {
				counts[band] = make([]tally, len(levels))
			}
			for l, level := range levels {
				counts[band][l].add(sigma >= level)
			}
		}
	}
	fmt.Printf("  %s\n", title)
	for _, b := range bands {
		if c := counts[b.name]; c != nil {
			fmt.Printf("    %-11s %5d messages  1: %-24v 2: %-22v 2.5: %-22v 3: %v\n", b.name, c[0].of, c[0], c[1], c[2], c[3])
		}
	}
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
