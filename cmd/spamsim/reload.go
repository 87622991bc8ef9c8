package main

import (
	"spamsim/cmd/spamsim/internal/config"
	"spamsim/milter/filter"
)

// reload takes up a configuration that was read anew. One that is bad, or whose certificate is, changes nothing. A message
// whose judging has begun is judged by the old one; no connection notices.
func (d *daemon) reload(read func() (*config.Loaded, error)) {
	changes, err := d.tryReload(read)
	d.metrics.Reloaded(err)
	if err != nil {
		d.log.Error("not reloaded: the configuration before stays in effect", "err", err)
		return
	}
	restart := 0
	for _, c := range changes {
		if c.Restart {
			restart++
			d.log.Warn("a changed setting needs a restart", "setting", c.Setting, "old", c.Old, "new", c.New)
			continue
		}
		d.log.Info("a setting changed", "setting", c.Setting, "old", c.Old, "new", c.New)
	}
	d.log.Info("reloaded", "changed", len(changes)-restart, "need_restart", restart, "config", d.conf.Load().File)
}

// tryReload does what can go wrong first.
func (d *daemon) tryReload(read func() (*config.Loaded, error)) ([]config.Change, error) {
	next, err := read()
	if err != nil {
		return nil, err
	}
	conf, changes, err := d.conf.Load().Adopt(next)
	if err != nil {
		return nil, err
	}
	if err := prepareQuarantine(conf); err != nil {
		return nil, err
	}
	if d.tls != nil {
		if err := d.tls.replace(conf.TLS); err != nil {
			return nil, err
		}
	}
	d.judge.adopt(conf, filter.New(d.store, policy(conf)))
	d.level.Set(level(conf.Log))
	d.conf.Store(conf)
	return changes, nil
}
