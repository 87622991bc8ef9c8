package control

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
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
