package lab

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A Spamsim is the daemon as a process of its own, with a state folder and a configuration file of its own. The program
// is the test binary itself under the name spamsim, which the tests' main puts on the path.
type Spamsim struct {
	// Program is run as the daemon, from the next Start on; "" is the one on the path, as for all commands.
	Program string
	// Under is a command line that runs the daemon, which is appended: from the next Start on.
	Under []string

	t     testing.TB
	dir   string
	cmd   *exec.Cmd
	heirs []int // processes that took over, in order
	unit  Unit
}

// A Unit is what a service manager gives to a daemon that it starts.
type Unit struct {
	Notify string // the socket at which it listens, "" for none
	Name   string // of the door whose sockets it opened
	Passed []*os.File
}

// StartSpamsim starts a daemon that lives until the test ends. The configuration is TOML without id and state_dir. Where
// the test fails, the daemon's log is printed.
func StartSpamsim(t testing.TB, config string) *Spamsim {
	t.Helper()
	return StartUnit(t, config, Unit{})
}

// StartUnit is StartSpamsim as a service manager does it.
func StartUnit(t testing.TB, config string, unit Unit) *Spamsim {
	t.Helper()
	s := &Spamsim{t: t, dir: t.TempDir(), unit: unit}
	text := "id = \"mx.lab.test\"\nstate_dir = \"" + s.dir + "/state\"\n" + config
	if err := os.WriteFile(s.dir+"/spamsim.toml", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		s.end(syscall.SIGKILL)
		if t.Failed() {
			t.Logf("spamsim log:\n%s", s.Log())
		}
	})
	s.Start()
	return s
}

// Start starts the daemon, again after Stop or Kill, and returns once it serves.
func (s *Spamsim) Start() {
	s.t.Helper()
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		s.t.Fatal(err)
	}
	defer log.Close() // the process has its own
	serve := s.command("serve")
	if s.Program != "" {
		serve.Path, serve.Args[0], serve.Err = s.Program, s.Program, nil
		serve.Env = append(serve.Env, "PATH="+filepath.Dir(s.Program)+":"+os.Getenv("PATH")) // where it finds itself
	}
	s.cmd = s.unit.start(s.under(serve))
	s.cmd.Stdout, s.cmd.Stderr = log, log
	before := s.serving()
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	Eventually(s.t, "spamsim serves", func() bool { return s.serving() > before })
}

// start makes a command that of a unit. The shell knows the number of the process, which it becomes.
func (u Unit) start(cmd *exec.Cmd) *exec.Cmd {
	cmd.Env = append(cmd.Env, "NOTIFY_SOCKET="+u.Notify)
	if u.Passed == nil {
		return cmd
	}
	shell := exec.Command("sh", append([]string{"-c", `LISTEN_PID=$$ exec "$0" "$@"`}, cmd.Args...)...)
	names := strings.TrimSuffix(strings.Repeat(u.Name+":", len(u.Passed)), ":")
	shell.Env = append(cmd.Env, fmt.Sprintf("LISTEN_FDS=%d", len(u.Passed)), "LISTEN_FDNAMES="+names)
	shell.ExtraFiles = u.Passed // from descriptor 3 on, as sd_listen_fds(3) has them
	return shell
}

// Signal sends the daemon a signal.
func (s *Spamsim) Signal(sig syscall.Signal) {
	s.t.Helper()
	if err := syscall.Kill(s.Pid(), sig); err != nil {
		s.t.Fatal(err)
	}
}

// Upgrade has the daemon replaced by the program that its command line names, and returns what the command prints.
func (s *Spamsim) Upgrade() string {
	s.t.Helper()
	said := s.Run("upgrade")
	found := regexp.MustCompile(`^process (\d+) `).FindStringSubmatch(said)
	if found == nil {
		s.t.Fatalf("spamsim upgrade: %s", said)
	}
	pid, _ := strconv.Atoi(found[1])
	s.heirs = append(s.heirs, pid)
	return said
}

// gone says whether a process has ended. Its parent, which is not this one, need not know yet.
func gone(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(stat), ") ")
	return err != nil || strings.HasPrefix(rest, "Z")
}

// under has a command run by another, if one is named.
func (s *Spamsim) under(cmd *exec.Cmd) *exec.Cmd {
	if len(s.Under) == 0 {
		return cmd
	}
	by := exec.Command(s.Under[0], append(s.Under[1:], cmd.Args...)...)
	by.Env = cmd.Env
	return by
}

// serving counts how often the daemon said that it serves.
func (s *Spamsim) serving() int { return strings.Count(s.Log(), "msg=serving") }

// command is a spamsim command under the daemon's configuration.
func (s *Spamsim) command(args ...string) *exec.Cmd {
	cmd := exec.Command("spamsim", args...)
	cmd.Env = append(os.Environ(), "SPAMSIM_CONFIG="+s.dir+"/spamsim.toml",
		"GORACE=atexit_sleep_ms=0") // else each command takes a second to end under the race detector
	return cmd
}

// Run runs a command to its end, fails the test where its status is not 0, and returns what it printed.
func (s *Spamsim) Run(args ...string) string {
	s.t.Helper()
	out, err := s.Try(args...)
	if err != nil {
		s.t.Fatalf("spamsim %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}

// Try is Run for a command that may fail.
func (s *Spamsim) Try(args ...string) (string, error) {
	out, err := s.command(args...).CombinedOutput()
	return string(out), err
}

// Pid is the daemon's process.
func (s *Spamsim) Pid() int {
	if n := len(s.heirs); n > 0 {
		return s.heirs[n-1]
	}
	return s.cmd.Process.Pid
}

// Stop ends the daemon as an operator does and fails the test where it does not end well.
func (s *Spamsim) Stop() {
	s.t.Helper()
	if err := s.end(syscall.SIGTERM); err != nil {
		s.t.Errorf("spamsim ended with %v", err)
	}
}

// Kill ends the daemon in the middle of whatever it does.
func (s *Spamsim) Kill() { _ = s.end(syscall.SIGKILL) }

func (s *Spamsim) end(sig syscall.Signal) error {
	if s.cmd == nil {
		return nil
	}
	_ = syscall.Kill(s.Pid(), sig)
	if sig == syscall.SIGKILL {
		_ = s.cmd.Process.Kill() // it may wait for its last clients
	}
	err := s.cmd.Wait()
	for _, pid := range s.heirs {
		if sig == syscall.SIGKILL && !gone(pid) {
			_ = syscall.Kill(pid, sig)
		}
		Eventually(s.t, "the daemon ends", func() bool { return gone(pid) })
	}
	s.cmd, s.heirs = nil, nil
	return err
}

// File is the daemon's configuration.
func (s *Spamsim) File() string { return filepath.Join(s.dir, "spamsim.toml") }

// Log returns what the daemon logged so far, over all its lives.
func (s *Spamsim) Log() string {
	text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
	return string(text)
}
