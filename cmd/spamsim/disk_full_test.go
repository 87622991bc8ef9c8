package main

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"net/smtp"
	"net/textproto"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"spamsim/cmd/spamsim/internal/demo"
	"spamsim/cmd/spamsim/internal/lab"
)

// smallDisk mounts a file system of n octets for the test.
func smallDisk(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("none", dir, "tmpfs", 0, fmt.Sprintf("size=%d", n)); err != nil {
		lab.Skip(t, fmt.Sprintf("a small disk cannot be mounted: %v", err))
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill takes all that is left of a disk and returns how to give it back.
func fill(t *testing.T, dir string) (free func()) {
	t.Helper()
	name := filepath.Join(dir, "ballast")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{1 << 16, 1 << 12, 1} {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
	}
	f.Close()
	return func() {
		if err := os.Remove(name); err != nil {
			t.Error(err)
		}
	}
}

// A logBook is a log that a test reads while it is written.
type logBook struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *logBook) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *logBook) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// TestStoreOnFullDisk fills the disk under the store: mail is judged and delivered all the same, the log says what is
// wrong, training says that it may be tried again, and once there is room again all that was counted reaches the disk.
func TestStoreOnFullDisk(t *testing.T) {
	disk := smallDisk(t, 512<<10)
	conf := testConfig(t, fmt.Sprintf("[store]\npath = %q\n", filepath.Join(disk, "spamsim.db")))
	var log logBook
	d, err := startDaemon(conf, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	free := fill(t, disk)
	sent := 0
	for _, m := range demo.Stream(1)[:60] {
		if err := smtp.SendMail(d.smtp[0].String(), nil, m.From, []string{m.To}, m.Raw); err != nil {
			t.Fatalf("message %d: %v", sent, err)
		}
		sent++
	}
	if got := delivered(t, conf); len(got) != sent || strings.Contains(strings.Join(got, ""), "X-Spamsim: error") {
		t.Errorf("%d of %d messages were delivered, or not judged", len(got), sent)
	}
	if err := d.store.Sync(); err == nil {
		t.Error("the full disk took it all")
	} else if !temporary(err) {
		t.Errorf("%v is not temporary", err)
	}
	if got := log.String(); !strings.Contains(got, "trouble with the store") || !strings.Contains(got, "no space left on device") {
		t.Errorf("the log does not say so:\n%s", got)
	}
	free()
	if err := d.store.Sync(); err != nil {
		t.Error(err)
	}
	before := d.store.Stats().Messages
	if err := d.stop(5 * time.Second); err != nil {
		t.Error(err)
	}
	if after := start(t, conf).store.Stats().Messages; after != before || after == 0 {
		t.Errorf("%d messages were remembered before, %d after", before, after)
	}
}

// TestTrainOnFullDisk learns nothing without saying so.
func TestTrainOnFullDisk(t *testing.T) {
	disk := smallDisk(t, 192<<10)
	store := filepath.Join(disk, "spamsim.db")
	spamsim := func(args ...string) (int, string) {
		var stdout, stderr bytes.Buffer
		return run(args, strings.NewReader(""), &stdout, &stderr), stdout.String() + stderr.String()
	}
	if status, said := spamsim("train", "--spam", "--store", store, letters(t, 3)); status != 0 {
		t.Fatalf("%d: %s", status, said)
	}
	free := fill(t, disk)
	status, said := spamsim("train", "--spam", "--store", store, letters(t, 300))
	if status != statusTemp || !strings.Contains(said, "no space left on device") {
		t.Errorf("status %d: %s", status, said)
	}
	free()
	if status, said := spamsim("train", "--spam", "--store", store, letters(t, 3)); status != 0 || !strings.Contains(said, "3 known") {
		t.Errorf("status %d: %s", status, said)
	}
}

// TestMaildirOnFullDisk tells the sender to come back, and leaves no half of a message.
func TestMaildirOnFullDisk(t *testing.T) {
	disk := smallDisk(t, 512<<10)
	conf := testConfig(t, fmt.Sprintf("[smtp]\nlisten = [\"127.0.0.1:0\"]\nnext_hop = \"maildir:%s\"\n", disk))
	d := start(t, conf)
	m := demo.Stream(1)[0]
	send := func() error { return smtp.SendMail(d.smtp[0].String(), nil, m.From, []string{m.To}, m.Raw) }
	if err := send(); err != nil {
		t.Fatal(err)
	}
	free := fill(t, disk)
	var answer *textproto.Error
	if err := send(); !errors.As(err, &answer) || answer.Code != 452 { // RFC 5321 section 4.2.2: insufficient system storage
		t.Errorf("the sender sees %v", err)
	}
	free()
	if err := send(); err != nil {
		t.Error(err)
	}
	if got := delivered(t, conf); len(got) != 2 {
		t.Errorf("%d messages, want 2", len(got))
	}
	if left, err := filepath.Glob(filepath.Join(disk, "tmp", "*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
