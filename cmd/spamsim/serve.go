package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
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
store is closed last. A second signal ends it at once.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			conf, err := a.load()
			if err != nil {
				return err
			}
			return serve(cmd.Context(), a.host(), conf, newLogger(conf.Log, a.stderr))
		},
	}
	a.storeFlag(c)
	return c
}

// A host is what a daemon runs under: the service manager, if there is one.
type host struct {
	getenv func(string) string
	pid    int
}

// host is that of this process.
func (a *app) host() *host { return &host{a.env.Getenv, os.Getpid()} }

// serve runs a daemon until ctx is done, or until a part of it fails.
func serve(ctx context.Context, h *host, conf *config.Loaded, log *slog.Logger) error {
	slog.SetDefault(log) // for libraries that log by themselves
	passed, err := systemd.Sockets(h.getenv, h.pid)
	if err != nil {
		return err
	}
	d, err := startOn(passed, conf, log)
	if err != nil {
		return err
	}
	manager := systemd.NewNotifier(h.getenv, h.pid)
	tell := func(what error) {
		if what != nil {
			log.Warn("the service manager does not hear", "err", what)
		}
	}
	lives := d.live(manager, tell)
	tell(manager.Ready())
	err = d.wait(ctx)
	tell(manager.Stopping())
	lives()
	begun := time.Now()
	err = errors.Join(err, d.stop(d.conf.Load().Limits.StopTime.Duration))
	log.Info("stopped", "took", time.Since(begun).Round(time.Millisecond).String())
	return err
}

// live tells the manager that the daemon lives, as long as its counters can be had: who cannot take a lock of the judging or
// of the store judges no mail either. What it returns ends that.
func (d *daemon) live(manager *systemd.Notifier, tell func(error)) (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tell(manager.Live(ctx, func() { _, _ = d.local.Stats(ctx) }))
	}()
	return func() { cancel(); <-done }
}

// wait returns when ctx is done, or a part has failed.
func (d *daemon) wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		d.log.Info("stopping", "within", d.conf.Load().Limits.StopTime.String())
		return nil
	case err := <-d.failed:
		d.log.Error("stopping, since a part failed", "err", err)
		return err
	}
}

// newLogger logs as the configuration says.
func newLogger(c config.Log, w io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.Level)); err != nil {
		panic(err) // the configuration was checked
	}
	o := &slog.HandlerOptions{Level: level}
	if c.Format == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
