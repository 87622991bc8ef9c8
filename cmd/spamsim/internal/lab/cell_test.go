package lab

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestNeedUnpacked(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(Servers, dir)
	t.Setenv(NoSkip, "")
	f := &fakeTB{}
	f.run(func() { NeedUnpacked(f, "exim4-daemon-light") })
	if f.skipped != "needs exim4-daemon-light, unpacked: .ci/servers" {
		t.Errorf("skipped with %q", f.skipped)
	}
	if err := os.Mkdir(dir+"/exim4-daemon-light", 0o755); err != nil {
		t.Fatal(err)
	}
	f = &fakeTB{}
	f.run(func() { NeedUnpacked(f, "exim4-daemon-light") })
	if root := os.Geteuid() == 0; root != (f.skipped == "") {
		t.Errorf("as root: %v, skipped with %q", root, f.skipped)
	}
}

func TestLibraries(t *testing.T) {
	var names []string
	l := newLibraries()
	for _, lib := range l.of("/bin/sh") {
		if _, err := os.Stat(lib.path); err != nil {
			t.Error(err)
		}
		names = append(names, lib.inside[strings.LastIndexByte(lib.inside, '/')+1:])
	}
	if !slices.Contains(names, "libc.so.6") || !slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "ld-") }) {
		t.Errorf("the shell loads %q", names)
	}
	if again := l.of("/bin/sh"); len(again) != 1 { // its loader
		t.Errorf("asked again: %q", again)
	}
	if none := newLibraries().of("cell_test.go"); none != nil {
		t.Errorf("a text loads %q", none)
	}
}

// TestCell: a program of the cell sees the cell's files alone, and has the user that it was given.
func TestCell(t *testing.T) {
	c := NewCell(t)
	c.Script("/usr/bin/say", "#!/bin/sh\nread -r user </etc/passwd; echo \"$user\"\necho seen >/tmp/seen\ncd "+c.Dir+" 2>/dev/null && echo outside\nexit 0\n")
	if out := c.Run(t, As(c.Command("/usr/bin/say"), CellUser)); out != "root:x:0:0::/root:/bin/sh\n" {
		t.Errorf("the program says %q", out)
	}
	if got := c.Read("/tmp/seen"); got != "seen\n" {
		t.Errorf("it wrote %q", got)
	}
	info, err := os.Stat(c.Dir + "/tmp/seen")
	if err != nil {
		t.Fatal(err)
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; owner != CellUser {
		t.Errorf("what it wrote belongs to %d", owner)
	}
}

// TestFreeAddr: no address is handed out twice, and none that is taken.
func TestFreeAddr(t *testing.T) {
	seen := map[string]bool{}
	for range 200 {
		addr := FreeAddr(t)
		if seen[addr] || listens(addr) {
			t.Fatalf("%s again, or taken", addr)
		}
		seen[addr] = true
	}
}
