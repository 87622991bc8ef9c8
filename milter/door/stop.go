package door

import (
	"context"
	"maps"
	"slices"
)

// Shutdown stops accepting, lets the sessions drain and waits until every one has ended by itself. When ctx is done first its
// error is returned; Close then cuts what is left.
func (s *Server) Shutdown(ctx context.Context) error {
	s.stop()
	return s.Retire(ctx)
}

// Retire waits until every client has hung up by itself: for a server whose listeners another one took over, once Serve has
// returned for each. When ctx is done first its error is returned; Shutdown may follow.
func (s *Server) Retire(ctx context.Context) error {
	done := make(chan struct{})
	go func() { // ends at the latest after Close, which the caller owes
		s.running.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close stops accepting, cuts every session and waits for them and for what Go began.
func (s *Server) Close() error {
	s.stop()
	s.cancel()
	s.mu.Lock()
	open := slices.Collect(maps.Values(s.sessions))
	s.mu.Unlock()
	for _, conn := range open { // without the lock: closing may take its time
		conn.Close()
	}
	s.running.Wait()
	return nil
}

// stop closes the listeners and lets the sessions drain.
func (s *Server) stop() {
	s.init()
	s.mu.Lock()
	s.stopped = true
	listeners, sessions := slices.Collect(maps.Keys(s.listeners)), slices.Collect(maps.Keys(s.sessions))
	s.mu.Unlock()
	for _, l := range listeners {
		l.Close()
	}
	for _, c := range sessions {
		c.Drain()
	}
}
