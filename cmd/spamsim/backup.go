package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"spamsim/cmd/spamsim/internal/control"
)

func newBackup(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:     "backup FILE",
		Short:   "Copy the store, also while the daemon runs",
		Example: "  spamsim backup /var/backups/spamsim.db",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			conf, err := a.load()
			if err != nil {
				return err
			}
			if same(args[0], conf.Store.Path) {
				return fmt.Errorf("%s is the store itself: write another file", args[0])
			}
			return a.use(conf, toRead, func(s control.Service) error {
				octets, err := backup(cmd.Context(), s, args[0])
				if err != nil {
					return err
				}
				return a.printf("%s: %d octets\n", args[0], octets)
			})
		},
	}
	a.storeFlag(c)
	return c
}

// same says whether two names are of one file.
func same(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// backup writes the store to a file, which has its name only once it is whole and on disk: what had the name before stays
// until then.
func backup(ctx context.Context, s control.Service, name string) (octets int64, err error) {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return 0, fmt.Errorf("%s is a folder: name a file in it", name)
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".partial-") // mode 0600
	if path := new(fs.PathError); errors.As(err, &path) {
		return 0, fmt.Errorf("%s: %w", name, path.Err) // without the name that nobody wrote
	}
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	octets, err = s.Backup(ctx, f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return 0, err
	}
	return octets, syncFolder(filepath.Dir(name))
}

// syncFolder returns when the names in a folder are on disk.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
