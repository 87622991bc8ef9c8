package console

import "net/http"

// A level is a row of the table below the picture of sigma.
type level struct {
	Sigma    float64
	Expected float64 // of the unrelated messages
	Seen     int
	OneIn    int
	Bulk     int // of those judged of late
	Other    int
}

func (c *console) sigma(w http.ResponseWriter, r *http.Request) {
	threshold, copies := c.Threshold()
	unrelated := c.Unrelated()
	bulk, other := c.Recent.sigmas()
	var levels []level
	for _, s := range []float64{0.5, 1, 1.5, 2, 2.5, 3, 4, 5, 6} {
		levels = append(levels, level{
			Sigma: s, Expected: float64(len(unrelated)) * tail(s), OneIn: int(1/tail(s) + .5),
			Seen: reach(unrelated, s), Bulk: reach(bulk, s), Other: reach(other, s),
		})
	}
	c.show(w, http.StatusOK, "sigma", "/sigma", "What sigma means here", map[string]any{
		"Picture": sigmaPicture(unrelated, bulk, other, threshold, -1), "Levels": levels, "Threshold": threshold, "Copies": copies,
		"Unrelated": len(unrelated), "Judged": len(bulk) + len(other), "OneIn": int(1/tail(threshold) + .5),
	})
}

// reach counts the values that reach a sigma.
func reach(values []float64, sigma float64) (n int) {
	for _, v := range values {
		if v >= sigma {
			n++
		}
	}
	return n
}
