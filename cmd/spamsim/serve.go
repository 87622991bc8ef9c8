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

SIGHUP makes it read its configuration again, without losing a connection: "spamsim config diff" says what that changes.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			conf, err := a.load()
			if err != nil {
				return err
			}
			return serve(cmd.Context(), a.host(), conf, a.stderr)
		},
	}
	a.storeFlag(c)
	return c
}

// A host is what a daemon runs under.
type host struct {
	getenv func(string) string // tells of the service manager, if there is one
	pid    int
	read   func() (*config.Loaded, error) // the configuration of now
	reload chan os.Signal                 // says when to take it up
}

// host is that of this process.
func (a *app) host() *host { return &host{a.env.Getenv, os.Getpid(), a.load, make(chan os.Signal, 1)} }

// serve runs a daemon until ctx is done, or until a part of it fails.
func serve(ctx context.Context, h *host, conf *config.Loaded, out io.Writer) error {
	signal.Notify(h.reload, syscall.SIGHUP) // from the start on: unheard it would end the process
	defer signal.Stop(h.reload)
	log, level := newLogger(conf.Log, out)
	slog.SetDefault(log) // for libraries that log by themselves
	confine(conf, log)
	passed, err := systemd.Sockets(h.getenv, h.pid)
	if err != nil {
		return err
	}
	d, err := startOn(passed, conf, log)
	if err != nil {
		return err
	}
	d.level = level
	m := &manager{systemd.NewNotifier(h.getenv, h.pid), log}
	lives := m.watch(d)
	m.tell(m.Ready())
	err = d.wait(ctx, h, m)
	m.tell(m.Stopping())
	lives()
	begun := time.Now()
	err = errors.Join(err, d.stop(d.conf.Load().Limits.StopTime.Duration))
	log.Info("stopped", "took", time.Since(begun).Round(time.Millisecond).String())
	return err
}

// wait reloads as often as it is told to, and returns when ctx is done, or a part has failed.
func (d *daemon) wait(ctx context.Context, h *host, m *manager) error {
	for {
		select {
		case <-h.reload:
			m.tell(m.Reloading())
			d.reload(h.read)
			m.tell(m.Ready())
		case <-ctx.Done():
			d.log.Info("stopping", "within", d.conf.Load().Limits.StopTime.String())
			return nil
		case err := <-d.failed:
			d.log.Error("stopping, since a part failed", "err", err)
			return err
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
		m.Live(ctx, func() { _, _ = d.local.Stats(ctx) }, m.tell)
	}()
	return func() { cancel(); <-done }
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
