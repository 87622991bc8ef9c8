package filter

import (
	"fmt"
	"slices"
	"strings"
)

// compatible are the fields of WithCompatibility.
var compatible = []string{"X-Spam-Flag", "X-Spam-Status", "X-Spam-Level", MetricsName}

// maxStars is the longest X-Spam-Level, as SpamAssassin has it.
const maxStars = 50

// WithCompatibility adds the fields that SpamAssassin made common and the one with the counts that dccifd's clients know,
// for programs that sort mail by them, and removes every one that came with the message. id is the host's name.
//
//	X-Spam-Flag: YES
//	X-Spam-Status: Yes, score=4.6 required=3.0 tests=SPAMSIM_BULK
//	X-Spam-Level: ****
//	X-DCC-spamsim-Metrics: mx1.example.net 1; bulk Body=many Fuz1=many Fuz2=many
//
// Verdict bulk is "yes" with sigma as its score; any other is "no" with score 0, whatever its sigma: a message like a
// single one before has a high sigma too, and rules go by the number alone.
func (j Judgement) WithCompatibility(id string) Judgement {
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
	j.Add = append(j.Add, Field{MetricsName, " " + v.Metrics(id)})
	j.Strip = append(slices.Clip(j.Strip), compatible...)
	return j
}
