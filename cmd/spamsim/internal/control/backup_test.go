package control

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// TestBackup: the octets come through the socket as they are, however many.
func TestBackup(t *testing.T) {
	r := &record{file: strings.Repeat("octets\x00\r\n\xff", 100_000)}
	var b bytes.Buffer
	n, err := dial(t, serve(t, r, 100)).Backup(t.Context(), &b)
	if err != nil || n != int64(len(r.file)) || b.String() != r.file {
		t.Errorf("%d octets of %d: %v", n, len(r.file), err)
	}
}

// TestBackupOfNobody: a backup that nobody reads ends, since the store keeps its pages for it.
func TestBackupOfNobody(t *testing.T) {
	defer func(usual time.Duration) { stall = usual }(stall)
	stall = 50 * time.Millisecond
	ended := make(chan error, 1)
	r := &record{file: strings.Repeat("x", 16<<20), wrote: ended}
	conn, err := net.Dial("unix", serve(t, r, 100))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "GET /v1/backup HTTP/1.1\r\nHost: x\r\n\r\n")
	select {
	case err := <-ended:
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%v", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it waits for ever")
	}
}

// TestBackupIsCut: what goes wrong at the start is told, and what goes wrong amid is no shorter backup.
func TestBackupIsCut(t *testing.T) {
	wrong := errors.New("the disk is on fire")
	_, err := dial(t, serve(t, &record{err: wrong}, 100)).Backup(t.Context(), io.Discard)
	if err == nil || !strings.Contains(err.Error(), wrong.Error()) {
		t.Errorf("at the start: %v", err)
	}
	for _, size := range []int{1, 100_000} {
		r := &record{err: wrong, file: strings.Repeat("x", size)}
		if n, err := dial(t, serve(t, r, 100)).Backup(t.Context(), io.Discard); err == nil {
			t.Errorf("%d octets of more are taken for a backup", n)
		}
	}
}
