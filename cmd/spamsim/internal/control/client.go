package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"spamsim/milter/filter"
	"spamsim/store"
)

// A Client is the Service of a daemon.
type Client struct {
	http http.Client
}

// maxAnswer bounds an answer, in octets: all campaigns of a large site, some 400 octets each.
const maxAnswer = 256 << 20

// patience is how long the daemon may take to begin an answer, that to forget a person of a large store too. One that hangs must
// not hang who asks it.
var patience = 2 * time.Minute

// Dial finds the daemon at a socket. The error wraps ErrUnavailable where none answers there.
func Dial(socket string) (*Client, error) {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		name, done, err := short(socket)
		if err != nil {
			return nil, err
		}
		defer done()
		d := net.Dialer{Timeout: 2 * time.Second}
		return d.DialContext(ctx, "unix", name)
	}
	probe, err := dial(context.Background(), "", "")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, fmt.Errorf("%w: none serves %s; \"spamsim serve\" starts one", ErrUnavailable, socket)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	probe.Close()
	t := &http.Transport{DialContext: dial, DisableCompression: true, ExpectContinueTimeout: 5 * time.Second, ResponseHeaderTimeout: patience}
	return &Client{http.Client{Transport: t}}, nil
}

// Close ends the connections to the daemon.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Check judges a message in the daemon.
func (c *Client) Check(ctx context.Context, raw []byte, ask Ask) (filter.Judgement, error) {
	return call[filter.Judgement](ctx, c, "POST", "/v1/check?"+ask.query(), raw)
}

// Explain says why the daemon judges a message as it does.
func (c *Client) Explain(ctx context.Context, raw []byte, ask Ask) (filter.Explanation, error) {
	return call[filter.Explanation](ctx, c, "POST", "/v1/explain?"+ask.query(), raw)
}

// Train learns a message in the daemon.
func (c *Client) Train(ctx context.Context, raw []byte, l filter.Label) (filter.Outcome, error) {
	return call[filter.Outcome](ctx, c, "POST", "/v1/train?label="+labels[l], raw)
}

// Forget takes a message back in the daemon.
func (c *Client) Forget(ctx context.Context, raw []byte) (filter.Outcome, error) {
	return call[filter.Outcome](ctx, c, "POST", "/v1/forget", raw)
}

// Sync waits until the daemon's store is on disk.
func (c *Client) Sync(ctx context.Context) error {
	_, err := call[struct{}](ctx, c, "POST", "/v1/sync", nil)
	return err
}

// Stats returns the daemon's counters.
func (c *Client) Stats(ctx context.Context) (Stats, error) {
	return call[Stats](ctx, c, "GET", "/v1/stats", nil)
}

// Settings returns the settings by which the daemon works.
func (c *Client) Settings(ctx context.Context) (map[string]string, error) {
	return call[map[string]string](ctx, c, "GET", "/v1/settings", nil)
}

// bigBody is from where on, in octets, the daemon is asked whether it will take a body before it is sent.
const bigBody = 1 << 20

// call sends one request and returns the answer.
func call[T any](ctx context.Context, c *Client, method, path string, body []byte) (out T, err error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://spamsim"+path, bytes.NewReader(body))
	if err != nil {
		return out, err
	}
	if len(body) > bigBody {
		req.Header.Set("Expect", "100-continue")
	}
	code, answer, err := c.send(req)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return out, fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
	case ctx.Err() != nil:
		return out, ctx.Err()
	case err != nil:
		return out, fmt.Errorf("%w: %w", ErrUnavailable, err)
	case code != http.StatusOK:
		return out, refusal(code, answer)
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		return out, fmt.Errorf("the daemon's answer cannot be read: %w", err)
	}
	return out, nil
}

// send returns the status and the body of the answer.
func (c *Client) send(req *http.Request) (int, []byte, error) {
	resp, err := c.http.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) { // its text repeats the address, which means nothing to people
			err = u.Err
		}
		return 0, nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return resp.StatusCode, answer, err
}

// refusal is the error of an answer that is none.
func refusal(code int, answer []byte) error {
	if code == http.StatusRequestEntityTooLarge {
		return ErrTooLarge
	}
	var f failure
	err := json.Unmarshal(answer, &f)
	if code == http.StatusNotFound && f.Error == store.ErrNoCluster.Error() {
		return store.ErrNoCluster
	}
	if err != nil || f.Error == "" {
		f.Error = http.StatusText(code)
	}
	if code == http.StatusServiceUnavailable {
		return fmt.Errorf("%w: %s", ErrNotNow, f.Error)
	}
	return fmt.Errorf("the daemon says: %s", f.Error)
}
