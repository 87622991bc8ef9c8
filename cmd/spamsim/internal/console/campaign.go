package console

import (
	"cmp"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"time"

	"spamsim/milter/filter"
	"spamsim/store"
)

// sortedKeys are the keys of a map in their order.
func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// A campaignBody is the body of one campaign's page.
type campaignBody struct {
	store.Detail
	Asked    string // the id that was asked for
	Rate     float64
	Picture  template.HTML
	Template []span
	Compared []Entry // that the template is made of, the newest first
	Bulk     int     // copies from which on it is bulk
	Labels   []string
}

// labels are the words of a form.
var labels = map[string]filter.Label{"none": filter.None, "spam": filter.Spam, "ham": filter.Ham}

func (c *console) campaign(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	d, err := c.svc.Campaign(r.Context(), id)
	if err != nil {
		c.failed(w, r, err)
		return
	}
	_, bulk := c.Threshold()
	body := campaignBody{Detail: d, Asked: id, Rate: d.Rate(c.Now()), Picture: hoursPicture(d.Hours), Bulk: bulk, Labels: []string{"none", "spam", "ham"}}
	var copies [][]word
	for _, k := range c.Recent.ofCampaign(d.ID) {
		body.Compared = append(body.Compared, k.entry)
		copies = append(copies, textWords(k.raw))
	}
	body.Template = templateOf(copies)
	c.show(w, http.StatusOK, "campaign", "/campaigns", "Campaign "+d.ID, body)
}

// hourColumns is how many bars a timeline has at most.
const hourColumns = 168

// hoursPicture draws the copies of each hour, or of as many hours as make the bars few enough.
func hoursPicture(hours []store.Hour) template.HTML {
	if len(hours) == 0 {
		return ""
	}
	by := (len(hours) + hourColumns - 1) / hourColumns
	columns := make([]int, max(12, (len(hours)+by-1)/by)) // a young campaign is no single bar from edge to edge
	most := 0
	for i, h := range hours {
		columns[i/by] += h.Copies
		most = max(most, columns[i/by])
	}
	p := newPicture(chartWidth, chartHeight, "chart", "Copies by hour; the numbers are in the table below")
	s := scale{ceiling(most), chartHeight - chartBottom, chartTop}
	p.axis(s)
	wide := float64(chartWidth-chartLeft) / float64(len(columns))
	for i, n := range columns {
		if n > 0 {
			from := hours[0].Start.Add(time.Duration(i*by) * time.Hour)
			p.rect("k-bulk", chartLeft+float64(i)*wide+.5, s.at(n), wide-1, s.at(0)-s.at(n), fmt.Sprintf("from %s UTC: %d copies", day(from), n))
		}
	}
	p.clock(hours[0].Start, wide, time.Duration(by)*time.Hour, len(columns))
	return p.done()
}

// maxForm is how large a form without a message may be, in octets.
const maxForm = 16 << 10

// change carries out a change that a form asks for, has it written, and shows the page that the browser is sent to.
func (c *console) change(w http.ResponseWriter, r *http.Request, do func(id string) (then string, err error)) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		c.fail(w, r, http.StatusBadRequest, "The form cannot be read.")
		return
	}
	id := r.PathValue("id")
	then, err := do(id)
	if err == nil && then != "" {
		err = c.svc.Sync(r.Context())
	}
	switch {
	case err != nil:
		c.failed(w, r, err)
	case then != "":
		http.Redirect(w, r, then, http.StatusSeeOther)
	}
}

func (c *console) label(w http.ResponseWriter, r *http.Request) {
	c.change(w, r, func(id string) (string, error) {
		l, ok := labels[r.PostForm.Get("label")]
		if !ok {
			c.fail(w, r, http.StatusBadRequest, "A label is none, spam or ham.")
			return "", nil
		}
		name := r.PostForm.Get("name")
		done, err := c.svc.Label(r.Context(), id, l, &name)
		if err != nil {
			return "", err
		}
		c.Log.Info("the console labelled a campaign", "cluster", done.ID, "label", l.String(), "from", r.RemoteAddr)
		return "/campaigns/" + done.ID, nil
	})
}

func (c *console) drop(w http.ResponseWriter, r *http.Request) {
	c.change(w, r, func(id string) (string, error) {
		if r.PostForm.Get("sure") != "yes" {
			c.fail(w, r, http.StatusBadRequest, "Tick the box that says that you are sure.")
			return "", nil
		}
		n, err := c.svc.Drop(r.Context(), id)
		if err != nil {
			return "", err
		}
		c.Log.Info("the console dropped a campaign", "cluster", id, "messages", n, "from", r.RemoteAddr)
		return "/campaigns", nil
	})
}
