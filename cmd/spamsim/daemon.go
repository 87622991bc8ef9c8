package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/control"
	"spamsim/milter"
	"spamsim/milter/dccifd"
	"spamsim/milter/smtpproxy"
	"spamsim/store"
)

// A door takes mail: the SMTP proxy, the milter, the socket for scanners; the control socket is served as one.
type door interface {
	Serve(l net.Listener) error
	Shutdown(ctx context.Context) error
	Close() error
}

// A daemon is everything that serve runs.
type daemon struct {
	log     *slog.Logger
	store   *store.Store
	doors   []door
	control door
	smtp    []net.Addr // where SMTP is taken, and LMTP behind it
	failed  chan error // of the first part that fails
	running sync.WaitGroup
}

// startDaemon opens the store and every listener, and then begins to serve.
func startDaemon(conf *config.Loaded, log *slog.Logger) (_ *daemon, err error) {
	if err := os.MkdirAll(filepath.Dir(conf.Store.Path), 0o750); err != nil {
		return nil, err
	}
	d := &daemon{log: log, failed: make(chan error, 1)}
	d.store, err = store.Open(conf.Store.Path, store.Options{
		Window:  conf.Store.Window.Duration,
		OnError: func(err error) { log.Error("the store cannot be written; mail is judged on", "err", err) },
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.stop(time.Second))
		}
	}()
	local := localService(conf, d.store)
	judge := &judging{id: conf.ID, filter: local.Filter, log: log, began: time.Now(), acts: configuredActions(conf), would: observed(conf), compat: conf.CompatibilityFields}
	openings, err := openDoors(conf, judge, log)
	if err != nil {
		return nil, err
	}
	about := local.About
	local.About = func() control.Stats {
		s := judge.stats(about())
		s.Doors = counters(openings)
		return s
	}
	return d, d.open(conf, openings, local)
}

// open listens everywhere and begins to serve; the control socket comes last, since who finds it may use it.
func (d *daemon) open(conf *config.Loaded, openings []opening, local *control.Local) error {
	for _, o := range openings {
		d.doors = append(d.doors, o.door)
		for _, addr := range o.addresses {
			l, err := listen(addr)
			if err != nil {
				return fmt.Errorf("%s: %w", o.name, err)
			}
			if o.name == "smtp" || o.name == "lmtp" {
				d.smtp = append(d.smtp, l.Addr())
			}
			d.log.Info("listening", "door", o.name, "addr", l.Addr().String())
			d.serve(o.name, o.door, l)
		}
	}
	socket := control.SocketOf(conf.Store.Path)
	l, err := control.Listen(socket)
	if err != nil {
		return err
	}
	d.control = control.NewServer(local, int64(conf.Limits.MaxJudgedSize), d.log)
	d.serve("control", d.control, l)
	d.log.Info("serving", "id", conf.ID, "mode", conf.Mode, "next_hop", conf.SMTP.NextHop, "store", conf.Store.Path,
		"control", socket, "threshold", conf.Bulk.Threshold, "count", conf.Bulk.Count, "window", conf.Store.Window.String(),
		"config", conf.File)
	return nil
}

// serve serves a listener until the door is shut.
func (d *daemon) serve(name string, door door, l net.Listener) {
	d.running.Go(func() {
		err := door.Serve(l)
		if err == nil || errors.Is(err, smtpproxy.ErrServerClosed) || errors.Is(err, milter.ErrServerClosed) || errors.Is(err, dccifd.ErrServerClosed) {
			return
		}
		select {
		case d.failed <- fmt.Errorf("%s: %w", name, err):
		default: // one is enough to stop
		}
	})
}

// listen listens on an address. A Unix socket is for its owner and group; one that is left over is replaced if nobody
// answers there.
func listen(a config.Address) (net.Listener, error) {
	if a.Network == "unix" {
		if c, err := net.DialTimeout("unix", a.Addr, time.Second); err == nil {
			c.Close()
			return nil, fmt.Errorf("somebody serves %s already", a)
		}
		return control.Listen(a.Addr)
	}
	return net.Listen(a.Network, a.Addr)
}

// stop shuts the doors, waits for what is under way, cuts what is not done in time, and closes the store.
func (d *daemon) stop(within time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	doors := d.doors
	if d.control != nil {
		doors = append(doors, d.control)
	}
	var wait sync.WaitGroup
	errs := make([]error, len(doors))
	for i, door := range doors {
		wait.Go(func() {
			if err := door.Shutdown(ctx); err != nil {
				d.log.Warn("cutting what did not end in time", "err", err)
				errs[i] = door.Close()
			}
		})
	}
	wait.Wait()
	d.running.Wait()
	return errors.Join(append(errs, d.store.Close())...)
}
