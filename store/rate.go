package store

import (
	"math"
	"time"
)

// rateSpan is what "of late" means: a copy counts in a campaign's heat with exp(-age / rateSpan), so that the heat of a
// steady campaign is its copies in that time. It is kept in memory alone; Open makes it of the messages in the file.
const rateSpan = 10 * time.Minute

// decay is what is left of a copy's heat after some seconds.
func decay(seconds int64) float64 { return math.Exp(-float64(seconds) / rateSpan.Seconds()) }

// heatAt is the heat at a time that is not before the last copy, Unix seconds.
func (c *cluster) heatAt(at int64) float32 { return c.heat * float32(decay(at-c.last)) }

// came notes that a copy came at a time, Unix seconds; the clock may have gone back since the last.
func (c *cluster) came(at int64) {
	last := max(c.last, at)
	c.heat, c.last = c.heatAt(last), last
	c.warm(at)
}

// warm adds the heat of a copy that came at a time, and is noted in last already.
func (c *cluster) warm(at int64) { c.heat += float32(decay(max(0, c.last-at))) }

// Rate is how many copies a minute a campaign has at a time, over about the last ten minutes.
func (c *Campaign) Rate(at time.Time) float64 {
	return c.Heat * decay(max(0, at.Unix()-c.Last.Unix())) / rateSpan.Minutes()
}
