package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"spamsim/milter/filter"
)

// A Daemon is a Service that has doors.
type Daemon interface {
	Service
	// Judge judges a message that came by a door, with what is to be done with it.
	Judge(ctx context.Context, env *filter.Envelope, raw []byte, count bool) (filter.Judgement, error)
	// Upgrade has a successor take over, and returns once that takes mail. Where it cannot, all stays as it was.
	Upgrade(ctx context.Context) (Upgraded, error)
	// Handled takes note of what was done with a message in the quarantine, which is not done by the daemon.
	Handled(ctx context.Context, h Handled) error
}

// Handled says what was done with a message in the quarantine.
type Handled struct {
	What      string `json:"what"` // released or deleted
	Name      string `json:"name"` // in the quarantine
	Sender    string `json:"sender"`
	Done      int    `json:"done"` // recipients that it was released to
	Left      int    `json:"left"` // those that it stays for
	ID        string `json:"id"`   // queue id
	MessageID string `json:"message_id"`
}

// Upgraded says who takes mail now.
type Upgraded struct {
	Version string `json:"version"` // of the new program
	Process int    `json:"process"`
	Before  string `json:"before"` // the version of the one that answers this
}

// maxEnvelope bounds an envelope in octets: 10,000 recipients of 254 octets.
const maxEnvelope = 4 << 20

// errEnvelope is a body that does not begin with an envelope.
var errEnvelope = errors.New("the first line is no envelope")

// Judge has the daemon judge a message as one of its doors would.
func (c *Client) Judge(ctx context.Context, env *filter.Envelope, raw []byte, count bool) (filter.Judgement, error) {
	line, err := json.Marshal(env)
	if err != nil {
		return filter.Judgement{}, err
	}
	q := url.Values{"count": {strconv.FormatBool(count)}}
	return call[filter.Judgement](ctx, c, "POST", "/v1/judge?"+q.Encode(), bytes.Join([][]byte{line, raw}, []byte("\n")))
}

// Upgrade has the daemon replaced by its successor.
func (c *Client) Upgrade(ctx context.Context) (Upgraded, error) {
	t := c.http.Transport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout = 0 // the successor may have much to read
	waiting := &Client{http.Client{Transport: t}}
	defer waiting.Close()
	return call[Upgraded](ctx, waiting, "POST", "/v1/upgrade", nil)
}

// Handled has the daemon take note.
func (c *Client) Handled(ctx context.Context, h Handled) error {
	body, err := json.Marshal(h)
	if err == nil {
		_, err = call[struct{}](ctx, c, "POST", "/v1/handled", body)
	}
	return err
}

// daemonRoutes adds the calls that need doors.
func (h *handler) daemonRoutes(m *http.ServeMux, d Daemon) {
	m.HandleFunc("POST /v1/judge", h.body(h.limit+maxEnvelope, func(r *http.Request, body []byte) (any, error) {
		count, err := strconv.ParseBool(r.URL.Query().Get("count"))
		if err != nil {
			return nil, errRequest{errors.New("count is true or false")}
		}
		line, raw, ok := bytes.Cut(body, []byte("\n"))
		var env filter.Envelope
		if !ok || json.Unmarshal(line, &env) != nil {
			return nil, errRequest{errEnvelope}
		}
		return d.Judge(r.Context(), &env, raw, count)
	}))
	m.HandleFunc("POST /v1/handled", h.body(maxEnvelope, func(r *http.Request, body []byte) (any, error) {
		var is Handled
		if json.Unmarshal(body, &is) != nil || is.What != "released" && is.What != "deleted" {
			return nil, errRequest{errors.New("what is released or deleted")}
		}
		return struct{}{}, d.Handled(r.Context(), is)
	}))
	m.HandleFunc("POST /v1/upgrade", func(w http.ResponseWriter, r *http.Request) {
		done, err := d.Upgrade(r.Context())
		answer(w, done, err)
	})
}
