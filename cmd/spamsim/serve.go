package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"spamsim/cmd/spamsim/internal/config"
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
			return serve(cmd.Context(), conf, newLogger(conf.Log, a.stderr))
		},
	}
	a.storeFlag(c)
	return c
}

// serve runs a daemon until ctx is done, or until a part of it fails.
func serve(ctx context.Context, conf *config.Loaded, log *slog.Logger) error {
	slog.SetDefault(log) // for libraries that log by themselves
	d, err := startDaemon(conf, log)
	if err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		log.Info("stopping", "within", conf.Limits.StopTime.String())
	case err = <-d.failed:
		log.Error("stopping, since a part failed", "err", err)
	}
	begun := time.Now()
	err = errors.Join(err, d.stop(conf.Limits.StopTime.Duration))
	log.Info("stopped", "took", time.Since(begun).Round(time.Millisecond).String())
	return err
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
