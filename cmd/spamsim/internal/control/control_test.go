package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"spamsim/milter/filter"
	"spamsim/store"
)

// TestMain looks for goroutines left behind; net/http lingers half a second on a connection whose body it did not read.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("net/http.(*conn).closeWriteAndWait"))
}

// record is a Service that notes what it is asked.
type record struct {
	mu    sync.Mutex
	calls []string
	err   error
	file  string          // of Backup
	env   filter.Envelope // of the last Judge
	wrote chan error      // told how the file's writing ended, where it is not nil
	block chan struct{}   // Check and Compact wait for it where it is not nil

	stopped chan struct{} // told when Compact was given up
}

func (r *record) note(format string, args ...any) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, fmt.Sprintf(format, args...))
	return r.err
}

var judgement = filter.Judgement{
	Verdict: filter.Verdict{Kind: filter.Bulk, Sigma: 4.6, Judged: true, Cluster: "7f3a", Copies: 37, Senders: filter.Count{N: 64, Approx: true}},
	Add:     []filter.Field{{Name: "X-Spamsim", Value: " bulk;\n\tsigma=4.6"}},
	Strip:   []string{"X-Spamsim"},
}

func (r *record) Check(ctx context.Context, raw []byte, ask Ask) (filter.Judgement, error) {
	if r.block != nil {
		select {
		case <-r.block:
		case <-ctx.Done():
			return filter.Judgement{}, ctx.Err()
		}
	}
	return judgement, r.note("check %q %v", raw, ask.query())
}

func (r *record) Explain(_ context.Context, raw []byte, ask Ask) (filter.Explanation, error) {
	return explanation, r.note("explain %q %v", raw, ask.query())
}

func (r *record) Train(_ context.Context, raw []byte, l filter.Label) (filter.Outcome, error) {
	return filter.Outcome{Done: true, Cluster: "7f3a"}, r.note("train %q %d", raw, l)
}

func (r *record) Forget(_ context.Context, raw []byte) (filter.Outcome, error) {
	return filter.Outcome{Reason: "unknown"}, r.note("forget %q", raw)
}

func (r *record) ForgetPerson(_ context.Context, as store.Role, address string) (store.Forgotten, error) {
	return store.Forgotten{Messages: 2, Subjects: 1}, r.note("person %d %q", as, address)
}

func (r *record) Sync(context.Context) error { return r.note("sync") }

func (r *record) Stats(context.Context) (Stats, error) {
	return Stats{Store: "x.db", Messages: []VerdictStat{{"smtp", "bulk", "", 3}}}, r.note("stats")
}

func (r *record) Settings(context.Context) (map[string]string, error) {
	return map[string]string{"bulk.count": "5"}, r.note("settings")
}

func (r *record) Backup(_ context.Context, w io.Writer) (int64, error) {
	n := 0
	if r.file != "" {
		var err error
		n, err = io.WriteString(w, r.file)
		if r.wrote != nil {
			r.wrote <- err
		}
	}
	return int64(n), r.note("backup")
}

var campaign = store.Campaign{
	ID: "7f3a", Name: "pears \u202e", Label: filter.Spam, Copies: 3, Nets: store.Count{N: 65, Approx: true}, First: time.Unix(1e9, 0).UTC(),
	Last: time.Unix(1e9+5, 0).UTC(), Sample: "\x1b", Heat: 2.5,
}

var detail = store.Detail{Campaign: campaign, Hours: []store.Hour{{Start: time.Unix(3600, 0).UTC(), Copies: 3}}, BySender: []int{2, 1}, Features: 9, Constant: 4}

func (r *record) Campaigns(_ context.Context, v store.View, limit int) ([]store.Campaign, error) {
	return []store.Campaign{campaign}, r.note("campaigns %d %d", v, limit)
}

func (r *record) Campaign(_ context.Context, id string) (store.Detail, error) {
	return detail, r.note("campaign %s", id)
}

func (r *record) Label(_ context.Context, id string, l filter.Label, name *string) (store.Campaign, error) {
	told := "as it is"
	if name != nil {
		told = fmt.Sprintf("%q", *name)
	}
	return campaign, r.note("label %s %v %s", id, l, told)
}

func (r *record) Drop(_ context.Context, id string) (int, error) { return 3, r.note("drop %s", id) }

var explanation = filter.Explanation{
	Verdict: judgement.Verdict, Threshold: 3, Rules: []string{"letter"}, Text: "äpfel <b>\x01",
	Store: store.Explanation{
		Spoken: 0, Matches: []store.Match{{Cluster: "7f3a", Sample: "\u202e", Chance: [3]float64{1, 2.5, 1e6}, Copy: true}},
		Spans:   []store.Span{{Mark: store.Both, Text: "äpfel"}, {Mark: store.Differs, Text: "<b>"}},
		Telling: []store.Shared{{Text: "a b", Weight: 6.5}}, Features: store.Overlap{Message: 9, Shared: 3},
	},
}

// serve runs a server over s on a socket in a new folder.
func serve(t *testing.T, s Service, limit int64) string {
	t.Helper()
	socket := SocketOf(filepath.Join(t.TempDir(), "x.db"))
	l, err := Listen(socket)
	if err != nil {
		t.Fatal(err)
	}
	server := NewServer(s, limit, slog.New(slog.DiscardHandler))
	done := make(chan error)
	go func() { done <- server.Serve(l) }()
	t.Cleanup(func() {
		if err := errors.Join(server.Close(), <-done); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(socket); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the socket is still there: %v", err)
		}
	})
	return socket
}

func dial(t *testing.T, socket string) *Client {
	t.Helper()
	c, err := Dial(socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestCalls makes every call through a socket: what is sent arrives, and what is answered comes back.
func TestCalls(t *testing.T) {
	r := &record{}
	c := dial(t, serve(t, r, 100))
	ctx := t.Context()
	raw := []byte("Subject: \x00\xff\r\n\r\n.\r\n")
	j, err := c.Check(ctx, raw, Ask{Learn: true, Sender: new(string), Recipients: []string{"a@x", "b&c@x"}, Client: "::1", Helo: "h"})
	if d := cmp.Diff(judgement, j); d != "" || err != nil {
		t.Errorf("check: %v\n%s", err, d)
	}
	if _, err := c.Check(ctx, nil, Ask{}); err != nil {
		t.Error(err)
	}
	e, err := c.Explain(ctx, raw, Ask{Client: "::1"})
	if d := cmp.Diff(explanation, e); d != "" || err != nil {
		t.Errorf("explain: %v\n%s", err, d)
	}
	if o, err := c.Train(ctx, raw, filter.Ham); err != nil || o != (filter.Outcome{Done: true, Cluster: "7f3a"}) {
		t.Errorf("train: %+v, %v", o, err)
	}
	if o, err := c.Forget(ctx, raw); err != nil || o.Reason != "unknown" {
		t.Errorf("forget: %+v, %v", o, err)
	}
	if err := c.Sync(ctx); err != nil {
		t.Error(err)
	}
	if s, err := c.Stats(ctx); err != nil || s.Store != "x.db" || len(s.Messages) != 1 || s.Messages[0].N != 3 {
		t.Errorf("stats: %+v, %v", s, err)
	}
	if s, err := c.Settings(ctx); err != nil || len(s) != 1 || s["bulk.count"] != "5" {
		t.Errorf("settings: %v, %v", s, err)
	}
	q := fmt.Sprintf("%q", raw)
	want := []string{"check " + q + " client=%3A%3A1&helo=h&learn=true&recipient=a%40x&recipient=b%26c%40x&sender=", `check "" learn=false`, "explain " + q + " client=%3A%3A1&learn=false", "train " + q + " 2", "forget " + q, "sync", "stats", "settings"}
	if d := cmp.Diff(want, r.calls); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

func TestOwnFailure(t *testing.T) {
	c := dial(t, serve(t, &record{err: errors.New("disk on fire")}, 100))
	if _, err := c.Train(t.Context(), nil, filter.Spam); err == nil || err.Error() != "the daemon says: disk on fire" {
		t.Errorf("%v", err)
	}
	if _, err := c.Train(t.Context(), nil, filter.None); err == nil || err.Error() != "the daemon says: label is spam or ham" {
		t.Errorf("%v", err)
	}
}

// TestNotNow: what may pass is known to whoever asks the daemon, too.
func TestNotNow(t *testing.T) {
	for wrong, want := range map[error]bool{
		fmt.Errorf("commit: %w", syscall.ENOSPC): true, store.ErrCompacting: true, errors.New("disk on fire"): false,
	} {
		c := dial(t, serve(t, &record{err: wrong}, 100))
		_, train := c.Train(t.Context(), nil, filter.Spam)
		_, compact := c.Compact(t.Context(), func(int64, int64) {})
		for _, err := range []error{train, compact} {
			if err == nil || err.Error() != "the daemon says: "+wrong.Error() || Temporary(err) != want {
				t.Errorf("%v, temporary %v, want %v", err, Temporary(err), want)
			}
		}
	}
}

// TestLimit sends messages at and over the limit, also with 100 MB: those over it are refused before they are read.
func TestLimit(t *testing.T) {
	r := &record{}
	c := dial(t, serve(t, r, 1000))
	for size, want := range map[int]error{1000: nil, 1001: ErrTooLarge, 100 << 20: ErrTooLarge} {
		if _, err := c.Check(t.Context(), make([]byte, size), Ask{}); !errors.Is(err, want) {
			t.Errorf("%d octets: %v", size, err)
		}
	}
	if len(r.calls) != 1 {
		t.Errorf("%d messages were judged", len(r.calls))
	}
}

// TestRefusalIsHeard sends more than the limit and than a socket takes ahead, and reads only then, on a connection that is to be
// closed.
func TestRefusalIsHeard(t *testing.T) {
	const limit = 2 << 20
	conn, err := net.Dial("unix", serve(t, &record{}, limit))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn, "POST /check HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s",
		limit+1, strings.Repeat("x", limit+1)); err != nil {
		t.Fatal(err)
	}
	if answer, err := io.ReadAll(conn); err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 413") {
		t.Errorf("%.60q, %v", answer, err)
	}
}

// TestChunkedBody sends a body whose length is not told: the limit holds all the same.
func TestChunkedBody(t *testing.T) {
	r := &record{}
	socket := serve(t, r, 1000)
	for size, want := range map[int]string{1000: "200", 1001: "413"} {
		conn, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST /v1/forget HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", size, strings.Repeat("x", size))
		answer, err := io.ReadAll(conn)
		if err != nil || !strings.HasPrefix(string(answer), "HTTP/1.1 "+want) {
			t.Errorf("%d octets: %.60s, %v", size, answer, err)
		}
		conn.Close()
	}
}

// TestGone waits for a daemon that hangs: the caller's patience ends the call.
func TestGone(t *testing.T) {
	r := &record{block: make(chan struct{})}
	c := dial(t, serve(t, r, 1000))
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if _, err := c.Check(ctx, nil, Ask{}); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, ErrUnavailable) {
		t.Errorf("%v", err)
	}
}

// TestHung: a daemon that hangs does not hang who asks without a patience of his own.
func TestHung(t *testing.T) {
	defer func(usual time.Duration) { patience = usual }(patience)
	patience = 20 * time.Millisecond
	r := &record{block: make(chan struct{})}
	if _, err := dial(t, serve(t, r, 1000)).Check(t.Context(), nil, Ask{}); !errors.Is(err, ErrUnavailable) {
		t.Errorf("%v", err)
	}
}

func TestNoDaemon(t *testing.T) {
	dir := t.TempDir()
	stale := filepath.Join(dir, "stale.sock")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: stale})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	file := filepath.Join(dir, "file.sock")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, socket := range []string{stale, file, filepath.Join(dir, "none"), filepath.Join(dir, strings.Repeat("d/", 60), "none")} {
		if _, err := Dial(socket); !errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: %v", socket, err)
		}
	}
	if l, err := Listen(stale); err != nil {
		t.Errorf("a socket left over is not replaced: %v", err)
	} else if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := Listen(file); err == nil {
		t.Error("a file that is no socket was replaced")
	}
	if _, err := Listen(filepath.Join(dir, "none", "x.sock")); err == nil {
		t.Error("listened in a folder that is not there")
	}
}

// TestBind: whatever the process lets others do, they cannot use a new socket before its mode is set, and files that are
// made meanwhile have the modes that the process gives them.
func TestBind(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir := t.TempDir()
	made, stop := make(chan error, 1), make(chan struct{})
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				made <- nil
				return
			default:
			}
			file := filepath.Join(dir, "file")
			err := os.WriteFile(file, nil, 0o666)
			info, statErr := os.Stat(file)
			if err = errors.Join(err, statErr); err == nil && info.Mode().Perm() != 0o666 {
				err = fmt.Errorf("file %d has mode %v", i, info.Mode())
			}
			if err = errors.Join(err, os.Remove(file)); err != nil {
				made <- err
				return
			}
		}
	}()
	for range 50 {
		socket := filepath.Join(dir, "s")
		l, err := bind(socket)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(socket); err != nil || info.Mode().Perm() != 0o660 {
			t.Errorf("%v, %v", info, err)
		}
		l.Close()
	}
	close(stop)
	if err := <-made; err != nil {
		t.Error(err)
	}
}

// TestSocket looks at the mode, and at a path that is longer than the name of a socket may be.
func TestSocket(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("long/", 40))
	if err := os.MkdirAll(long, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{t.TempDir(), long} {
		socket := filepath.Join(dir, "x.sock")
		l, err := Listen(socket)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(socket); err != nil || info.Mode() != fs.ModeSocket|0o660 {
			t.Errorf("mode %v, %v", info, err)
		}
		c, err := Dial(socket)
		if err != nil {
			t.Errorf("%d octets: %v", len(socket), err)
		} else {
			c.Close()
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if _, err := os.Lstat(socket); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the socket is still there: %v", err)
		}
	}
}
