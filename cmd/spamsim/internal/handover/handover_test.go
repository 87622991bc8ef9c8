package handover

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// talks are the two ends of a connection.
func talks(t *testing.T) (a, b *Talk) {
	t.Helper()
	x, y, err := pair(unix.SOCK_STREAM)
	if err != nil {
		t.Fatal(err)
	}
	if a, err = newTalk(x); err == nil {
		b, err = newTalk(y)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); b.Close() })
	return a, b
}

// TestTalk says and hears every word, in both directions, and tells what is not heard.
func TestTalk(t *testing.T) {
	a, b := talks(t)
	for _, n := range []Note{
		{Word: Sockets, Sockets: []Socket{{"smtp", "127.0.0.1:25"}, {"milter", ""}}}, {Word: Ready, Version: "9"}, {Word: Take},
		{Word: Serving, Control: "/x\n"}, {Word: Yours}, {Word: Done, Unjudged: map[string]int64{"smtp": 3}},
	} {
		if err := a.Tell(n); err != nil {
			t.Fatal(err)
		}
		if got, err := b.Hear(t.Context(), n.Word); err != nil || !cmp.Equal(got, n) {
			t.Errorf("heard %+v, %v", got, err)
		}
		a, b = b, a
	}
	_ = a.Tell(Note{Word: Take})
	if _, err := b.Hear(t.Context(), Ready); !errors.Is(err, ErrTalk) {
		t.Errorf("of another word: %v", err)
	}
	_ = a.Tell(Note{Word: failed, Error: "no such port"})
	if _, err := b.Hear(t.Context(), Ready); !errors.Is(err, ErrRefused) || err.Error() != "the new program says: no such port" {
		t.Errorf("of an error: %v", err)
	}
	a.Close()
	if _, err := b.Hear(t.Context(), Ready); !errors.Is(err, ErrEnded) {
		t.Errorf("of the end: %v", err)
	}
	if err := b.Tell(Note{Word: Take}); !errors.Is(err, ErrEnded) {
		t.Errorf("to nobody: %v", err)
	}
}

// TestSilence: who waits too long gives up, and says for what.
func TestSilence(t *testing.T) {
	_, b := talks(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := b.Hear(ctx, Ready); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), `"ready"`) {
		t.Errorf("%v", err)
	}
}

// listen opens two TCP listeners and one on a Unix socket, and copies their descriptors.
func listen(t *testing.T) (listeners []net.Listener, files []*os.File) {
	t.Helper()
	for _, network := range []string{"tcp", "tcp", "unix"} {
		address := "127.0.0.1:0"
		if network == "unix" {
			address = filepath.Join(t.TempDir(), "s")
		}
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		f, err := Copy(l.(syscall.Conn))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close(); f.Close() })
		listeners, files = append(listeners, l), append(files, f)
	}
	return listeners, files
}

// TestReceive: the successor finds each listener under its name, and is reached through it, while the old one's goes on.
func TestReceive(t *testing.T) {
	const first = 950
	sockets := []Socket{{"smtp", "127.0.0.1:0"}, {"milter", ""}, {"control", "unix:/x"}}
	start := func(files []*os.File) (*os.Process, error) {
		for i, f := range files {
			if err := unix.Dup3(int(f.Fd()), first+i, 0); err != nil {
				return nil, err
			}
		}
		return os.FindProcess(1 << 30) // none
	}
	listeners, files := listen(t)
	heir, err := Begin(start, sockets, files)
	if err != nil {
		t.Fatal(err)
	}
	p, err := receive(first)
	if err != nil {
		t.Fatal(err)
	}
	opened, passed := p.Opened(), p.Passed()
	if len(opened) != 2 || len(passed) != 1 || len(passed["milter"]) != 1 {
		t.Fatalf("%v, %v", opened, passed)
	}
	got := []net.Listener{opened[sockets[0]], passed["milter"][0], opened[sockets[2]]}
	for i, l := range got {
		if l.Addr().String() != listeners[i].Addr().String() {
			t.Errorf("%v is %v", sockets[i], l.Addr())
		}
		accepted := make(chan error, 1)
		go func() {
			conn, err := listeners[i].Accept() // the old one's, which must not be hindered
			if err == nil {
				conn.Close()
			}
			accepted <- err
		}()
		l.Close() // which removes no file
		conn, err := net.Dial(l.Addr().Network(), l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		if err := <-accepted; err != nil {
			t.Error(err)
		}
	}
	if err := heir.Tell(Note{Word: Yours}); err != nil {
		t.Error(err)
	}
	if err := p.Await(t.Context()); err != nil || !p.yours {
		t.Error(err)
	}
	heir.End()
	if err := p.Finish(nil); err != nil {
		t.Error(err)
	}
}

// TestFinish: why a successor cannot be one reaches the predecessor; where there is none nobody is told.
func TestFinish(t *testing.T) {
	a, b := talks(t)
	wrong := errors.New("spamsim.toml:3:1: unknown key")
	p := &Predecessor{Talk: b}
	if err := p.Finish(wrong); !errors.Is(err, wrong) {
		t.Error(err)
	}
	if _, err := a.Hear(t.Context(), Ready); !errors.Is(err, ErrRefused) || !strings.HasSuffix(err.Error(), wrong.Error()) {
		t.Errorf("heard %v", err)
	}
	if err := (*Predecessor)(nil).Finish(wrong); err != wrong {
		t.Error(err)
	}
	c, d := talks(t)
	c.Close()
	p = &Predecessor{Talk: d}
	if err := p.Await(t.Context()); err != nil || !p.yours {
		t.Errorf("a predecessor that is gone leaves everything: %v", err)
	}
}

func TestReceiveNothing(t *testing.T) {
	env := func(v string) func(string) string {
		return func(name string) string { return map[string]string{variable: v}[name] }
	}
	if p, err := Receive(env("")); p != nil || err != nil {
		t.Errorf("%v, %v", p, err)
	}
	if p, err := Receive(env("99")); p != nil || !errors.Is(err, ErrTalk) {
		t.Errorf("%v, %v", p, err)
	}
	if !IsKeeper(env("keeper")) || IsKeeper(env("1")) {
		t.Error("who is a keeper?")
	}
}

// TestSelf: what the service manager told this process alone is not told to a successor.
func TestSelf(t *testing.T) {
	for _, name := range []string{"LISTEN_FDS", "LISTEN_PID", "WATCHDOG_PID", variable} {
		t.Setenv(name, "1")
	}
	t.Setenv("WATCHDOG_USEC", "5")
	p, err := Self()
	if err != nil || !filepath.IsAbs(p.Path) || !slices.Contains(p.Env, "WATCHDOG_USEC=5") {
		t.Errorf("%+v, %v", p, err)
	}
	for _, e := range p.Env {
		if strings.HasPrefix(e, "LISTEN_") || strings.HasPrefix(e, "WATCHDOG_PID") || strings.HasPrefix(e, variable) {
			t.Errorf("told %q", e)
		}
	}
}
