package main

import (
	"fmt"
	"strings"

	"spamsim/cmd/spamsim/internal/control"
)

// judgedBy counts the messages that the daemon judged, and of those the bulk.
func judgedBy(s *control.Stats) (all, bulk int64) {
	for _, m := range s.Messages {
		all += m.N
		if m.Verdict == "bulk" {
			bulk += m.N
		}
	}
	return all, bulk
}

// traffic tells what came between two sightings, and where they are one, what came since the daemon began.
func traffic(before, now *sighting) string {
	all, bulk := judgedBy(&now.stats)
	seconds := now.at.Sub(before.at).Seconds()
	if before == now {
		if now.stats.Since == nil {
			return "no daemon is running"
		}
		seconds = now.at.Sub(*now.stats.Since).Seconds()
	} else {
		all0, bulk0 := judgedBy(&before.stats)
		all, bulk = max(0, all-all0), max(0, bulk-bulk0) // another daemon may have begun
	}
	out := fmt.Sprintf("%.1f a second", float64(all)/max(seconds, 1e-3))
	if all > 0 {
		out += ", " + part(int(bulk), int(all)) + " bulk"
	}
	return out
}

// frame is what top shows on a terminal: the traffic since the sighting before, and the campaigns.
func frame(before, now *sighting) []string {
	st := &now.stats
	var lines []string
	if st.Since != nil {
		all, bulk := judgedBy(st)
		when := "now"
		if before == now {
			when = "on average"
		}
		lines = append(lines, fmt.Sprintf("%d messages since the daemon began at %s UTC, %d bulk; %s %s", all, day(*st.Since), bulk, when, traffic(before, now)))
	} else {
		lines = append(lines, traffic(before, now))
	}
	lines = append(lines, fmt.Sprintf("%d clusters, %d campaigns; %s UTC", st.Held.Clusters, st.Held.Campaigns, now.at.UTC().Format("2006-01-02 15:04:05")), "")
	return append(lines, strings.Split(strings.TrimSuffix(campaignTable(now.campaigns, now.at), "\n"), "\n")...)
}

// topLine writes what top sees as a line, where there is no terminal: the traffic and the three liveliest campaigns.
func (a *app) topLine(before, now *sighting) error {
	const liveliest = 3
	line := now.at.UTC().Format("2006-01-02T15:04:05Z") + " " + traffic(before, now)
	for i := range now.campaigns[:min(liveliest, len(now.campaigns))] {
		c := &now.campaigns[i]
		line += fmt.Sprintf("; %s %.1f a minute, %d copies", c.ID, c.Rate(now.at), c.Copies)
	}
	return a.printf("%s\n", line)
}
