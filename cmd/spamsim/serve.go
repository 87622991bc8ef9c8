package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/handover"
	"spamsim/cmd/spamsim/internal/systemd"
)

func newServe(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the filter",
		Long: `Runs the daemon: an SMTP proxy, and a milter and a socket for scanners where the configuration names addresses
for them. Without any configuration mail is taken on 127.0.0.1:10025 and lies, judged, in a maildir of the state directory.

SIGTERM ends it gracefully: no new mail is taken, what is under way is finished within limits.stop_time, and the
store is closed last. A second signal ends it at once.

SIGHUP makes it read its configuration again, without losing a connection: "spamsim config diff" says what that changes.
"spamsim upgrade" replaces it by the program that is installed now.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.host()
			if err != nil || handover.IsKeeper(a.env.Getenv) {
				return errors.Join(err, h.program.Serve())
			}
			if h.from, err = handover.Receive(a.env.Getenv); err != nil {
				return err
			}
			conf, err := a.load()
			if err == nil {
				err = serve(cmd.Context(), h, conf, a.stderr)
			}
			return h.from.Finish(err)
		},
	}
	a.storeFlag(c)
	return c
}

// A host is what a daemon runs under.
type host struct {
	getenv  func(string) string // tells of the service manager, if there is one
	pid     int
	read    func() (*config.Loaded, error) // the configuration of now
	reload  chan os.Signal                 // says when to take it up
	program handover.Program               // what a successor runs; "" is none
	from    *handover.Predecessor          // nil where there is none
}

// host is that of this process.
func (a *app) host() (*host, error) {
	program, err := handover.Self()
	return &host{getenv: a.env.Getenv, pid: os.Getpid(), read: a.load, reload: make(chan os.Signal, 1), program: program}, err
}

// starter is what starts a successor, nil where nothing can. It is to be had before the daemon is confined.
func (h *host) starter(conf *config.Loaded, log *slog.Logger) handover.Starter {
	if h.program.Path == "" {
		return nil
	}
	if !conf.Sandbox {
		return h.program.Start
	}
	start, err := h.program.Keep()
	if err != nil {
		log.Warn("an upgrade needs a restart", "err", err)
		return nil
	}
	return start
}

// serve runs a daemon until ctx is done, until a successor has taken over, or until a part of it fails.
func serve(ctx context.Context, h *host, conf *config.Loaded, out io.Writer) error {
	signal.Notify(h.reload, syscall.SIGHUP) // from the start on: unheard it would end the process
	defer signal.Stop(h.reload)
	log, level := newLogger(conf.Log, out)
	slog.SetDefault(log) // for libraries that log by themselves
	start := h.starter(conf, log)
	confine(conf, log)
	at, err := h.sockets(ctx, conf, log)
	if err != nil {
		return err
	}
	d, err := begin(at, conf, log)
	if err != nil {
		return err
	}
	d.level = level
	if h.from != nil {
		if err := d.succeed(ctx, h.from, at); err != nil {
			return errors.Join(err, d.stop(time.Second))
		}
		defer d.mourn(ctx, h.from)()
	}
	m := &manager{systemd.NewNotifier(h.getenv, h.pid), log}
	lives := m.watch(d)
	m.tell(m.Ready())
	heir, err := d.wait(ctx, h, start, m)
	close(d.service.ended)
	begun, within := time.Now(), d.conf.Load().Limits.StopTime.Duration
	if heir != nil {
		lives()
		return d.retire(heir, within)
	}
	m.tell(m.Stopping())
	lives()
	err = errors.Join(err, d.stop(within))
	log.Info("stopped", "took", time.Since(begun).Round(time.Millisecond).String())
	return err
}

// sockets are those that were opened before: by the service manager, or by the predecessor, whose store is closed then.
func (h *host) sockets(ctx context.Context, conf *config.Loaded, log *slog.Logger) (*sockets, error) {
	if h.from != nil {
		return inherit(ctx, h.from, conf, log)
	}
	passed, err := systemd.Sockets(h.getenv, h.pid)
	return &sockets{passed: passed}, err
}

// wait reloads as often as it is told to, and returns when ctx is done, or a part has failed, or there is a successor.
func (d *daemon) wait(ctx context.Context, h *host, start handover.Starter, m *manager) (*handover.Successor, error) {
	for {
		select {
		case <-h.reload:
			m.tell(m.Reloading())
			d.reload(h.read)
			m.tell(m.Ready())
		case reply := <-d.service.upgrades:
			heir, done, lost, err := d.handOver(ctx, start, m)
			reply <- newReply(ctx, done, lost, err)
			switch {
			case err == nil:
				d.log.Info("a successor takes mail now", "pid", done.Process, "version", done.Version)
				return heir, nil
			case lost:
				return nil, err
			}
			d.log.Error("no upgrade: this daemon goes on", "err", err)
		case <-ctx.Done():
			d.log.Info("stopping", "within", d.conf.Load().Limits.StopTime.String())
			return nil, nil
		case err := <-d.failed:
			d.log.Error("stopping, since a part failed", "err", err)
			return nil, err
		}
	}
}

// A manager is the service manager, which may be gone: that is no reason to take no mail.
type manager struct {
	*systemd.Notifier
	log *slog.Logger
}

func (m *manager) tell(err error) {
	if err != nil {
		m.log.Warn("the service manager does not hear", "err", err)
	}
}

// watch says that a daemon lives, as long as its counters can be had: who cannot take a lock of the judging or of the store
// judges no mail either. What it returns ends that.
func (m *manager) watch(d *daemon) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		m.Live(ctx, func() { d.alive(ctx) }, m.tell)
	}()
	return func() { cancel(); <-done }
}

// alive returns if the daemon's locks can be had. While the store changes hands there is none of it.
func (d *daemon) alive(ctx context.Context) {
	if d.service.gate.try() {
		defer d.service.gate.leave()
		_, _ = d.service.now.Stats(ctx)
	}
}

// newLogger logs as the configuration says; the level may change later.
func newLogger(c config.Log, w io.Writer) (*slog.Logger, *slog.LevelVar) {
	l := new(slog.LevelVar)
	l.Set(level(c))
	o := &slog.HandlerOptions{Level: l}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, o)), l
	}
	return slog.New(slog.NewTextHandler(w, o)), l
}

// level is that of the configuration.
func level(c config.Log) (l slog.Level) {
	if err := l.UnmarshalText([]byte(c.Level)); err != nil {
		panic(err) // the configuration was checked
	}
	return l
}
