package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/configs"
	"spamsim/store"
)

func newConfig(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Show or try the configuration",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	c.AddCommand(
		newConfigDiff(a),
		newConfigKey(a),
		&cobra.Command{
			Use:   "print",
			Short: "Print the settings in effect, each with its origin",
			Args:  usageArgs(cobra.NoArgs),
			RunE: func(*cobra.Command, []string) error {
				conf, err := a.load()
				if err != nil {
					return err
				}
				return conf.Print(a.stdout)
			},
		},
		&cobra.Command{
			Use:   "check [FILE]",
			Short: "Try a configuration, FILE or the one in effect, and the certificates and keys that it names",
			Args:  usageArgs(cobra.MaximumNArgs(1)),
			RunE: func(_ *cobra.Command, args []string) error {
				conf, err := config.Load(append(args, a.configFile)[0], a.env)
				if err == nil {
					err = tryFiles(conf)
				}
				if err != nil {
					return err
				}
				return a.printf("%s: no mistakes\n", conf.File)
			},
		},
		&cobra.Command{
			Use:   "sample",
			Short: "Print the built-in configuration, with all settings explained",
			Args:  usageArgs(cobra.NoArgs),
			RunE:  func(*cobra.Command, []string) error { return a.printf("%s", configs.Sample) },
		},
	)
	return c
}

// tryFiles reads the files that a configuration names as serve does. Serve starts with a certificate that is over, since a new one
// may come; to whoever asks that is a mistake.
func tryFiles(conf *config.Loaded) error {
	c, err := readCertificate(conf.TLS, slog.New(slog.DiscardHandler))
	if c != nil && err == nil {
		if end := c.held.Leaf.NotAfter; time.Now().After(end) {
			err = fmt.Errorf("tls: %s ended on %s", conf.TLS.Certificate, end.Local().Format(time.DateTime))
		}
	}
	_, hop := hopTLS(conf.SMTP)
	_, key := siteKey(conf)
	_, roots := rootsOf(conf.Peers.CA)
	if roots != nil {
		roots = fmt.Errorf("peers.ca: %w", roots)
	}
	return errors.Join(err, hop, key, roots)
}

func newConfigKey(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "key",
		Short: "Print the key of the store, for peers.key_file of all hosts of a site",
		Long: `A store keeps the key that it was made with, and hosts that share one memory need one key ("spamsim help peers"). Where one
of them has a store that is worth keeping, let the key of that store be the site's. The daemon must not run meanwhile.
The key is a secret: people and texts are known in the store, and to the peers, by hashes with it.`,
		Example: "  (umask 077; spamsim config key >/etc/spamsim/peers.key)",
		Args:    usageArgs(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			conf, err := a.load()
			if err != nil {
				return err
			}
			key, err := store.KeyOf(conf.Store.Path)
			if errors.Is(err, store.ErrInUse) {
				return fmt.Errorf("%w: stop the daemon for a moment", err)
			}
			if errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("%s: no store yet, and so no key: \"spamsim serve\" makes one when it first starts; "+
					"for hosts that are all new make the key itself, with \"openssl rand -hex 32\"", conf.Store.Path)
			}
			if err != nil {
				return err
			}
			if len(key) < shortestKey {
				return fmt.Errorf("%s: its key is shorter than peers.key_file must have", conf.Store.Path)
			}
			return a.printf("%x\n", key)
		},
	}
	a.storeFlag(c)
	return c
}
