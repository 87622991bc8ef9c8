package main

import (
	"context"
	"sync"
)

// A gate stands before what is replaced now and then: who is inside is waited for, and who comes while it is shut waits. The
// zero value is open.
type gate struct {
	mu     sync.Mutex
	inside int
	opens  chan struct{} // closed when the gate opens; nil while it is open
	empty  chan struct{} // closed when the last one leaves; nil where nobody waits for that
}

// enter goes in. Who does must leave. The error is that of ctx, where that is done first.
func (g *gate) enter(ctx context.Context) error {
	for {
		g.mu.Lock()
		opens := g.opens
		if opens == nil {
			g.inside++
		}
		g.mu.Unlock()
		if opens == nil {
			return nil
		}
		select {
		case <-opens:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// try is enter for those who do not want to wait.
func (g *gate) try() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opens != nil {
		return false
	}
	g.inside++
	return true
}

func (g *gate) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.inside--; g.inside == 0 && g.empty != nil {
		close(g.empty)
		g.empty = nil
	}
}

// shut lets nobody in any more, and returns once nobody is inside. Where ctx is done first the gate is open as before.
func (g *gate) shut(ctx context.Context) error {
	g.mu.Lock()
	g.opens = make(chan struct{})
	var empty chan struct{}
	if g.inside > 0 {
		empty = make(chan struct{})
		g.empty = empty
	}
	g.mu.Unlock()
	if empty == nil {
		return nil
	}
	select {
	case <-empty:
		return nil
	case <-ctx.Done():
		g.open()
		return ctx.Err()
	}
}

// open lets those in who wait.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.opens)
	g.opens, g.empty = nil, nil
}
