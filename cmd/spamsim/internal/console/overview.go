package console

import (
	"html/template"
	"net/http"
	"time"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/milter/filter"
	"spamsim/store"
)

// A span of the overview: so many columns of some minutes each.
type overviewSpan struct {
	Word, Title   string
	columns, each int
}

var spans = []overviewSpan{{"day", "the last 24 hours", 144, 10}, {"hours", "the last 2 hours", 120, 1}}

// The list of live campaigns: how many, and the bars of each.
const (
	liveCampaigns = 12
	listCampaigns = 200
	lifeColumns   = 36
	lifeMinutes   = 10
	latestBulk    = 8
)

// A row is one campaign of a list.
type row struct {
	store.Campaign
	Rate float64 // copies a minute of late
	Life template.HTML
}

// rows are campaigns with what was seen of them in the last six hours.
func (c *console) rows(list []store.Campaign) []row {
	now, lives := c.Now(), c.Recent.lives(list, lifeColumns, lifeMinutes)
	out := make([]row, len(list))
	for i, x := range list {
		out[i] = row{x, x.Rate(now), spark(lives[x.ID])}
	}
	return out
}

// An overview is the body of the first page.
type overview struct {
	Ready    error
	Stats    control.Stats
	Judged   int64 // by this daemon
	Bulk     int64
	Spans    []overviewSpan
	Span     overviewSpan
	Picture  template.HTML
	Verdicts []verdictCount
	Hours    []column // the same by the hour, or by ten minutes
	Live     []row
	Latest   []Entry
	Kinds    any
}

// A verdictCount is how many messages of a span got a verdict.
type verdictCount struct {
	Word string
	N    int
}

func (c *console) overview(w http.ResponseWriter, r *http.Request) {
	stats, err := c.svc.Stats(r.Context())
	if err != nil {
		c.failed(w, r, err)
		return
	}
	live, err := c.svc.Campaigns(r.Context(), store.Live, liveCampaigns)
	if err != nil {
		c.failed(w, r, err)
		return
	}
	o := overview{Ready: c.Ready(), Stats: stats, Spans: spans, Span: spans[0], Live: c.rows(live), Kinds: kindWords}
	if r.URL.Query().Get("span") == spans[1].Word {
		o.Span = spans[1]
	}
	for _, m := range stats.Messages {
		o.Judged += m.N
		if m.Verdict == filter.Bulk.String() {
			o.Bulk += m.N
		}
	}
	columns := c.Recent.traffic(o.Span.columns, o.Span.each)
	o.Picture = trafficPicture(columns, time.Duration(o.Span.each)*time.Minute)
	o.Verdicts = totals(columns)
	o.Hours = c.Recent.traffic(o.Span.columns/tableRows(o.Span), o.Span.each*tableRows(o.Span))
	o.Latest = c.Recent.latest(latestBulk, func(e *Entry) bool { return e.Verdict.Kind == filter.Bulk })
	c.show(w, http.StatusOK, "overview", "/", "Overview", o)
}

// tableRows is how many columns of the picture are one row of its table: an hour, or ten minutes.
func tableRows(s overviewSpan) int {
	if s.each == 1 {
		return 10
	}
	return 6
}

// totals adds columns up.
func totals(columns []column) []verdictCount {
	var out []verdictCount
	for _, k := range kindWords {
		v := verdictCount{Word: k.Word}
		for i := range columns {
			v.N += columns[i].N[k.Kind]
		}
		out = append(out, v)
	}
	return out
}

// views are the lists of campaigns.
var views = []struct{ Word, Title string }{
	{"live", "Liveliest"}, {"size", "Biggest"}, {"newest", "Newest"}, {"labelled", "Labelled"},
}

func (c *console) campaigns(w http.ResponseWriter, r *http.Request) {
	word := r.URL.Query().Get("view")
	view, ok := control.Views[word]
	if !ok {
		word, view = "live", store.Live
	}
	list, err := c.svc.Campaigns(r.Context(), view, listCampaigns)
	if err != nil {
		c.failed(w, r, err)
		return
	}
	c.show(w, http.StatusOK, "campaigns", "/campaigns", "Campaigns", map[string]any{
		"Views": views, "View": word, "Rows": c.rows(list), "Most": listCampaigns,
	})
}
