package bench

import (
	"slices"

	"spamsim/parse"
)

// A Skew says how the words of messages, and the pairs of neighbouring words, are spread over messages, since that is what an
// index of shared features lives on: codes drawn at random would have no common ones. Of the words of a message, one tenth,
// half and nine tenths are in at most so many per cent of all messages; each figure is the median over messages.
type Skew struct {
	Words, Pairs [3]float64
}

// realMail is the skew of realMessages ham of the SpamAssassin public corpus, of 12 words and more, measured as skewOf does. The
// more messages there are, the rarer rare words are, so compare with as many.
var realMail = Skew{Words: [3]float64{0.16, 4.9, 45}, Pairs: [3]float64{0.026, 0.078, 1.9}}

// realMessages is how many messages realMail was measured on.
const realMessages = 3841

// skewSeed makes the sample another one than the mail of the lookups.
const skewSeed = 3

// skewOf measures the skew of the next n messages of a writer.
func skewOf(w *writer, n int) Skew {
	messages := make([][2][]string, n)
	in := map[string]int{} // how many messages have it
	for i := range messages {
		tokens := parse.AppendTokens(nil, parse.Parse(w.mail().raw, parse.Limits{}).Text())
		var pairs []string
		for k := 1; k < len(tokens); k++ {
			pairs = append(pairs, tokens[k-1]+" "+tokens[k])
		}
		messages[i] = [2][]string{distinct(tokens), distinct(pairs)}
		for _, feature := range slices.Concat(messages[i][:]...) {
			in[feature]++
		}
	}
	var out [2][3]float64
	for kind := range out {
		for q, part := range []float64{0.1, 0.5, 0.9} {
			var figures []int
			for _, m := range messages {
				var counts []int
				for _, feature := range m[kind] {
					counts = append(counts, in[feature])
				}
				figures = append(figures, quantile(counts, part))
			}
			out[kind][q] = 100 * float64(quantile(figures, 0.5)) / float64(n)
		}
	}
	return Skew{Words: out[0], Pairs: out[1]}
}

func distinct(s []string) []string {
	slices.Sort(s)
	return slices.Compact(s)
}

func quantile(x []int, part float64) int {
	slices.Sort(x)
	return x[int(part*float64(len(x)-1))]
}
