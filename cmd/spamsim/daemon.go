package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/control"
	"spamsim/cmd/spamsim/internal/metrics"
	"spamsim/milter"
	"spamsim/milter/dccifd"
	"spamsim/milter/filter"
	"spamsim/milter/smtpproxy"
	"spamsim/store"
	"spamsim/store/replica"
)

// A door takes mail: the SMTP proxy, the milter, the socket for scanners; the control socket and the server for those who
// watch are served as one.
type door interface {
	Serve(l net.Listener) error
	Shutdown(ctx context.Context) error
	Close() error
}

// A daemon is everything that serve runs.
type daemon struct {
	log     *slog.Logger
	level   *slog.LevelVar // of what log writes
	clock   *clock
	conf    atomic.Pointer[config.Loaded] // in effect
	store   *store.Store
	peers   atomic.Pointer[replica.Replica] // nil where there are none
	judge   *judging
	local   *control.Local // the service over store and judge
	service *relay         // that, or the successor's
	tls     *certificate   // nil where TLS is not offered
	metrics *metrics.Metrics
	state   atomic.Int32
	doors   []door
	control door
	web     door       // for those who watch, nil where nobody does
	spots   []spot     // where all of them listen
	smtp    []net.Addr // where SMTP is taken, and LMTP behind it
	watched []net.Addr // where those who watch ask
	failed  chan error // of the first part that fails
	running sync.WaitGroup
}

// compactEvery is how often it is looked whether most of the store's file is free.
const compactEvery = time.Hour

// The states of a daemon.
const (
	starting = iota
	taking   // mail
	stopping
	retiring // a successor takes it
)

// ready says why no mail is taken, nil where it is.
func (d *daemon) ready() error {
	switch d.state.Load() {
	case starting:
		return errors.New("starting")
	case stopping, retiring:
		return errors.New("stopping")
	}
	return nil
}

// startDaemon opens the store and every listener, and then begins to serve.
func startDaemon(conf *config.Loaded, log *slog.Logger) (*daemon, error) {
	return startOn(nil, conf, log)
}

// startOn is startDaemon with the sockets that the service manager opened, by the names of the doors.
func startOn(passed map[string][]net.Listener, conf *config.Loaded, log *slog.Logger) (*daemon, error) {
	return begin(&sockets{passed: passed}, conf, log)
}

// begin is startDaemon with sockets that others opened. What they did not open is listened on first of all: who comes while the
// store is read, which takes seconds after a crash, waits for his greeting and is not refused.
func begin(at *sockets, conf *config.Loaded, log *slog.Logger) (_ *daemon, err error) {
	if err := makeStoreFolder(conf); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			at.close()
		}
	}()
	if err := at.listen(conf); err != nil {
		if c, noDaemon := control.Dial(control.SocketOf(conf.Store.Path)); noDaemon == nil {
			c.Close()
			err = fmt.Errorf("%s: %w: %w", conf.Store.Path, store.ErrInUse, err)
		}
		return nil, err
	}
	d := &daemon{log: log, level: new(slog.LevelVar), clock: newClock(log), failed: make(chan error, 1)}
	d.conf.Store(conf)
	if err := d.takeStore(conf); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.stop(time.Second))
		}
	}()
	if d.tls, err = readCertificate(conf.TLS, log); err != nil {
		return nil, err
	}
	d.local = d.judges()
	e := &entrance{conf: conf, judge: d.judge, tls: clientTLS(d.tls), sockets: at, log: log}
	openings, err := e.open()
	if err != nil {
		return nil, err
	}
	about := d.local.About
	d.local.About = func() control.Stats {
		s := d.judge.stats(about())
		s.Doors = counters(openings)
		s.Peers = d.standing()
		return s
	}
	return d, d.open(openings, e)
}

// takeStore opens the daemon's store, and shares it where there are peers.
func (d *daemon) takeStore(conf *config.Loaded) error {
	key, err := siteKey(conf)
	if err != nil {
		return err
	}
	s, err := store.Open(conf.Store.Path, store.Options{
		Key:    key,
		Window: conf.Store.Window.Duration,
		Limit:  conf.Store.Clusters,
		Now:    d.clock.now,
		OnDamage: func(aside string, err error) {
			d.log.Error("the store is damaged and set aside; mail is judged with an empty one", "aside", aside, "err", err)
		},
		CompactEvery: compactEvery,
		OnCompact:    func(c store.Compacted) { d.log.Info("the store was compacted", "before", c.Before, "after", c.After) },
		OnError:      func(err error) { d.log.Error("trouble with the store; mail is judged on", "err", err) },
	})
	if err != nil {
		return err
	}
	peers, err := joinPeers(conf, s, key, d.log)
	if err != nil {
		return errors.Join(err, s.Close())
	}
	d.store = s
	d.peers.Store(peers)
	return nil
}

// closeStore closes it, if it is open.
func (d *daemon) closeStore() error {
	if peers := d.peers.Swap(nil); peers != nil {
		peers.Close()
	}
	if d.store == nil {
		return nil
	}
	return d.store.Close()
}

// judges makes the judging and the metrics, and returns the service over both.
func (d *daemon) judges() *control.Local {
	conf := d.conf.Load()
	local := localService(conf, d.store)
	d.service = &relay{now: local, upgrades: make(chan upgradeRequest), ended: make(chan struct{})}
	d.metrics = metrics.New(d.service.Stats)
	d.judge = newJudging(conf, local.Filter(), d.metrics.Judged, d.clock, d.log)
	d.service.judge, local.Now = d.judge, d.judge.clock.now
	local.Filter = func() *filter.Filter { return d.judge.rules.Load().filter }
	local.Config = func() (map[string]string, error) { return d.conf.Load().Values() }
	return local
}

// open listens everywhere and begins to serve; the control socket comes last, since who finds it may use it.
func (d *daemon) open(openings []opening, e *entrance) error {
	if err := d.openWeb(e); err != nil {
		return err
	}
	for _, o := range openings {
		d.doors = append(d.doors, o.door)
		addrs, err := d.listen(o)
		if err != nil {
			return err
		}
		if o.name == "smtp" || o.name == "lmtp" {
			d.smtp = append(d.smtp, addrs...)
		}
	}
	conf := e.conf
	socket := control.SocketOf(conf.Store.Path)
	d.control = control.NewServer(d.service, int64(conf.Limits.MaxJudgedSize), d.log)
	at := place{"control", nil, []config.Address{{Network: "unix", Addr: socket}}, e.sockets}
	if _, err := d.listen(opening{name: at.door, door: d.control, place: at}); err != nil {
		return err
	}
	d.state.Store(taking)
	d.log.Info("serving", "id", conf.ID, "mode", conf.Mode, "next_hop", conf.SMTP.NextHop, "store", conf.Store.Path,
		"control", socket, "threshold", conf.Bulk.Threshold, "count", conf.Bulk.Count, "window", conf.Store.Window.String(),
		"config", conf.File)
	return nil
}

// listen serves a door in its place and returns the addresses.
func (d *daemon) listen(o opening) ([]net.Addr, error) {
	spots, err := o.open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.name, err)
	}
	var served []net.Listener
	for _, s := range spots {
		l := s.Listener
		if o.guard != nil {
			if l, err = o.guard(l); err != nil {
				closeAll(spots)
				return nil, fmt.Errorf("%s: %w", o.name, err)
			}
		}
		served = append(served, l)
	}
	d.spots = append(d.spots, spots...)
	var out []net.Addr
	for _, l := range served {
		out = append(out, l.Addr())
		if o.door != d.control {
			d.log.Info("listening", "door", o.name, "addr", l.Addr().String())
		}
		d.serve(o.name, o.door, l)
	}
	return out, nil
}

// serve serves a listener until the door is shut.
func (d *daemon) serve(name string, door door, l net.Listener) {
	d.running.Go(func() {
		err := door.Serve(l)
		if err == nil || errors.Is(err, smtpproxy.ErrServerClosed) || errors.Is(err, milter.ErrServerClosed) || errors.Is(err, dccifd.ErrServerClosed) ||
			errors.Is(err, http.ErrServerClosed) || d.state.Load() == retiring && errors.Is(err, net.ErrClosed) {
			return
		}
		select {
		case d.failed <- fmt.Errorf("%s: %w", name, err):
		default: // one is enough to stop
		}
	})
}

// stop shuts the doors, waits for what is under way, cuts what is not done in time, and closes the store. Those who watch are
// told of it until the doors are shut.
func (d *daemon) stop(within time.Duration) error {
	d.state.Store(stopping)
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	doors := d.doors
	if d.control != nil {
		doors = append(doors, d.control)
	}
	err := d.shut(ctx, doors)
	if d.web != nil {
		err = errors.Join(err, d.shut(ctx, []door{d.web}))
	}
	d.running.Wait()
	return errors.Join(err, d.closeStore())
}

// shut shuts doors, all at the same time.
func (d *daemon) shut(ctx context.Context, doors []door) error {
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
	return errors.Join(errs...)
}

// watchers is the server for those who watch: what it answers is small, and who is slow is cut.
func watchers(h http.Handler, log *slog.Logger) door {
	return &http.Server{
		Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute,
		MaxHeaderBytes: 16 << 10, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}
