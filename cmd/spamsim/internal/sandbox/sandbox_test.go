package sandbox

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// envDir makes the test binary confine itself and try what it can still do in the folders below, and envErrno lets the kernel
// answer with this number when it is asked for Landlock.
const (
	envDir   = "SPAMSIM_TEST_SANDBOX"
	envErrno = "SPAMSIM_TEST_ERRNO"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(envDir); dir != "" {
		if errno, err := strconv.Atoi(os.Getenv(envErrno)); err == nil {
			forbid(unix.SYS_LANDLOCK_CREATE_RULESET, uint32(errno))
		}
		_ = json.NewEncoder(os.Stdout).Encode(try(dir))
		return
	}
	os.Exit(m.Run())
}

// forbid has the kernel answer a system call with an error, as a service manager's filter does (seccomp(2)).
func forbid(call, errno uint32) {
	filter := []unix.SockFilter{
		{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS}, // the call's number, the first field of seccomp_data
		{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jf: 1, K: call},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ERRNO | errno},
		{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_ALLOW},
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		panic(err)
	}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&program))); e != 0 {
		panic(e)
	}
}

// deeds are what a process might do; each is named for whether it is still to be possible.
func deeds(dir string) map[string]func() error {
	in := func(name string) string { return filepath.Join(dir, name) }
	return map[string]func() error{
		"may read":             func() error { _, err := os.ReadFile(in("read/file")); return err },
		"may read behind link": func() error { _, err := os.ReadFile(in("link/file")); return err },
		"may list":             func() error { _, err := os.ReadDir(in("read")); return err },
		"may write":            func() error { return os.WriteFile(in("write/file"), []byte("x"), 0o600) },
		"may truncate":         func() error { return os.Truncate(in("write/old"), 0) },
		"may make and move":    func() error { return makeAndMove(in("write")) },
		"may remove":           func() error { return os.Remove(in("write/gone")) },
		"may listen":           func() error { l, err := net.Listen("unix", in("write/s")); closeAll(l, err); return err },
		"may connect":          func() error { l, err := net.Listen("tcp", "127.0.0.1:0"); closeAll(l, err); return err },
		"may read the system":  func() error { _, err := os.ReadFile("/etc/passwd"); return err },
		"not read":             func() error { _, err := os.ReadFile(in("other/file")); return err },
		"not write":            func() error { return os.WriteFile(in("read/file"), []byte("x"), 0o600) },
		"not make":             func() error { return os.WriteFile(in("other/new"), []byte("x"), 0o600) },
		"not remove":           func() error { return os.Remove(in("read/file")) },
		"not move away":        func() error { return os.Rename(in("write/kept"), in("other/kept")) },
		"not run":              func() error { return exec.Command("/bin/true").Run() },
		"not write the system": func() error { return os.WriteFile("/etc/spamsim-test", nil, 0o600) },
	}
}

func makeAndMove(dir string) error {
	for _, sub := range []string{"/tmp", "/new"} {
		if err := os.Mkdir(dir+sub, 0o700); err != nil {
			return err
		}
	}
	if err := os.WriteFile(dir+"/tmp/m", nil, 0o600); err != nil {
		return err
	}
	return os.Rename(dir+"/tmp/m", dir+"/new/m")
}

func closeAll(l net.Listener, err error) {
	if err == nil {
		l.Close()
	}
}

// An outcome is what a confined process could do.
type outcome struct {
	Active bool
	Err    string
	Done   []string
}

func try(dir string) outcome {
	active, err := Restrict([]string{dir + "/link", dir + "/missing"}, []string{dir + "/write"})
	o := outcome{Active: active}
	if err != nil {
		o.Err = err.Error()
	}
	for name, do := range deeds(dir) {
		if do() == nil {
			o.Done = append(o.Done, name)
		}
	}
	slices.Sort(o.Done)
	return o
}

// confined is what a process could do that confined itself, with more in its environment.
func confined(t *testing.T, dir string, env ...string) (o outcome) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), envDir+"="+dir, "GORACE=atexit_sleep_ms=0"), env...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &o); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	return o
}

// TestRestrictForbidden: a kernel that cannot is no error, a filter of system calls that forbids it is one.
func TestRestrictForbidden(t *testing.T) {
	for errno, want := range map[syscall.Errno]string{
		syscall.ENOSYS: "", syscall.EOPNOTSUPP: "", syscall.EPERM: "landlock: operation not permitted",
	} {
		if got := confined(t, t.TempDir(), fmt.Sprintf("%s=%d", envErrno, errno)); got.Active || got.Err != want {
			t.Errorf("%v: %+v, want the error %q", errno, got, want)
		}
	}
}

// TestRestrict: a process of its own confines itself and tries. Where the kernel has no Landlock nothing is in the way.
func TestRestrict(t *testing.T) {
	dir := t.TempDir()
	for _, sub := range []string{"read", "write", "other"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"file", "old", "gone", "kept"} {
			if err := os.WriteFile(filepath.Join(dir, sub, name), []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Symlink("read", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	got := confined(t, dir)
	if got.Err != "" {
		t.Fatal(got.Err)
	}
	for name := range deeds(dir) {
		want := strings.HasPrefix(name, "may ") || !got.Active
		if slices.Contains(got.Done, name) != want && !(name == "not write the system" && os.Geteuid() != 0) {
			t.Errorf("%s: possible %v, with Landlock %v", name, !want, got.Active)
		}
	}
}

func TestFoldersOf(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(dir+"/archive", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/archive/cert1.pem", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("archive/cert1.pem", dir+"/cert.pem"); err != nil {
		t.Fatal(err)
	}
	if got, want := FoldersOf("", dir+"/cert.pem", "/nowhere/x"), []string{dir, dir + "/archive", "/nowhere"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
