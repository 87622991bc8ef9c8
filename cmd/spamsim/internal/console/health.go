package console

import (
	"net/http"

	"spamsim/cmd/spamsim/internal/control"
)

func (c *console) health(w http.ResponseWriter, r *http.Request) {
	stats, err := c.svc.Stats(r.Context())
	if err != nil {
		c.failed(w, r, err)
		return
	}
	c.show(w, http.StatusOK, "health", "/health", "Health", map[string]any{
		"Ready": c.Ready(), "Stats": stats, "Troubles": troubles(&stats),
	})
}

// troubling are the counters of doors that ought to stay at 0, with what they mean.
var troubling = map[string]string{
	"hop_failed": "transactions broke at the next hop", "no_memory": "messages were put off for want of memory (limits.memory)",
	"failed": "messages passed unjudged, since judging failed, took too long or was too busy", "limited": "connections were turned away because too many were open",
}

// A trouble is a counter that ought to be 0.
type trouble struct {
	Where, What string
	N           int64
}

// troubles are what went wrong since the daemon began.
func troubles(s *control.Stats) []trouble {
	var out []trouble
	if s.Held.Failures > 0 {
		out = append(out, trouble{"store", "writes went wrong, each tried again", s.Held.Failures})
	}
	for _, door := range sortedKeys(s.Doors) {
		for _, name := range sortedKeys(troubling) {
			if n := s.Doors[door][name]; n > 0 {
				out = append(out, trouble{door, troubling[name], n})
			}
		}
	}
	return out
}
