package systemd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// env is an environment of these variables.
func env(pairs ...string) func(string) string {
	return func(name string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1]
			}
		}
		return ""
	}
}

// manager listens as the service manager does.
func manager(t *testing.T, name string) *net.UnixConn {
	t.Helper()
	c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: name, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// told returns the next datagram.
func told(t *testing.T, c *net.UnixConn) string {
	t.Helper()
	b := make([]byte, 200)
	if err := c.SetReadDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	n, err := c.Read(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(b[:n])
}

func TestStates(t *testing.T) {
	abstract := fmt.Sprintf("@spamsim-test-%d", os.Getpid())
	for _, name := range []string{filepath.Join(t.TempDir(), "notify"), abstract} {
		m, n := manager(t, name), NewNotifier(env("NOTIFY_SOCKET", name), 1)
		for want, say := range map[string]func() error{"READY=1": n.Ready, "STOPPING=1": n.Stopping} {
			if err := say(); err != nil {
				t.Fatal(err)
			}
			if got := told(t, m); got != want {
				t.Errorf("told %q, want %q", got, want)
			}
		}
	}
}

// TestReloading: the time is that of the clock which the manager compares it with.
func TestReloading(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notify")
	m, n := manager(t, name), NewNotifier(env("NOTIFY_SOCKET", name), 1)
	clock := func() int64 {
		var now unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
			t.Fatal(err)
		}
		return now.Nano() / 1000
	}
	before := clock()
	if err := n.Reloading(); err != nil {
		t.Fatal(err)
	}
	usec, ok := strings.CutPrefix(told(t, m), "RELOADING=1\nMONOTONIC_USEC=")
	at, err := strconv.ParseInt(usec, 10, 64)
	if !ok || err != nil || at < before || at > clock() {
		t.Errorf("%q after %d", usec, before)
	}
}

// TestLive: signs of life come until the context is done, each after a look at the process, and none from one that hangs.
func TestLive(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notify")
	m := manager(t, name)
	n := NewNotifier(env("NOTIFY_SOCKET", name, "WATCHDOG_USEC", "2000", "WATCHDOG_PID", "7"), 7)
	if n.every != time.Millisecond {
		t.Errorf("every %v", n.every)
	}
	ctx, cancel := context.WithCancel(t.Context())
	looks, hang, done := 0, make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		n.Live(ctx, func() {
			if looks++; looks == 4 {
				<-hang
			}
		}, func(err error) { t.Error(err) })
	}()
	for range 3 {
		if got := told(t, m); got != "WATCHDOG=1" {
			t.Errorf("told %q", got)
		}
	}
	if err := m.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Read(make([]byte, 100)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a process that hangs said that it lives: %v", err)
	}
	cancel()
	close(hang)
	<-done
}

// TestLiveGoesOn: a manager that was away for a moment hears the next sign.
func TestLiveGoesOn(t *testing.T) {
	name := filepath.Join(t.TempDir(), "notify")
	n := NewNotifier(env("NOTIFY_SOCKET", name, "WATCHDOG_USEC", "20000"), 7)
	ctx, cancel := context.WithCancel(t.Context())
	missed, done := make(chan error, 1), make(chan struct{})
	go func() {
		defer close(done)
		n.Live(ctx, func() {}, func(err error) {
			select {
			case missed <- err:
			default:
			}
		})
	}()
	if err := <-missed; !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if got := told(t, manager(t, name)); got != "WATCHDOG=1" {
		t.Errorf("told %q", got)
	}
	cancel()
	<-done
}

// TestNobodyListens: without a manager nothing is said; one that has gone is an error.
func TestNobodyListens(t *testing.T) {
	for _, e := range [][]string{nil, {"WATCHDOG_USEC", "1000"}, {"NOTIFY_SOCKET", "", "WATCHDOG_USEC", "1000"}} {
		n := NewNotifier(env(e...), 1)
		if err := errors.Join(n.Ready(), n.Reloading(), n.Stopping()); err != nil {
			t.Error(err)
		}
		n.Live(t.Context(), func() { t.Error("asked") }, func(err error) { t.Error(err) })
	}
	gone := filepath.Join(t.TempDir(), "none")
	for _, e := range [][]string{
		{"WATCHDOG_USEC", "2000", "WATCHDOG_PID", "8"}, {"WATCHDOG_USEC", "soon"}, {"WATCHDOG_USEC", "-1"}, {"WATCHDOG_USEC", "99999999999999999999"},
	} {
		n := NewNotifier(env(append(e, "NOTIFY_SOCKET", gone)...), 7)
		n.Live(t.Context(), func() { t.Error("asked") }, func(err error) { t.Error(err) })
		if n.every != 0 {
			t.Errorf("%q: every %v", e, n.every)
		}
	}
	if err := NewNotifier(env("NOTIFY_SOCKET", gone), 1).Ready(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
}

// TestTake makes listeners of descriptors and is reached through them; once they are closed nothing of them is left but the
// manager's own socket.
func TestTake(t *testing.T) {
	const first = 900
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "s")
	local, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range []interface{ File() (*os.File, error) }{tcp.(*net.TCPListener), local.(*net.UnixListener)} {
		f, err := l.File()
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Dup3(int(f.Fd()), first+i, 0); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	tcp.Close()
	defer local.Close()
	got, err := take(first, []string{"smtp", "milter"})
	if err != nil || len(got["smtp"]) != 1 || len(got["milter"]) != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	if got["smtp"][0].Addr().String() != tcp.Addr().String() || got["milter"][0].Addr().String() != socket {
		t.Errorf("%v", got)
	}
	conn, err := net.Dial("tcp", tcp.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
	Close(got)
	if _, err := net.Dial("tcp", tcp.Addr().String()); err == nil {
		t.Error("still open")
	}
	if _, err := os.Stat(socket); err != nil {
		t.Errorf("the manager's socket was removed: %v", err)
	}
	for i := range 2 {
		if _, err := unix.FcntlInt(uintptr(first+i), unix.F_GETFD, 0); !errors.Is(err, unix.EBADF) {
			t.Errorf("descriptor %d is left: %v", first+i, err)
		}
	}
}

func TestNoSockets(t *testing.T) {
	for _, c := range []struct {
		env  []string
		fine bool
	}{
		{nil, true},
		{[]string{"LISTEN_PID", "8", "LISTEN_FDS", "2"}, true}, // another process's
		{[]string{"LISTEN_PID", "7", "LISTEN_FDS", "0"}, true},
		{[]string{"LISTEN_PID", "7"}, false},
		{[]string{"LISTEN_PID", "7", "LISTEN_FDS", "-1"}, false},
		{[]string{"LISTEN_PID", "7", "LISTEN_FDS", "1001"}, false},
		{[]string{"LISTEN_PID", "7", "LISTEN_FDS", "2", "LISTEN_FDNAMES", "smtp"}, false},
	} {
		got, err := Sockets(env(c.env...), 7)
		if len(got) != 0 || (err == nil) != c.fine || err != nil && !errors.Is(err, errPassed) {
			t.Errorf("%q: %v, %v", c.env, got, err)
		}
	}
	file, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Dup3(int(file.Fd()), 910, 0); err != nil {
		t.Fatal(err)
	}
	file.Close()
	if _, err := take(910, []string{"smtp"}); !errors.Is(err, errPassed) {
		t.Errorf("a descriptor that is no socket: %v", err)
	}
}
