package console

import (
	"errors"
	"html/template"
	"io"
	"net/http"
	"strings"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/milter/filter"
)

// A whyBody is the body of the page that says why.
type whyBody struct {
	ID      string
	Known   []Entry // verdicts of that Message-ID
	Held    bool    // the text of it is still there, and what follows is of it
	Latest  []Entry // bulk, for a choice
	Limit   int64
	Most    int
	Explain *filter.Explanation
	Change  []string
	Picture template.HTML
}

// latestWhy is how many verdicts are offered, knownWhy how many of one Message-ID are shown.
const (
	latestWhy = 20
	knownWhy  = 10
)

func (c *console) newWhy() whyBody {
	return whyBody{
		Limit: c.Limit, Most: maxVerdicts,
		Latest: c.Recent.latest(latestWhy, func(e *Entry) bool { return e.Verdict.Kind == filter.Bulk }),
	}
}

// known tells what is known of a Message-ID.
func (c *console) known(w http.ResponseWriter, r *http.Request) {
	b := c.newWhy()
	b.ID = strings.TrimSpace(r.URL.Query().Get("id"))
	if c.Token == "" || b.ID == "" {
		c.show(w, http.StatusOK, "why", "/why", "Why was this flagged?", b)
		return
	}
	b.Known = c.Recent.find(b.ID, knownWhy)
	if k := c.Recent.message(b.ID); k != nil {
		ask := control.Ask{Sender: &k.envelope.Sender, Recipients: k.envelope.Recipients, Client: k.envelope.ClientAddr, Helo: k.envelope.Helo}
		if err := c.explained(r, &b, k.raw, ask); err != nil {
			c.failed(w, r, err)
			return
		}
		b.Held = true
	}
	code := http.StatusOK
	if len(b.Known) == 0 {
		code = http.StatusNotFound
	}
	c.show(w, code, "why", "/why", "Why was this flagged?", b)
}

// explain tells of a message that was pasted or sent as a file.
func (c *console) explain(w http.ResponseWriter, r *http.Request) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-r.Context().Done():
		return
	}
	raw, err := c.pasted(w, r)
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		c.failed(w, r, control.ErrTooLarge)
		return
	case err != nil:
		c.fail(w, r, http.StatusBadRequest, "The form cannot be read.")
		return
	case len(strings.TrimSpace(string(raw))) == 0:
		c.fail(w, r, http.StatusBadRequest, "There is no message in the form: paste one with its header, or choose its file.")
		return
	}
	b := c.newWhy()
	if err := c.explained(r, &b, raw, control.Ask{}); err != nil {
		c.failed(w, r, err)
		return
	}
	c.show(w, http.StatusOK, "why", "/why", "Why was this flagged?", b)
}

// formRoom is what a form has beside the message, in octets.
const formRoom = 64 << 10

// pasted is the message of a form: the file where one was chosen, else the text. It stays in memory.
func (c *console) pasted(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	r.Body = http.MaxBytesReader(w, r.Body, c.Limit+formRoom)
	parts, err := r.MultipartReader()
	if err != nil {
		return nil, err
	}
	var text []byte
	for {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return text, nil
		}
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(part)
		if err != nil {
			return nil, err
		}
		if part.FormName() == "file" && len(data) > 0 {
			return data, nil
		}
		if part.FormName() == "message" {
			text = data
		}
	}
}

// explained puts an explanation on the page.
func (c *console) explained(r *http.Request, b *whyBody, raw []byte, ask control.Ask) error {
	e, err := c.svc.Explain(r.Context(), raw, ask)
	if err != nil {
		return err
	}
	b.Explain, b.Change = &e, c.Change(&e)
	if e.Verdict.Judged {
		bulk, other := c.Recent.sigmas()
		b.Picture = sigmaPicture(c.Unrelated(), bulk, other, e.Threshold, e.Verdict.Sigma)
	}
	return nil
}
