// Package redistest starts redis-servers for tests. Only tests import it.
package redistest

import (
	"crypto/tls"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Need skips the test where there is no redis-server. With SPAMSIM_NO_SKIP=1 it fails it instead.
func Need(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil {
		const why = "needs redis-server: apt-get install redis-server"
		if os.Getenv("SPAMSIM_NO_SKIP") == "1" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
}

// A Server is a private redis-server on loopback.
type Server struct {
	Addr string

	t    testing.TB
	args []string
	tls  *tls.Config // nil: it speaks none
	cmd  *exec.Cmd
}

// Start starts a redis-server that keeps a file of what it is told, with further arguments, until the test ends.
func Start(t testing.TB, more ...string) *Server {
	t.Helper()
	s := prepare(t)
	s.args = append(append([]string{"--port", s.port()}, s.args...), more...)
	s.Run()
	return s
}

func prepare(t testing.TB) *Server {
	t.Helper()
	Need(t)
	dir := t.TempDir()
	s := &Server{t: t, Addr: freeAddr(t)}
	s.args = []string{"--bind", "127.0.0.1", "--dir", dir, "--save", "", "--appendonly", "yes", "--logfile", filepath.Join(dir, "log")}
	t.Cleanup(s.Kill)
	return s
}

func (s *Server) port() string {
	_, port, _ := net.SplitHostPort(s.Addr)
	return port
}

// Run starts the server that was killed, with what it had on disk.
func (s *Server) Run() {
	s.t.Helper()
	s.cmd = exec.Command("redis-server", s.args...)
	s.cmd.Stdout, s.cmd.Stderr = io.Discard, io.Discard
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	Eventually(s.t, "redis-server answers", func() bool { return s.Ask("PING\r\n", "+PONG\r\n") || s.Ask("PING\r\n", "-NOAUTH") })
}

// Ask sends a command and says whether the answer begins as it should.
func (s *Server) Ask(command, answer string) bool {
	c, err := net.DialTimeout("tcp", s.Addr, time.Second)
	if err != nil {
		return false
	}
	defer c.Close()
	if s.tls != nil {
		c = tls.Client(c, s.tls)
	}
	_ = c.SetDeadline(time.Now().Add(time.Second))
	fmt.Fprint(c, command)
	b := make([]byte, len(answer))
	_, err = io.ReadFull(c, b)
	return err == nil && string(b) == answer
}

// Join makes a Redis Cluster of servers that were started with --cluster-enabled yes.
func Join(t testing.TB, servers ...*Server) {
	t.Helper()
	args := []string{"--cluster-yes", "--cluster", "create"}
	for _, s := range servers {
		args = append(args, s.Addr)
	}
	if out, err := exec.Command("redis-cli", args...).CombinedOutput(); err != nil {
		t.Fatalf("redis-cli: %v\n%s", err, out)
	}
	for _, s := range servers {
		Eventually(t, "the cluster is whole", func() bool {
			out, err := exec.Command("redis-cli", "-u", s.URL(), "cluster", "info").Output()
			return err == nil && strings.Contains(string(out), "cluster_state:ok")
		})
	}
}

// Kill kills the server, and may be called again.
func (s *Server) Kill() {
	if s.cmd != nil && s.cmd.ProcessState == nil {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	}
}

// Signal sends the server a signal: SIGSTOP makes it hang.
func (s *Server) Signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// URL is what peers.url is to say.
func (s *Server) URL() string { return "redis://" + s.Addr }

// given are the ports that servers of this process have: one that was killed comes back to its own.
var given sync.Map

func freeAddr(t testing.TB) string {
	t.Helper()
	for range 1000 { // below what Linux gives to connections; a Redis Cluster takes 10,000 above each as well
		addr := fmt.Sprint("127.0.0.1:", 10500+rand.IntN(1500))
		if _, taken := given.LoadOrStore(addr, true); taken {
			continue
		}
		if l, err := net.Listen("tcp", addr); err == nil {
			l.Close()
			return addr
		}
	}
	t.Fatal("no port is free")
	return ""
}

// watchdog bounds every wait; it is no measure.
const watchdog = time.Minute

// Eventually waits until ok says true and fails the test where it never does; what names the thing waited for.
func Eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(watchdog); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("waited %v in vain: %s", watchdog, what)
}
