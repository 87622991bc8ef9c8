package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/smtp"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/control"
	"spamsim/store"
)

// testEnv is a host with a home of its own and no configuration.
func testEnv(t *testing.T) config.Env {
	t.Helper()
	dir := t.TempDir()
	return config.Env{
		Getenv:   func(string) string { return "" },
		HomeDir:  func() (string, error) { return dir, nil },
		Hostname: func() (string, error) { return "mx.example", nil },
		System:   filepath.Join(dir, "none"),
	}
}

// testConfig is the built-in configuration in a new folder, on a free port, with further lines. A daemon within the test's
// process is not to confine it.
func testConfig(t *testing.T, more string) *config.Loaded {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "spamsim.toml")
	text := fmt.Sprintf("id = \"mx.example\"\nsandbox = false\nstate_dir = %q\n%s\n", filepath.Join(dir, "state"), more)
	if !strings.Contains(more, "[smtp]") {
		text += "[smtp]\nlisten = [\"127.0.0.1:0\"]\n"
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	conf, err := config.Load(file, testEnv(t))
	if err != nil {
		t.Fatal(err)
	}
	return conf
}

// startAlone runs a daemon that the test stops.
func startAlone(t *testing.T, conf *config.Loaded) *daemon {
	t.Helper()
	d, err := startDaemon(conf, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// start runs a daemon until the test ends.
func start(t *testing.T, conf *config.Loaded) *daemon {
	t.Helper()
	d := startAlone(t, conf)
	t.Cleanup(func() {
		if err := d.stop(5 * time.Second); err != nil {
			t.Error(err)
		}
	})
	return d
}

// TestDaemon takes a message with no configuration but a folder and a port: it lies in the maildir with the header at
// the very top and the forged one gone, the control socket tells of it, and after the stop neither socket nor goroutine is left.
func TestDaemon(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
	conf := testConfig(t, "")
	d, err := startDaemon(conf, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	const mail = "Subject: one\r\nX-Spamsim: clean; id=forged\r\n\r\nHello.\r\n"
	if err := smtp.SendMail(d.smtp[0].String(), nil, "a@x.example", []string{"b@site.example"}, []byte(mail)); err != nil {
		t.Error(err)
	}
	got := delivered(t, conf)
	if len(got) != 1 || !strings.HasPrefix(got[0], "X-Spamsim: abstain; reason=short; id=mx.example\n") ||
		strings.Count(got[0], "X-Spamsim") != 1 || !strings.HasSuffix(got[0], "\nSubject: one\n\nHello.\n") {
		t.Errorf("delivered: %q", got)
	}
	c, err := control.Dial(control.SocketOf(conf.Store.Path))
	if err != nil {
		t.Fatal(err)
	}
	stats, err := c.Stats(t.Context())
	if err != nil || len(stats.Messages) != 1 || stats.Messages[0].Door != "smtp" || stats.Messages[0].N != 1 || stats.Since == nil {
		t.Errorf("%+v, %v", stats, err)
	}
	c.Close()
	if err := d.stop(5 * time.Second); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(control.SocketOf(conf.Store.Path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the control socket is left: %v", err)
	}
	if _, err := net.Dial("tcp", d.smtp[0].String()); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("still listening: %v", err)
	}
}

// delivered returns the messages in the maildir that is the next hop.
func delivered(t *testing.T, conf *config.Loaded) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(strings.TrimPrefix(conf.SMTP.NextHop, "maildir:"), "new", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
	}
	return out
}

// TestStopWaits stops a daemon while a client is amid its message: the message is taken, and only then all is over.
func TestStopWaits(t *testing.T) {
	conf := testConfig(t, "")
	ctx, cancel := context.WithCancel(t.Context())
	d, err := startDaemon(conf, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	c, err := smtp.Dial(d.smtp[0].String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := errors.Join(c.Mail("a@x.example"), c.Rcpt("b@site.example")); err != nil {
		t.Fatal(err)
	}
	w, err := c.Data()
	if err != nil {
		t.Fatal(err)
	}
	var stopped sync.WaitGroup
	stopped.Go(func() {
		<-ctx.Done()
		if err := d.stop(20 * time.Second); err != nil {
			t.Error(err)
		}
	})
	cancel()
	for refused := false; !refused; { // until the daemon takes no more
		conn, err := net.Dial("tcp", d.smtp[0].String())
		if refused = err != nil; !refused {
			conn.Close()
		}
	}
	if _, err := io.WriteString(w, "Subject: x\r\n\r\nThe rest.\r\n"); err != nil {
		t.Error(err)
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
	stopped.Wait()
	if got := delivered(t, conf); len(got) != 1 || !strings.HasSuffix(got[0], "The rest.\n") {
		t.Errorf("delivered: %q", got)
	}
}

// TestStopCuts stops a daemon under a client that never ends its message: it is cut at the deadline.
func TestStopCuts(t *testing.T) {
	conf := testConfig(t, "")
	d, err := startDaemon(conf, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	c, err := smtp.Dial(d.smtp[0].String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := errors.Join(c.Mail("a@x.example"), c.Rcpt("b@site.example")); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Data(); err != nil {
		t.Fatal(err)
	}
	if err := d.stop(50 * time.Millisecond); err != nil {
		t.Error(err)
	}
	if got := delivered(t, conf); len(got) != 0 {
		t.Errorf("delivered: %q", got)
	}
}

// TestServe ends by its context, and by a part that fails.
func TestServe(t *testing.T) {
	old := slog.Default()
	defer slog.SetDefault(old)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := serve(ctx, &host{getenv: testEnv(t).Getenv, reload: make(chan os.Signal, 1)}, testConfig(t, ""), io.Discard); err != nil {
		t.Error(err)
	}
}

// TestAddressInUse names the door and the address, and leaves nothing running.
func TestAddressInUse(t *testing.T) {
	defer goleak.VerifyNone(t)
	for network, at := range map[string]string{"tcp": "127.0.0.1:0", "unix": filepath.Join(t.TempDir(), "smtp")} {
		l, err := net.Listen(network, at)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		used := strings.TrimPrefix(network+":", "tcp:") + l.Addr().String()
		conf := testConfig(t, fmt.Sprintf("[smtp]\nlisten = [\"127.0.0.1:0\", %q]\n", used))
		_, err = startDaemon(conf, slog.New(slog.DiscardHandler))
		if !errors.Is(err, syscall.EADDRINUSE) || !strings.HasPrefix(err.Error(), "smtp: ") || !strings.Contains(err.Error(), used) || !temporary(err) {
			t.Errorf("%v", err)
		}
		if _, err := os.Lstat(control.SocketOf(conf.Store.Path)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the control socket is left: %v", err)
		}
	}
}

// TestListensFirst: who comes before the store is open, here while another process has it, waits and is greeted.
func TestListensFirst(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "smtp")
	conf := testConfig(t, fmt.Sprintf("[smtp]\nlisten = [\"unix:%s\"]\n", socket))
	if err := makeStoreFolder(conf); err != nil {
		t.Fatal(err)
	}
	other, err := store.Open(conf.Store.Path, store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	type started struct {
		d   *daemon
		err error
	}
	done := make(chan started, 1)
	go func() {
		d, err := startDaemon(conf, slog.New(slog.DiscardHandler))
		done <- started{d, err}
	}()
	var c net.Conn
	for c, err = net.Dial("unix", socket); err != nil && len(done) == 0; c, err = net.Dial("unix", socket) {
		time.Sleep(time.Millisecond)
	}
	if len(done) > 0 {
		t.Fatalf("it ended before it listened: %v", (<-done).err)
	}
	defer c.Close()
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	s := <-done
	if s.err != nil {
		t.Fatal(s.err)
	}
	defer s.d.stop(time.Second)
	if line, err := bufio.NewReader(c).ReadString('\n'); !strings.HasPrefix(line, "220 ") {
		t.Errorf("%q, %v", line, err)
	}
}

// TestUnixSockets serves SMTP and the milter on Unix sockets, of which one is left over from a daemon that was killed.
func TestUnixSockets(t *testing.T) {
	dir := t.TempDir()
	smtpSocket, milterSocket := filepath.Join(dir, "smtp"), filepath.Join(dir, "milter")
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: smtpSocket})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false)
	stale.Close()
	conf := testConfig(t, fmt.Sprintf("[smtp]\nlisten = [\"unix:%s\"]\n[milter]\nlisten = [\"unix:%s\"]\n", smtpSocket, milterSocket))
	d := start(t, conf)
	if len(d.doors) != 2 || len(d.smtp) != 1 {
		t.Errorf("%d doors", len(d.doors))
	}
	for _, socket := range []string{smtpSocket, milterSocket} {
		conn, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o660 {
			t.Errorf("%v, %v", info, err)
		}
	}
	if _, err := listen(config.Address{Network: "unix", Addr: smtpSocket}); err == nil {
		t.Error("a socket that is served was taken over")
	}
}
