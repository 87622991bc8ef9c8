package store

import "spamsim/parse"

// Marks beside the place of a feature.
const (
	oneWord  = places     // it is one word
	personal = 2 * places // it is made of what differs from one copy of a letter to the next (wording.mark)
)

// noCopy is the score, in nats, of what is all but a copy.
const noCopy = joinScore - 1

// scant says whether a short text and a cluster share fewer words that tell something than a text has that is judged at all: what
// they share might be a slogan or the line of a mail program below letters that are no copies of one another, however rare its words
// are. It is a copy where that is most of the text.
func (q *query) scant(x *containment, h *hits) bool {
	if q.t == nil || q.text > sketchSize || q.t.Script == parse.CJK || x.inMessage >= sameSender {
		return false
	}
	words := 0
	for i := range q.text {
		if q.features[i].place&oneWord != 0 && h.has(i) {
			words++
		}
	}
	return words < minTokens
}
