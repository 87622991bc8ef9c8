package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strings"

	toml "github.com/pelletier/go-toml/v2"

	"spamsim/configs"
)

// SystemFile is where a configuration is looked for when neither a flag nor the environment names one.
const SystemFile = "/etc/spamsim/spamsim.toml"

// Builtin is the name of the embedded sample where a file's name would stand.
const Builtin = "built-in"

// maxFile bounds a configuration file, in octets.
const maxFile = 1 << 20

// An Env is what a configuration takes from its surroundings.
type Env struct {
	Getenv   func(string) string
	HomeDir  func() (string, error)
	Hostname func() (string, error)
	System   string // SystemFile, but for tests
}

// Host is the Env of the running process.
func Host() Env {
	return Env{Getenv: os.Getenv, HomeDir: home, Hostname: os.Hostname, System: SystemFile}
}

// home is the user's home directory, also where nobody told the process: cron and "env -i" may not.
func home() (string, error) {
	dir, err := os.UserHomeDir()
	if err == nil {
		return dir, nil
	}
	if u, unknown := user.Current(); unknown == nil && filepath.IsAbs(u.HomeDir) {
		return u.HomeDir, nil
	}
	return "", err
}

// Loaded is a configuration in effect.
type Loaded struct {
	Config
	File   string            // the file that was read, or Builtin
	Origin map[string]string // setting -> "FILE:LINE", "default", or how an empty one was filled in
}

// Load reads the configuration: file where it is not empty, else $SPAMSIM_CONFIG, else the system's file where there
// is one, else the embedded sample alone. A *Errors says what is wrong with a file that could be read.
func Load(file string, env Env) (*Loaded, error) {
	name, data, err := find(file, env)
	if err != nil {
		return nil, err
	}
	l := &Loaded{File: name, Origin: map[string]string{}}
	if _, err := decode(Builtin, configs.Sample, &l.Config); err != nil {
		return nil, err
	}
	for _, s := range settings {
		l.Origin[s.path] = "default"
	}
	places := map[string]place{}
	if data != nil {
		if places, err = decode(name, data, &l.Config); err != nil {
			return nil, err
		}
	}
	for path, p := range places {
		l.Origin[path] = fmt.Sprintf("%s:%d", name, p.line)
	}
	if err := check(&l.Config, name, places); err != nil {
		return nil, err
	}
	return l, l.complete(env)
}

// find returns the name and the content of the file to read; the content is nil where none is needed.
func find(file string, env Env) (name string, data []byte, err error) {
	named := file
	if named == "" {
		named = env.Getenv("SPAMSIM_CONFIG")
	}
	if named == "" {
		data, err = read(env.System)
		if errors.Is(err, fs.ErrNotExist) {
			return Builtin, nil, nil
		}
		return env.System, data, err
	}
	data, err = read(named)
	return named, data, err
}

func read(name string) ([]byte, error) {
	info, err := os.Stat(name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("configuration: %w", err)
	case info.IsDir():
		return nil, fmt.Errorf("configuration: %s is a directory", name)
	case info.Size() > maxFile:
		return nil, fmt.Errorf("configuration: %s is larger than %d octets", name, maxFile)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("configuration: %w", err)
	}
	if data == nil {
		data = []byte{}
	}
	return data, nil
}

// decode reads data over c and tells where each setting of it stands.
func decode(name string, data []byte, c *Config) (map[string]place, error) {
	places, bad := locate(data)
	d := toml.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(c)
	if err == nil && len(bad) == 0 {
		return places, nil
	}
	return nil, explain(name, err, bad)
}

// complete fills in what an empty setting means.
func (l *Loaded) complete(env Env) error {
	if l.ID == "" {
		host, err := env.Hostname()
		if err != nil || !validID(host) {
			host = "localhost"
		}
		l.ID, l.Origin["id"] = host, "the host's name"
	}
	if l.StateDir == "" {
		dir, err := userState(env)
		if err != nil {
			return err
		}
		l.StateDir, l.Origin["state_dir"] = dir, "the user's state directory"
	}
	if l.Store.Path == "" {
		l.Store.Path, l.Origin["store.path"] = "spamsim.db", "in state_dir"
	}
	l.Store.Path = l.inState(l.Store.Path)
	if path, ok := strings.CutPrefix(l.SMTP.NextHop, "maildir:"); ok {
		l.SMTP.NextHop = "maildir:" + l.inState(path)
	}
	return nil
}

// inState makes a relative path absolute.
func (l *Loaded) inState(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(l.StateDir, path)
}

// userState is spamsim's folder of the user's state directory, by the XDG Base Directory Specification 0.8.
func userState(env Env) (string, error) {
	if dir := env.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "spamsim"), nil
	}
	home, err := env.HomeDir()
	if err != nil {
		return "", fmt.Errorf("state_dir is empty and there is no home directory: set state_dir (%w)", err)
	}
	return filepath.Join(home, ".local", "state", "spamsim"), nil
}
