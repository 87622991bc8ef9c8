// Account measures on a corpus of real mail what the product's documentation says of detection, cross-fitted: the mail is
// cut in two halves by the subjects of its threads, and each half is judged by a store whose background was made of the
// other half and of nothing else. Nothing of what is scored is in what scores it.
package main

import (
	"fmt"
	"log"
	"math"
	"os"

	"spamsim/store"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: account FOLDER, with the folders easy-ham-1, spam-1 and so on in it")
	}
	ham, spam := load(os.Args[1], "ham"), load(os.Args[1], "spam")
	if len(ham) < 1000 || len(spam) < 1000 {
		log.Fatalf("%d ham and %d spam in %s: is it the corpus?", len(ham), len(spam), os.Args[1])
	}
	a, b := halves(ham)
	var sides [2]side
	for i, h := range [2][2][]*mail{{a, b}, {b, a}} {
		sides[i] = newSide(h[0], h[1])
	}
	fmt.Printf("%d ham in halves of %d and %d, %d spam as templates\n\n", len(ham), len(a), len(b), len(spam))
	calibration(sides[:])
	for i := range sides {
		sides[i].order(i)
	}
	campaigns(sides[:], spam)
}

// A side is a background of one half of the mail, and the other half, which it judges.
type side struct {
	fitted, judged []*mail
	background     []byte
}

func newSide(fitted, judged []*mail) side {
	var b store.BackgroundBuilder
	for _, m := range fitted {
		b.Add(m.trace)
	}
	return side{fitted, judged, b.Bytes()}
}

// open is an empty store of this side.
func (s *side) open() *store.Store {
	out, err := store.Open("", store.Options{Background: s.background, Key: []byte("account")})
	if err != nil {
		log.Fatal(err)
	}
	return out
}

// order judges the mail of the half in the order of its arrival and counts what is called bulk.
func (s *side) order(n int) {
	st, bulk := s.open(), 0
	for _, m := range s.judged {
		if isBulk(st.Count(m.trace, m.transaction())) {
			bulk++
		}
	}
	fmt.Printf("half %d in order of arrival: %d of %d ham bulk, newsletters and feeds among them\n", n+1, bulk, len(s.judged))
}

// isBulk is the shipped rule.
func isBulk(ev store.Evidence) bool { return ev.Member && ev.Sigma >= 3 && ev.Copies >= 5 }

// A tally counts the messages of a kind and those of them for which something holds.
type tally struct{ n, of int }

func (t *tally) add(holds bool) {
	t.of++
	if holds {
		t.n++
	}
}

// String is the share in per cent with its 95 % score interval (Wilson 1927).
func (t tally) String() string {
	if t.of == 0 {
		return "-"
	}
	const z = 1.959964
	n, p := float64(t.of), float64(t.n)/float64(t.of)
	middle, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return fmt.Sprintf("%.2f (%.2f to %.2f)", 100*p, 100*max(0, (middle-half)/(1+z*z/n)), 100*(middle+half)/(1+z*z/n))
}
