package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestGate: who is inside is waited for, who comes meanwhile waits, and is let in when the gate opens.
func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gate
		if g.enter(t.Context()) != nil || !g.try() {
			t.Fatal("it is not open")
		}
		shut, in := make(chan error, 1), make(chan error, 2)
		go func() { shut <- g.shut(t.Context()) }()
		synctest.Wait()
		for range cap(in) {
			go func() { in <- g.enter(t.Context()) }()
		}
		g.leave()
		synctest.Wait()
		if len(shut) != 0 || len(in) != 0 || g.try() {
			t.Error("one is still inside, and others came in or nobody waits")
		}
		g.leave()
		if err := <-shut; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if len(in) != 0 {
			t.Error("somebody came in")
		}
		g.open()
		for range cap(in) {
			if err := <-in; err != nil {
				t.Error(err)
			}
			g.leave()
		}
		if err := g.shut(t.Context()); err != nil {
			t.Error(err)
		}
		g.open()
	})
}

// TestGateGivesUp: one that cannot be shut in time is open as before, and who cannot wait longer goes away.
func TestGateGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g gate
		soon := func() context.Context {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			t.Cleanup(cancel)
			return ctx
		}
		_ = g.enter(t.Context())
		if err := g.shut(soon()); !errors.Is(err, context.DeadlineExceeded) || !g.try() {
			t.Errorf("shut with one inside: %v", err)
		}
		g.leave()
		g.leave()
		if err := g.shut(t.Context()); err != nil {
			t.Error(err)
		}
		if err := g.enter(soon()); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("came in: %v", err)
		}
		g.open()
		if g.inside != 0 {
			t.Errorf("%d inside", g.inside)
		}
	})
}
