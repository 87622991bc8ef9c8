package config

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"spamsim/configs"
)

var update = flag.Bool("update", false, "write the golden messages of testdata/bad anew")

// env is a host with nothing set.
func env(t *testing.T, vars map[string]string) Env {
	t.Helper()
	return Env{
		Getenv:   func(k string) string { return vars[k] },
		HomeDir:  func() (string, error) { return "/home/u", nil },
		Hostname: func() (string, error) { return "host.example", nil },
		System:   filepath.Join(t.TempDir(), "none.toml"),
	}
}

// TestBad reads each configuration of testdata/bad: none may be accepted, and each says what is in its .want file.
func TestBad(t *testing.T) {
	files, err := filepath.Glob("testdata/bad/*.toml")
	if err != nil || len(files) < 13 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			_, err := Load(file, env(t, nil))
			if err == nil {
				t.Fatal("accepted")
			}
			var all *Errors
			if !errors.As(err, &all) {
				t.Errorf("%v is no *Errors", err)
			}
			got := strings.ReplaceAll(err.Error(), filepath.Dir(file)+"/", "") + "\n"
			golden := strings.TrimSuffix(file, ".toml") + ".want"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("message (-want +got):\n%s", d)
			}
		})
	}
}

func TestGood(t *testing.T) {
	l, err := Load("testdata/good.toml", env(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		path string
		want any
		from string
	}{
		{"id", "mx1.example.net", "testdata/good.toml:2"},
		{"store.window", Duration{36 * time.Hour}, "testdata/good.toml:15"},
		{"store.path", "/var/lib/spamsim/spamsim.db", "in state_dir"},
		{"bulk.threshold", 3.5, "testdata/good.toml:18"},
		{"bulk.count", 5, "default"},
		{"limits.max_judged_size", Size(1 << 20), "testdata/good.toml:21"},
	} {
		if got := l.value(c.path); got != c.want || l.Origin[c.path] != c.from {
			t.Errorf("%s = %v from %q, want %v from %q", c.path, got, l.Origin[c.path], c.want, c.from)
		}
	}
	if got := fmt.Sprint(l.SMTP.Listen); got != "[127.0.0.1:10025 unix:/run/spamsim/smtp.sock]" {
		t.Errorf("smtp.listen = %v", got)
	}
	if got := fmt.Sprint(l.SMTP.Trusted); got != "[127.0.0.1/32 192.0.2.0/24 2001:db8::/32]" {
		t.Errorf("smtp.trusted = %v: a list must replace the default one", got)
	}
	if len(l.Exempt) != 3 || l.Exempt[1].Network.String() != "192.0.2.25/32" {
		t.Errorf("exempt = %+v", l.Exempt)
	}
}

// TestDefaults holds the embedded sample against the declarations: it names every setting, in their order, each below
// a comment, and what it says is accepted as a file of its own and changes nothing.
func TestDefaults(t *testing.T) {
	l, err := Load("", env(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	if l.File != Builtin || l.ID != "host.example" || l.StateDir != "/home/u/.local/state/spamsim" ||
		l.SMTP.NextHop != "maildir:/home/u/.local/state/spamsim/mail" || l.Store.Path != "/home/u/.local/state/spamsim/spamsim.db" {
		t.Errorf("%+v", l)
	}
	file := filepath.Join(t.TempDir(), "spamsim.toml")
	if err := os.WriteFile(file, configs.Sample, 0o644); err != nil {
		t.Fatal(err)
	}
	same, err := Load(file, env(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(fmt.Sprintf("%+v", l.Config), fmt.Sprintf("%+v", same.Config)); d != "" {
		t.Errorf("the sample as a file differs:\n%s", d)
	}
	places, _ := locate(configs.Sample)
	lines, last := strings.Split(string(configs.Sample), "\n"), 0
	for _, s := range settings {
		if strings.HasPrefix(s.path, "exempt.") {
			continue
		}
		at := places[s.path]
		if at.line <= last {
			t.Errorf("%s stands in line %d of the sample, after line %d", s.path, at.line, last)
			continue
		}
		if last = at.line; !strings.HasPrefix(lines[at.line-2], "#") {
			t.Errorf("%s has no comment above it", s.path)
		}
	}
}

// TestWhere tries the order of look-up.
func TestWhere(t *testing.T) {
	dir := t.TempDir()
	write := func(name, id string) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, fmt.Appendf(nil, "id = %q\n", id), 0o644); err != nil {
			t.Fatal(err)
		}
		return file
	}
	flagged, named, system := write("flag.toml", "flag"), write("env.toml", "env"), write("system.toml", "system")
	for _, c := range []struct {
		name, flag, env, system, id, file string
	}{
		{"flag", flagged, named, system, "flag", flagged},
		{"environment", "", named, system, "env", named},
		{"system", "", "", system, "system", system},
		{"built-in", "", "", filepath.Join(dir, "none"), "host.example", Builtin},
	} {
		e := env(t, map[string]string{"SPAMSIM_CONFIG": c.env})
		e.System = c.system
		l, err := Load(c.flag, e)
		if err != nil || l.ID != c.id || l.File != c.file {
			t.Errorf("%s: %v, %v", c.name, l, err)
		}
	}
	for _, file := range []string{filepath.Join(dir, "none"), dir} {
		if _, err := Load(file, env(t, nil)); err == nil {
			t.Errorf("--config %s was accepted", file)
		}
		if _, err := Load("", env(t, map[string]string{"SPAMSIM_CONFIG": file})); err == nil {
			t.Errorf("SPAMSIM_CONFIG=%s was accepted", file)
		}
	}
}

func TestStateDir(t *testing.T) {
	e := env(t, map[string]string{"XDG_STATE_HOME": "/x"})
	if l, err := Load("", e); err != nil || l.StateDir != "/x/spamsim" {
		t.Errorf("%v, %v", l, err)
	}
	e = env(t, map[string]string{"XDG_STATE_HOME": "relative"}) // to be ignored, says the specification
	if l, err := Load("", e); err != nil || l.StateDir != "/home/u/.local/state/spamsim" {
		t.Errorf("%v, %v", l, err)
	}
	e.HomeDir = func() (string, error) { return "", errors.New("no home") }
	if _, err := Load("", e); err == nil || !strings.Contains(err.Error(), "set state_dir") {
		t.Errorf("without a home: %v", err)
	}
}

// TestPrint reads what is printed again: it must be a configuration with the same effect.
func TestPrint(t *testing.T) {
	for _, file := range []string{"", "testdata/good.toml"} {
		l, err := Load(file, env(t, nil))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := l.Print(&b); err != nil {
			t.Fatal(err)
		}
		printed := filepath.Join(t.TempDir(), "printed.toml")
		if err := os.WriteFile(printed, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		again, err := Load(printed, env(t, nil))
		if err != nil {
			t.Fatalf("%v in:\n%s", err, b.String())
		}
		if d := cmp.Diff(fmt.Sprintf("%+v", dump(t, l)), fmt.Sprintf("%+v", dump(t, again))); d != "" {
			t.Errorf("%q, printed and read again:\n%s", file, d)
		}
		if file != "" && !strings.Contains(b.String(), "# testdata/good.toml:18") {
			t.Errorf("no origin in:\n%s", b.String())
		}
	}
}

// dump prints a configuration without its origins.
func dump(t *testing.T, l *Loaded) string {
	t.Helper()
	plain := &Loaded{Config: l.Config, Origin: map[string]string{}}
	var b strings.Builder
	if err := plain.Print(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestHomeUntold: a process that nobody told its home directory finds it, as cron may not tell.
func TestHomeUntold(t *testing.T) {
	t.Setenv("HOME", "")
	e := Host()
	e.System, e.Getenv = filepath.Join(t.TempDir(), "none"), func(string) string { return "" }
	l, err := Load("", e)
	if err != nil || !strings.HasSuffix(l.StateDir, "/.local/state/spamsim") {
		t.Errorf("%+v, %v", l, err)
	}
}
