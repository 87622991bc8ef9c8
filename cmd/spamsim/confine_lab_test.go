package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"spamsim/cmd/spamsim/internal/lab"
)

// TestConfined: a daemon that reaches no files but its own takes mail by every door, delivers it into a maildir that lies
// elsewhere, takes up a certificate that was replaced behind its link, ends, and begins again.
func TestConfined(t *testing.T) {
	dir := t.TempDir()
	sockets, mail := filepath.Join(dir, "sockets"), filepath.Join(dir, "mail/box")
	if err := os.Mkdir(sockets, 0o755); err != nil {
		t.Fatal(err)
	}
	issue := func(name string) { // as certbot does: a new file, and the link is moved
		old, link := newPair(t, name), filepath.Join(dir, "live")
		if err := os.MkdirAll(filepath.Join(dir, "archive"), 0o700); err != nil {
			t.Fatal(err)
		}
		for suffix, file := range map[string]string{"cert": old.certificate, "key": old.key} {
			to := filepath.Join(dir, "archive", name+"."+suffix)
			if err := os.Rename(file, to); err != nil {
				t.Fatal(err)
			}
			_ = os.Remove(link + "." + suffix)
			if err := os.Symlink(to, link+"."+suffix); err != nil {
				t.Fatal(err)
			}
		}
	}
	issue("old.example")
	addr := lab.FreeAddr(t)
	s := lab.StartSpamsim(t, fmt.Sprintf("mode = \"enforce\"\n[smtp]\nlisten = [%q, \"unix:%s/smtp\"]\nnext_hop = \"maildir:%s\"\n"+
		"[milter]\nlisten = [\"unix:%s/milter\"]\n[dccifd]\nlisten = [\"unix:%s/dccifd\"]\n[tls]\ncertificate = %q\nkey = %q\n[actions]\nbulk = \"quarantine\"\n",
		addr, sockets, mail, sockets, sockets, dir+"/live.cert", dir+"/live.key"))
	for life := range 2 {
		for i := range 4 {
			text := []byte(fmt.Sprintf("Message-ID: <%d.%d@x>\r\n\r\n%s\r\n", life, i, strings.Repeat("the very same words of a campaign that many receive ", 9)))
			if reply := lab.Send(t, addr, "a@lab.test", []string{"b@lab.test"}, text); reply[0] != '2' {
				t.Fatalf("message %d: %s", i, reply)
			}
		}
		issue("new.example")
		if got := names(t, addr); !slices.Equal(got, []string{"new.example"}) {
			t.Errorf("the certificate is for %q", got)
		}
		s.Stop()
		if left, _ := os.ReadDir(sockets); len(left) != 0 {
			t.Errorf("left behind: %v", left)
		}
		s.Start()
	}
	if boxed, _ := os.ReadDir(filepath.Join(mail, "new")); len(boxed) != 4 {
		t.Errorf("%d messages in the maildir, want the 4 before the campaign was known", len(boxed))
	}
	if list := s.Run("quarantine", "list"); strings.Count(list, "a@lab.test") != 4 {
		t.Errorf("in the quarantine:\n%s", list)
	}
	if log := s.Log(); strings.Contains(log, "level=WARN") || strings.Contains(log, "level=ERROR") || strings.Count(log, "files are ") != 3 {
		t.Errorf("the log:\n%s", log)
	}
	modes(t, map[string]os.FileMode{filepath.Join(mail, "new"): 0o700, mail: 0o700, sockets + "/milter": 0o660, sockets + "/smtp": 0o660, sockets + "/dccifd": 0o660})
}

// modes checks who may do what with files, beside their owner.
func modes(t *testing.T, want map[string]os.FileMode) {
	t.Helper()
	for path, mode := range want {
		info, err := os.Stat(path)
		if err != nil {
			t.Error(err)
		} else if got := info.Mode().Perm(); got != mode {
			t.Errorf("%s: mode %o, want %o", path, got, mode)
		}
	}
}
