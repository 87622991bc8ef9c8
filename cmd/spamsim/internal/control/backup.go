package control

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

// Backup writes the store's file as it is now to w, until ctx is done.
func (l *Local) Backup(ctx context.Context, w io.Writer) (octets int64, err error) {
	return l.Store.Backup(until{ctx, w})
}

// An until is a writer that ends with its context.
type until struct {
	ctx context.Context
	io.Writer
}

func (u until) Write(p []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.Writer.Write(p)
}

// Backup writes the file of the daemon's store as it is now to w.
func (c *Client) Backup(ctx context.Context, w io.Writer) (octets int64, err error) {
	req, err := http.NewRequestWithContext(ctx, "GET", "http://spamsim/v1/backup", nil)
	if err != nil {
		return 0, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		answer, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
		return 0, refusal(resp.StatusCode, answer)
	}
	if octets, err = io.Copy(w, resp.Body); err != nil {
		return octets, fmt.Errorf("the backup is cut: %w", err)
	}
	return octets, nil
}

// backup answers with the file. Where it cannot go on it cuts the connection, so that nobody takes a part for the whole.
func (h *handler) backup(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/octet-stream")
	to := &patient{w, http.NewResponseController(w)}
	defer to.SetWriteDeadline(time.Time{}) // the connection is kept
	octets, err := h.Backup(r.Context(), to)
	switch {
	case err != nil && octets > 0:
		panic(http.ErrAbortHandler)
	case err != nil:
		answer(w, nil, err)
	}
}

// A patient writer waits for whoever reads, but not for ever: while a backup is read the store reuses no page.
type patient struct {
	io.Writer
	*http.ResponseController
}

// stall is how long a reader may take for what is written at a time, some 32 KB.
var stall = 2 * time.Minute

func (p *patient) Write(b []byte) (int, error) {
	if err := p.SetWriteDeadline(time.Now().Add(stall)); err != nil {
		return 0, err
	}
	return p.Writer.Write(b)
}
