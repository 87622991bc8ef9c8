package control

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"spamsim/milter/filter"
	"spamsim/store"
)

// Views are the words for what campaigns are looked at, and in which order.
var Views = map[string]store.View{"live": store.Live, "size": store.Biggest, "newest": store.Newest, "labelled": store.Labelled}

// viewLabels are the labels that people may set of a campaign.
var viewLabels = map[string]filter.Label{"none": filter.None, "spam": filter.Spam, "ham": filter.Ham}

// Campaigns lists campaigns.
func (l *Local) Campaigns(_ context.Context, v store.View, limit int) ([]store.Campaign, error) {
	return l.Store.Campaigns(v, limit), nil
}

// Campaign tells of one.
func (l *Local) Campaign(_ context.Context, id string) (store.Detail, error) {
	return l.Store.Campaign(id)
}

// Label sets what people say of one.
func (l *Local) Label(_ context.Context, id string, label filter.Label, name *string) (store.Campaign, error) {
	return l.Store.Label(id, label, name)
}

// Drop forgets one.
func (l *Local) Drop(_ context.Context, id string) (messages int, err error) {
	return l.Store.Drop(id)
}

// Campaigns lists the daemon's campaigns.
func (c *Client) Campaigns(ctx context.Context, v store.View, limit int) ([]store.Campaign, error) {
	q := url.Values{"limit": {strconv.Itoa(limit)}}
	for word, view := range Views {
		if view == v {
			q.Set("view", word)
		}
	}
	return call[[]store.Campaign](ctx, c, "GET", "/v1/campaigns?"+q.Encode(), nil)
}

// Campaign tells of one of the daemon's.
func (c *Client) Campaign(ctx context.Context, id string) (store.Detail, error) {
	return call[store.Detail](ctx, c, "GET", campaignPath(id), nil)
}

// Label sets what people say of one of the daemon's.
func (c *Client) Label(ctx context.Context, id string, l filter.Label, name *string) (store.Campaign, error) {
	q := url.Values{"label": {l.String()}}
	if name != nil {
		q.Set("name", *name)
	}
	return call[store.Campaign](ctx, c, "POST", campaignPath(id)+"/label?"+q.Encode(), nil)
}

// Drop forgets one of the daemon's.
func (c *Client) Drop(ctx context.Context, id string) (messages int, err error) {
	return call[int](ctx, c, "POST", campaignPath(id)+"/drop", nil)
}

func campaignPath(id string) string { return "/v1/campaigns/" + url.PathEscape(id) }

// campaignRoutes adds the calls about campaigns.
func (h *handler) campaignRoutes(m *http.ServeMux) {
	add := func(pattern string, do func(r *http.Request, id string) (any, error)) {
		m.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			v, err := do(r, r.PathValue("id"))
			answer(w, v, err)
		})
	}
	add("GET /v1/campaigns", h.campaigns)
	add("GET /v1/campaigns/{id}", func(r *http.Request, id string) (any, error) { return h.Campaign(r.Context(), id) })
	add("POST /v1/campaigns/{id}/label", h.label)
	add("POST /v1/campaigns/{id}/drop", func(r *http.Request, id string) (any, error) { return h.Drop(r.Context(), id) })
}

func (h *handler) campaigns(r *http.Request, _ string) (any, error) {
	q := r.URL.Query()
	v, ok := Views[q.Get("view")]
	limit, err := strconv.Atoi(q.Get("limit"))
	if !ok || err != nil || limit < 0 {
		return nil, errRequest{errors.New("view is live, size, newest or labelled, limit a number")}
	}
	return h.Campaigns(r.Context(), v, limit)
}

func (h *handler) label(r *http.Request, id string) (any, error) {
	q := r.URL.Query()
	l, ok := viewLabels[q.Get("label")]
	if !ok {
		return nil, errRequest{errors.New("label is spam, ham or none")}
	}
	var name *string
	if q.Has("name") {
		name = new(q.Get("name"))
	}
	return h.Label(r.Context(), id, l, name)
}
