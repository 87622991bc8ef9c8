package main

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/sandbox"
)

// confine takes from the daemon all files but its own, before it opens any: nobody is served yet. It cannot be undone. That a
// kernel cannot do it, or does not let us, is no reason not to filter mail.
func confine(conf *config.Loaded, log *slog.Logger) {
	if !conf.Sandbox {
		return
	}
	read, write := reach(conf)
	makeFolders(conf, log)
	active, err := sandbox.Restrict(read, write)
	switch {
	case err != nil:
		log.Warn("files are not confined", "err", err)
	case !active:
		log.Info("files are not confined: the kernel has no Landlock")
	default:
		log.Info("files are confined", "write", strings.Join(write, ":"))
	}
}

// makeFolders makes those that the daemon would make later: what is not there cannot be granted.
func makeFolders(conf *config.Loaded, log *slog.Logger) {
	err := errors.Join(os.MkdirAll(conf.StateDir, 0o750), os.MkdirAll(filepath.Dir(conf.Store.Path), 0o750))
	if dir, ok := maildirOf(conf); ok {
		err = errors.Join(err, os.MkdirAll(dir, 0o700))
	}
	if err != nil {
		log.Warn("a folder cannot be made", "err", err)
	}
}

// maildirOf is the next hop's folder, if it is one.
func maildirOf(conf *config.Loaded) (dir string, ok bool) {
	return strings.CutPrefix(conf.SMTP.NextHop, "maildir:")
}

// reach is what the daemon reads and writes while it runs. It comes by folders: files are replaced by new ones of their name.
func reach(conf *config.Loaded) (read, write []string) {
	read = sandbox.FoldersOf(conf.TLS.Certificate, conf.TLS.Key, conf.SMTP.NextHopCA, conf.Peers.KeyFile, conf.Peers.CA, "/etc/resolv.conf")
	if conf.File != config.Builtin {
		read = append(read, sandbox.FoldersOf(conf.File)...)
	}
	write = append(sandbox.FoldersOf(conf.Store.Path), conf.StateDir)
	if dir, ok := maildirOf(conf); ok {
		write = append(write, dir)
	}
	for _, list := range [][]config.Address{conf.SMTP.Listen, conf.SMTP.LMTPListen, conf.Milter.Listen, conf.Dccifd.Listen, conf.HTTP.Listen} {
		for _, a := range list {
			if a.Network == "unix" {
				write = append(write, filepath.Dir(a.Addr))
			}
		}
	}
	return read, write
}
