package main

import (
	"time"

	"spamsim/store"
)

// A campaignLine is a campaign as JSON.
type campaignLine struct {
	Cluster    string    `json:"cluster"`
	Name       string    `json:"name"`
	Label      string    `json:"label"`
	Copies     int       `json:"copies"`
	Rate       float64   `json:"rate"` // copies a minute, over about the last ten
	Senders    int       `json:"senders"`
	Nets       int       `json:"nets"`
	Recipients int       `json:"recipients"`
	First      time.Time `json:"first"`
	Last       time.Time `json:"last"`
	Subject    string    `json:"subject"`
}

func newCampaignLine(c *store.Campaign, at time.Time) campaignLine {
	return campaignLine{c.ID, c.Name, c.Label.String(), c.Copies, round(c.Rate(at)), c.Senders.N, c.Nets.N, c.Rcpts.N, c.First.UTC(), c.Last.UTC(), c.Sample}
}

// campaignLines prints campaigns, one JSON line each.
func (a *app) campaignLines(list []store.Campaign) error {
	for i := range list {
		if err := a.json(newCampaignLine(&list[i], time.Now())); err != nil {
			return err
		}
	}
	return nil
}

// A detailLine is what campaigns show --json prints.
type detailLine struct {
	campaignLine
	BySender []int      `json:"by_sender"` // copies, most first
	ByNet    []int      `json:"by_net"`
	Features int        `json:"features"`
	Constant int        `json:"constant"` // of those, in nine of ten copies
	Hours    []hourLine `json:"hours"`
}

type hourLine struct {
	Start  time.Time `json:"start"`
	Copies int       `json:"copies"`
}

// newDetailLine is a campaign with all that is known of it as JSON; no list is null.
func newDetailLine(d *store.Detail, at time.Time) detailLine {
	l := detailLine{newCampaignLine(&d.Campaign, at), append([]int{}, d.BySender...), append([]int{}, d.ByNet...), d.Features, d.Constant, []hourLine{}}
	for _, h := range d.Hours {
		l.Hours = append(l.Hours, hourLine{h.Start.UTC(), h.Copies})
	}
	return l
}
