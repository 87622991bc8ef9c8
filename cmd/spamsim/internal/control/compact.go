package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"spamsim/store"
)

// A Compaction is a line of the answer to /v1/compact. The last one has Result or Error.
type Compaction struct {
	Done   int64            `json:"done"` // octets of records that were copied
	Of     int64            `json:"of"`   // about how many there are
	Result *store.Compacted `json:"result,omitempty"`
	Error  string           `json:"error,omitempty"`
	NotNow bool             `json:"not_now,omitempty"` // the error may pass
}

// Compact makes the store's file as small as what it holds.
func (l *Local) Compact(ctx context.Context, tell func(done, of int64)) (store.Compacted, error) {
	return l.Store.Compact(ctx, tell)
}

// errCut is an answer that ends before it says how the compaction ended.
var errCut = errors.New("the answer is cut; the store is sound, and as it was or compacted")

// Compact lets the daemon compact its store. Where ctx ends, so does the compaction.
func (c *Client) Compact(ctx context.Context, tell func(done, of int64)) (out store.Compacted, err error) {
	req, err := http.NewRequestWithContext(ctx, "POST", "http://spamsim/v1/compact", nil)
	if err != nil {
		return out, err
	}
	resp, err := c.http.Do(req)
	if ctx.Err() != nil {
		return out, ctx.Err()
	}
	if err != nil {
		return out, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK { // a daemon that cannot do it yet
		return out, refusal(resp.StatusCode, nil)
	}
	for d := json.NewDecoder(resp.Body); ; {
		var line Compaction
		err := d.Decode(&line)
		switch {
		case ctx.Err() != nil:
			return out, ctx.Err()
		case err != nil:
			return out, fmt.Errorf("%w: %w", errCut, err)
		case line.NotNow:
			return out, fmt.Errorf("%w: %s", ErrNotNow, line.Error)
		case line.Error != "":
			return out, fmt.Errorf("the daemon says: %s", line.Error)
		case line.Result != nil:
			return *line.Result, nil
		}
		tell(line.Done, line.Of)
	}
}

// compact answers with how far it is, line by line, and with the end.
func (h *handler) compact(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	say, conn := json.NewEncoder(w), http.NewResponseController(w)
	_ = conn.SetReadDeadline(time.Time{}) // else the end of the time for the request would end its context; fails nowhere that matters
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(h.running, cancel)()
	var last Compaction
	tell := func(line Compaction) {
		last = line
		_ = errors.Join(say.Encode(line), conn.Flush()) // fails only where the client is gone, which ends the request's context
	}
	out, err := h.Compact(ctx, func(done, of int64) { tell(Compaction{Done: done, Of: of}) })
	if err != nil {
		tell(Compaction{Done: last.Done, Of: last.Of, Error: err.Error(), NotNow: Temporary(err)})
		return
	}
	tell(Compaction{Done: last.Of, Of: last.Of, Result: &out})
}
