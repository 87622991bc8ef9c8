package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/control"
	"spamsim/milter/filter"
	"spamsim/store"
)

// storeFlag is for commands that work on a store.
func (a *app) storeFlag(c *cobra.Command) {
	c.Flags().StringVar(&a.storePath, "store", "", "another store `file` than the configured one")
}

// load reads the configuration, and puts the store that was asked for in it.
func (a *app) load() (*config.Loaded, error) {
	conf, err := config.Load(a.configFile, a.env)
	if err != nil || a.storePath == "" {
		return conf, err
	}
	path, err := filepath.Abs(a.storePath)
	if err != nil {
		return nil, err
	}
	conf.Store.Path, conf.Origin["store.path"] = path, "--store"
	return conf, nil
}

// An access is what a command wants of a store.
type access int

const (
	toRead  access = iota // changes nothing; a store that is not there is an empty one
	toWrite               // a store that is not there is made
)

// A service is the clusters that a command works on.
type service struct {
	control.Service
	close func() error
}

// inUseFor is how long a command waits for a store that another process holds: another command, or a daemon that takes
// the store some moments before it listens and keeps it some moments longer.
const inUseFor = 10 * time.Second

// service reaches the store of the configuration: through the daemon where one runs, else by opening the file. It says
// which store it is.
func (a *app) service(conf *config.Loaded, want access) (*service, error) {
	for begun := time.Now(); ; {
		s, err := a.remote(conf)
		if !errors.Is(err, control.ErrUnavailable) {
			return s, err
		}
		s, err = a.local(conf, want)
		if errors.Is(err, fs.ErrPermission) {
			return nil, fmt.Errorf("%w; the store and its daemon are for their owner and group: do this as that user, or name another --store", err)
		}
		if !errors.Is(err, store.ErrInUse) {
			return s, err
		}
		if time.Since(begun) > inUseFor {
			return nil, fmt.Errorf("%w; no daemon answers at %s", err, control.SocketOf(conf.Store.Path))
		}
	}
}

func (a *app) remote(conf *config.Loaded) (*service, error) {
	c, err := control.Dial(control.SocketOf(conf.Store.Path))
	if err != nil {
		return nil, err
	}
	a.note("store %s, through the daemon", conf.Store.Path)
	return &service{c, func() error { c.Close(); return nil }}, nil
}

func (a *app) local(conf *config.Loaded, want access) (*service, error) {
	path := conf.Store.Path
	_, err := os.Stat(path)
	missing := errors.Is(err, fs.ErrNotExist)
	if want == toWrite {
		if err := makeStoreFolder(conf); err != nil {
			return nil, err
		}
	}
	key, err := siteKey(conf)
	if err != nil {
		return nil, err
	}
	s, err := store.Open(path, store.Options{
		Key:      key,
		Window:   conf.Store.Window.Duration,
		Limit:    conf.Store.Clusters,
		ReadOnly: want == toRead,
		OnError:  func(err error) { a.warn("store %s: %v", path, err) },
	})
	if err != nil {
		return nil, err
	}
	if want == toRead && missing {
		a.note("store %s is not there yet: as if it were empty", path)
	} else {
		a.note("store %s", path)
	}
	return &service{localService(conf, s), s.Close}, nil
}

// makeStoreFolder makes the folder of the store where it is not there.
func makeStoreFolder(conf *config.Loaded) error {
	if err := os.MkdirAll(filepath.Dir(conf.Store.Path), 0o750); err != nil {
		return fmt.Errorf("the store's folder is not there: %w; store.path and state_dir say where it is", err)
	}
	return nil
}

// localService is the Service over an open store.
func localService(conf *config.Loaded, s *store.Store) *control.Local {
	f := filter.New(s, policy(conf))
	return &control.Local{
		Filter:  func() *filter.Filter { return f },
		Store:   s,
		Trusted: prefixes(conf.SMTP.Trusted),
		Limit:   int64(conf.Limits.MaxJudgedSize),
		Now:     time.Now,
		About: func() control.Stats {
			return control.Stats{Store: conf.Store.Path, Version: version(), Messages: []control.VerdictStat{}, Exempt: []control.RuleStat{},
				Doors: map[string]map[string]int64{}}
		},
		Config: conf.Values,
	}
}

// use runs do with the service and closes it.
func (a *app) use(conf *config.Loaded, want access, do func(s control.Service) error) (err error) {
	s, err := a.service(conf, want)
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, s.close()) }()
	return do(s)
}

// patience bounds one message's judgement by a daemon, lest a filter of a delivery agent hang with it.
const patience = time.Minute

func withPatience(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, patience)
}
