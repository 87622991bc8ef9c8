package control

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"spamsim/store"
)

func (r *record) Compact(ctx context.Context, tell func(done, of int64)) (store.Compacted, error) {
	tell(1, 3)
	if r.block != nil {
		select {
		case <-r.block:
		case <-ctx.Done():
			r.stopped <- struct{}{}
			return store.Compacted{}, ctx.Err()
		}
	}
	tell(3, 3)
	return store.Compacted{Before: 8, After: 5}, r.note("compact")
}

// TestCompact: how far it is comes through the socket, and how it ended.
func TestCompact(t *testing.T) {
	var told [][2]int64
	tell := func(done, of int64) { told = append(told, [2]int64{done, of}) }
	got, err := dial(t, serve(t, &record{}, 100)).Compact(t.Context(), tell)
	if err != nil || got != (store.Compacted{Before: 8, After: 5}) || !reflect.DeepEqual(told, [][2]int64{{1, 3}, {3, 3}}) {
		t.Errorf("%+v, %v, told of %v", got, err, told)
	}
	wrong := errors.New("the disk is on fire")
	if _, err := dial(t, serve(t, &record{err: wrong}, 100)).Compact(t.Context(), tell); err == nil || !strings.Contains(err.Error(), wrong.Error()) {
		t.Errorf("%v", err)
	}
}

// TestCompactInterrupted: who asked and goes away ends it, and so does the end of the daemon.
func TestCompactInterrupted(t *testing.T) {
	r := &record{block: make(chan struct{}), stopped: make(chan struct{}, 1)}
	c := dial(t, serve(t, r, 100))
	ctx, cancel := context.WithCancel(t.Context())
	if _, err := c.Compact(ctx, func(int64, int64) { cancel() }); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	<-r.stopped

	socket := filepath.Join(t.TempDir(), "x.sock")
	l, err := Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	server := NewServer(r, 100, slog.New(slog.DiscardHandler))
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	_, err = dial(t, socket).Compact(t.Context(), func(int64, int64) {
		go func() { served <- server.Shutdown(context.Background()) }()
	})
	if err == nil || !strings.Contains(err.Error(), context.Canceled.Error()) {
		t.Errorf("%v", err)
	}
	<-r.stopped
	if err := errors.Join(<-served, <-served); err != nil {
		t.Error(err)
	}
}
