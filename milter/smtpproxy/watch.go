package smtpproxy

import (
	"bufio"
	"errors"
	"os"
	"sync"
	"time"
)

// watchAfter is how long a message is under way, after its final dot, before its client is watched. Most are done by
// then.
const watchAfter = 250 * time.Millisecond

// watch calls gone once the client's connection ends, until stop is called: whoever is gone will come back with the
// message. What the client sends meanwhile stays in the buffer.
func (c *client) watch(gone func()) (stop func()) {
	w := &watcher{client: c, gone: gone, done: make(chan struct{})}
	timer := time.AfterFunc(watchAfter, w.run)
	return func() {
		if timer.Stop() {
			return
		}
		w.mu.Lock()
		w.stopped = true
		_ = c.conn.SetReadDeadline(past)
		w.mu.Unlock()
		<-w.done
	}
}

// missed says whether the client is gone although nobody has called gone yet, for a message that is watched since its dot.
func (c *client) missed(dot time.Time) bool { return time.Since(dot) > watchAfter && left(c.conn) }

type watcher struct {
	client  *client
	gone    func()
	done    chan struct{}
	mu      sync.Mutex
	stopped bool
}

// run reads ahead until there is nothing to read any more.
func (w *watcher) run() {
	defer close(w.done)
	w.mu.Lock()
	if w.stopped {
		w.mu.Unlock()
		return
	}
	_ = w.client.conn.SetReadDeadline(time.Time{})
	w.mu.Unlock()
	r := w.client.r
	for {
		_, err := r.Peek(r.Buffered() + 1)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, bufio.ErrBufferFull):
			return
		case err != nil:
			w.gone()
			return
		}
	}
}
