package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/cmd/spamsim/internal/handover"
	"spamsim/milter/filter"
	"spamsim/store"
)

func newUpgrade(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "upgrade",
		Short: "Replace the running daemon by the program that is installed now",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			conf, err := a.load()
			if err != nil {
				return err
			}
			c, err := control.Dial(control.SocketOf(conf.Store.Path))
			if err != nil {
				return err
			}
			defer c.Close()
			done, err := c.Upgrade(cmd.Context())
			if err != nil {
				return err
			}
			return a.printf("process %d of version %s takes mail now; the one of version %s ends when its last messages are through\n",
				done.Process, done.Version, done.Before)
		},
	}
	a.storeFlag(c)
	return c
}

// An upgradeRequest is where the answer to one goes.
type upgradeRequest chan upgradeReply

type upgradeReply struct {
	control.Upgraded
	err error
}

// newReply says what became of an upgrade; lost is that the store is, with which the daemon ends, as it does once ctx is done.
func newReply(ctx context.Context, done control.Upgraded, lost bool, err error) upgradeReply {
	switch {
	case err == nil:
	case ctx.Err() != nil: // nor does who asked hear of a context that is done
		err = errEnding
	case lost:
		err = fmt.Errorf("%w: %w", errEnding, err)
	default:
		err = fmt.Errorf("%w; the daemon before goes on", err)
	}
	return upgradeReply{done, err}
}

// Bounds of a handover.
const (
	readyTime = time.Minute      // until the new program has read its configuration
	quietTime = 10 * time.Second // until commands, such as a backup, and messages that are judged are done
	takeTime  = time.Minute      // until it has the store; mail waits meanwhile, no longer than for any judgement
	backTime  = time.Minute      // until the store is free again where it did not take it
)

// errNoSuccessor is a daemon that was not started as a program of its own.
var errNoSuccessor = errors.New("this daemon cannot start a successor")

// handOver starts a successor, gives it the store, and lets it take mail. What goes wrong before it serves leaves everything
// as it was; lost is true where not even that could be had.
func (d *daemon) handOver(ctx context.Context, start handover.Starter, m *manager) (heir *handover.Successor, done control.Upgraded, lost bool, err error) {
	if start == nil {
		return nil, done, false, errNoSuccessor
	}
	if heir, err = d.beget(start); err != nil {
		return nil, done, false, err
	}
	ready, err := hear(ctx, heir, handover.Ready, readyTime)
	if err == nil {
		err = d.letGo(ctx)
	}
	if err != nil {
		heir.End()
		return nil, done, false, err
	}
	client, err := giveStore(ctx, heir)
	if err != nil {
		heir.End()
		back := d.takeBack()
		return nil, done, back != nil, errors.Join(err, back)
	}
	d.resign(client)
	m.tell(m.MainPID(heir.Pid))
	if err := heir.Tell(handover.Note{Word: handover.Yours}); err != nil {
		d.log.Error("the successor does not hear", "err", err) // it finds out itself
	}
	return heir, control.Upgraded{Version: ready.Version, Process: heir.Pid, Before: version()}, false, nil
}

// beget starts the successor with copies of all listening sockets.
func (d *daemon) beget(start handover.Starter) (*handover.Successor, error) {
	var which []handover.Socket
	var files []*os.File
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	for _, s := range d.spots {
		f, err := handover.Copy(s.Listener.(syscall.Conn)) // as those of TCP and of Unix sockets are
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Door, err)
		}
		which, files = append(which, s.Socket), append(files, f)
	}
	return handover.Begin(start, which, files)
}

// hear waits for a word of the successor, but not for ever.
func hear(ctx context.Context, heir *handover.Successor, word string, within time.Duration) (handover.Note, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return heir.Hear(ctx, word)
}

// letGo closes the store. Messages that are to be judged wait from now on, and so do commands.
func (d *daemon) letGo(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, quietTime)
	defer cancel()
	if err := d.service.gate.shut(ctx); err != nil {
		return fmt.Errorf("a command holds the store: %w", err)
	}
	if err := d.judge.gate.shut(ctx); err != nil {
		d.service.gate.open()
		return fmt.Errorf("judging holds the store: %w", err)
	}
	if err := d.closeStore(); err != nil {
		d.log.Error("the store cannot be written; the successor starts without what is missing", "err", err)
	}
	d.store, d.local.Store = nil, nil
	d.judge.release(filter.New(nil, policy(d.conf.Load())))
	debug.FreeOSMemory() // the successor needs as much
	return nil
}

// giveStore lets the successor open the store, and returns the way to it.
func giveStore(ctx context.Context, heir *handover.Successor) (*control.Client, error) {
	if err := heir.Tell(handover.Note{Word: handover.Take}); err != nil {
		return nil, err
	}
	serving, err := hear(ctx, heir, handover.Serving, takeTime)
	if err != nil {
		return nil, err
	}
	return control.Dial(serving.Control)
}

// resign takes no more connections, and goes on with those that are there: who waits is judged by the successor. That comes
// last, lest this daemon should answer its own question at the control socket.
func (d *daemon) resign(successor *control.Client) {
	d.state.Store(retiring)
	for _, s := range d.spots {
		keep(s.Listener, true)
		s.Close()
	}
	d.judge.next, d.service.now = successor, successor
	d.judge.gate.open()
	d.service.gate.open()
}

// takeBack opens the store again. Mail passes unjudged where it cannot be had.
func (d *daemon) takeBack() error {
	defer d.judge.gate.open()
	conf := d.conf.Load()
	err := store.ErrInUse // as long as the other process lives
	for end := time.Now().Add(backTime); errors.Is(err, store.ErrInUse) && time.Now().Before(end); {
		err = d.takeStore(conf)
	}
	if err != nil {
		return fmt.Errorf("the store cannot be opened again: %w", err)
	}
	d.local.Store = d.store
	d.judge.regain(conf, filter.New(d.store, policy(conf)))
	d.service.gate.open()
	return nil
}

// keep says whether a socket's file stays when it is closed, if it has one.
func keep(l any, is bool) {
	if s, ok := l.(*control.Socket); ok {
		s.Keep(is)
	}
}

// A retiree is a door that can end without turning anybody away.
type retiree interface {
	Retire(ctx context.Context) error
}

// retire ends a daemon that has a successor, and its connections as their clients let it. What the successor was to judge and
// did not is told to it.
func (d *daemon) retire(heir *handover.Successor, within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	gently, stop := context.WithTimeout(ctx, within*3/4)
	defer stop()
	wait(gently, &d.running) // until who was accepted is a door's; one that has no place for more accepts nobody
	var ending sync.WaitGroup
	for _, door := range d.doors {
		if r, ok := door.(retiree); ok {
			ending.Go(func() { _ = r.Retire(gently) }) // what does not end in time is shut below
		}
	}
	ending.Wait()
	doors := append(d.doors, d.control)
	if d.web != nil {
		doors = append(doors, d.web)
	}
	err := d.shut(ctx, doors)
	d.running.Wait()
	d.judge.next.Close()
	left, handed := d.judge.leftovers()
	d.log.Info("retired", "judged_by_successor", handed, "unjudged", sum(left))
	_ = heir.Tell(handover.Note{Word: handover.Done, Unjudged: left}) // it may have ended by now
	return errors.Join(err, heir.Talk.Close())
}

// wait waits for all, or until ctx is done.
func wait(ctx context.Context, all *sync.WaitGroup) {
	done := make(chan struct{})
	go func() { // ends when they do, at the latest when the doors are shut
		defer close(done)
		all.Wait()
	}()
	select {
	case <-done:
	case <-ctx.Done():
	}
}
