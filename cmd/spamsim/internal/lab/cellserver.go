package lab

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A CellServer is a server that runs in a cell, in the foreground, as the test's child.
type CellServer struct {
	Name string

	cell  *Cell
	usual *exec.Cmd // as it was first started
	cmd   *exec.Cmd
	ready func() bool
}

// Start starts a server that lives until the test ends, and waits until it listens on all addresses. What it prints goes
// to /var/log/NAME of the cell; where the test fails, that log and the others named are printed.
func (c *Cell) Start(name string, cmd *exec.Cmd, addrs []string, logs ...string) *CellServer {
	c.t.Helper()
	s := &CellServer{Name: name, cell: c, usual: cmd}
	s.ready = func() bool {
		if name == "spamsim" {
			return strings.Contains(c.Read(s.log()), "msg=serving")
		}
		return !slices.ContainsFunc(addrs, func(addr string) bool { return !listens(addr) })
	}
	c.t.Cleanup(func() {
		s.Stop()
		for _, path := range append([]string{s.log()}, logs...) {
			if c.t.Failed() {
				c.t.Logf("%s:\n%s", path, c.Read(path))
			}
		}
	})
	s.Start()
	return s
}

func (s *CellServer) log() string { return "/var/log/" + s.Name }

// Start starts the server again after Stop, and returns once it serves.
func (s *CellServer) Start() {
	t := s.cell.t
	t.Helper()
	log, err := os.Create(s.cell.host(s.log()))
	s.cell.must(err)
	defer log.Close() // the process has its own
	again := *s.usual
	s.cmd = &again
	s.cmd.Stdout, s.cmd.Stderr = log, log
	s.cell.must(s.cmd.Start())
	Eventually(t, s.Name+" serves", s.ready)
}

// Stop ends the server with whatever it started: all are in its session, and most in its process group.
func (s *CellServer) Stop() {
	if s.cmd == nil || s.cmd.Process == nil || s.cmd.ProcessState != nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	ended := make(chan error, 1)
	go func() { ended <- s.cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(5 * time.Second):
		_ = s.cmd.Process.Kill()
		<-ended
	}
	_ = syscall.Kill(-s.cmd.Process.Pid, syscall.SIGKILL)
}

// Run runs a command of the cell to its end with standard input, fails the test where its status is not 0, and returns
// what it printed.
func (c *Cell) Run(t testing.TB, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return string(out)
}

// StartSpamsim starts the daemon in the cell, as a user of its own, with the given configuration where a site has it.
// The program is the test binary itself, as with StartSpamsim outside.
func (c *Cell) StartSpamsim(toml string) *CellServer {
	c.t.Helper()
	c.InstallSpamsim(toml)
	return c.Start("spamsim", As(c.Command("/usr/bin/spamsim", "serve"), CellSpamsim), nil)
}

// InstallSpamsim installs the program with a configuration, and starts nothing.
func (c *Cell) InstallSpamsim(toml string) {
	c.t.Helper()
	program, err := exec.LookPath("spamsim")
	c.must(err)
	c.Install(program, "/usr/bin/spamsim")
	c.Write("/etc/spamsim/spamsim.toml", toml)
	c.Folder("/var/lib/spamsim", CellSpamsim, 0o750)
}
