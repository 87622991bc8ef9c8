package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"spamsim/store"
)

// attacks are ways to make the copies of a campaign differ, each of a text in words.
var attacks = []struct {
	name string
	make func(r *rand.Rand, filler *markov, words []string) []string
}{
	{"10 % of words exchanged", exchange(0.1)},
	{"20 % of words exchanged", exchange(0.2)},
	{"30 % of words exchanged", exchange(0.3)},
	{"20 % of words put in", func(r *rand.Rand, f *markov, words []string) []string {
		var out []string
		for _, w := range words {
			if out = append(out, w); r.Float64() < 0.2 {
				out = append(out, strings.Fields(f.text(3))[2])
			}
		}
		return out
	}},
	{"as much other text behind", func(_ *rand.Rand, f *markov, words []string) []string {
		return append(words, strings.Fields(f.text(len(words)))...)
	}},
	{"a letter wrong in 30 % of words", func(r *rand.Rand, _ *markov, words []string) []string {
		for i, w := range words {
			if b := []byte(w); r.Float64() < 0.3 {
				b[r.IntN(len(b))] = byte('a' + r.IntN(26))
				words[i] = string(b)
			}
		}
		return words
	}},
	{"10 % of words left out", func(r *rand.Rand, _ *markov, words []string) []string {
		var out []string
		for _, w := range words {
			if r.Float64() >= 0.1 {
				out = append(out, w)
			}
		}
		return out
	}},
}

func exchange(part float64) func(*rand.Rand, *markov, []string) []string {
	return func(r *rand.Rand, f *markov, words []string) []string {
		for i := range words {
			if r.Float64() < part {
				words[i] = strings.Fields(f.text(3))[2]
			}
		}
		return words
	}
}

const (
	templates = 20 // campaigns of each attack
	copies    = 20 // messages of a campaign
)

// campaigns hides campaigns made of spam among the unrelated ham of each half, and counts what is found from the fifth
// copy on and what ham is called bulk.
func campaigns(sides []side, spam []*mail) {
	found, lost := make([]tally, len(attacks)), tally{}
	for i := range sides {
		sides[i].campaigns(uint64(i), spam, found, &lost)
	}
	fmt.Printf("\ncampaigns among unrelated ham: copies found from the fifth on, %%\n")
	sum := 0.0
	for k, a := range attacks {
		fmt.Printf("    %-34s %v\n", a.name, found[k])
		sum += float64(found[k].n) / float64(found[k].of)
	}
	fmt.Printf("    %-34s %.2f\nunrelated ham called bulk, %%: %v, %d of %d\n", "mean", 100*sum/float64(len(attacks)), lost, lost.n, lost.of)
}

func (s *side) campaigns(seed uint64, spam []*mail, found []tally, lost *tally) {
	type item struct {
		trace            *store.Trace
		attack, campaign int // campaign 0 is ham
	}
	r, filler := rand.New(rand.NewPCG(seed, 4)), newMarkov(s.fitted)
	var stream []item
	for _, t := range unrelated(s.judged) {
		stream = append(stream, item{trace: t})
	}
	for k, a := range attacks {
		for c := range templates {
			words := template(r, spam)
			for range copies {
				text := a.make(r, filler, append([]string(nil), words...))
				stream = append(stream, item{trace(strings.Join(text, " ")), k, k*templates + c + 1})
			}
		}
	}
	r.Shuffle(len(stream), func(i, j int) { stream[i], stream[j] = stream[j], stream[i] })
	st, seen := s.open(), map[int]int{}
	for i, x := range stream {
		bulk := isBulk(st.Count(x.trace, unique(i)))
		if seen[x.campaign]++; x.campaign == 0 {
			lost.add(bulk)
		} else if seen[x.campaign] >= 5 {
			found[x.attack].add(bulk)
		}
	}
}

// template is the text of a spam of 60 to 1,200 words.
func template(r *rand.Rand, spam []*mail) []string {
	for {
		if w := strings.Fields(spam[r.IntN(len(spam))].body); len(w) >= 60 && len(w) <= 1200 {
			return w
		}
	}
}
