package filter

import (
	"fmt"
	"slices"
	"strings"
)

// compatible are the fields of WithCompatibility.
var compatible = []string{"X-Spam-Flag", "X-Spam-Status", "X-Spam-Level"}

// maxStars is the longest X-Spam-Level, as SpamAssassin has it.
const maxStars = 50

// WithCompatibility adds the fields that SpamAssassin made common, for programs that sort mail by them, and removes every
// one that came with the message:
//
//	X-Spam-Flag: YES
//	X-Spam-Status: Yes, score=4.6 required=3.0 tests=SPAMSIM_BULK
//	X-Spam-Level: ****
//
// Verdict bulk is "yes" with sigma as its score; any other is "no" with score 0, whatever its sigma: a message like a
// single one before has a high sigma too, and rules go by the number alone.
func (j Judgement) WithCompatibility() Judgement {
	v := &j.Verdict
	flag, word, score := " NO", "No", 0.0
	if v.Kind == Bulk {
		flag, word, score = " YES", "Yes", v.Sigma
	}
	status := fmt.Sprintf(" %s, score=%.1f required=%.1f tests=SPAMSIM_%s", word, score, v.Threshold, strings.ToUpper(v.Kind.String()))
	j.Add = append(slices.Clip(j.Add), Field{compatible[0], flag}, Field{compatible[1], status})
	if stars := min(int(score), maxStars); stars > 0 { // an empty field is not written
		j.Add = append(j.Add, Field{compatible[2], " " + strings.Repeat("*", stars)})
	}
	j.Strip = append(slices.Clip(j.Strip), compatible...)
	return j
}
