package lab

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A Cell is a folder that is the whole world of a server (chroot): the programs of Debian packages that were unpacked, not
// installed, the libraries that these load, users and devices of its own. So servers that exclude one another run side by
// side, with their files where their manuals say, and nothing of the machine is changed.
type Cell struct {
	Dir string // as the test sees it

	t    testing.TB
	libs *libraries
}

// cellUsers are the users of every cell, as passwd has them. The services' own are those that their packages would make;
// user and other receive mail.
const cellUsers = `root:x:0:0::/root:/bin/sh
mail:x:8:8::/var/mail:/bin/sh
Debian-exim:x:901:901::/var/spool/exim4:/bin/false
opensmtpd:x:902:902::/var/lib/opensmtpd/empty:/bin/false
opensmtpq:x:903:903::/var/lib/opensmtpd/empty:/bin/false
dovecot:x:904:904::/usr/lib/dovecot:/bin/false
dovenull:x:905:905::/nonexistent:/bin/false
spamsim:x:906:906::/var/lib/spamsim:/bin/false
user:x:1000:1000::/home/user:/bin/sh
other:x:1001:1001::/home/other:/bin/sh
nobody:x:65534:65534::/nonexistent:/bin/false
`

// The users of a cell by number, where a test needs them.
const (
	CellExim      = 901
	CellOpensmtpq = 903
	CellSpamsim   = 906
	CellUser      = 1000
)

// NewCell makes a cell with the given packages and a shell in it. It needs root, and the packages unpacked by .ci/servers,
// and skips the test otherwise.
func NewCell(t testing.TB, packages ...string) *Cell {
	t.Helper()
	NeedUnpacked(t, packages...)
	c := &Cell{Dir: t.TempDir(), t: t, libs: newLibraries()}
	c.world()
	for _, p := range packages {
		c.unpacked(filepath.Join(serversDir(), p))
	}
	c.Install("/bin/sh", "/usr/bin/sh")
	return c
}

// world makes what every program expects to find.
func (c *Cell) world() {
	for _, name := range []string{"bin", "sbin", "lib", "lib64"} {
		c.must(os.MkdirAll(c.host("/usr/"+name), 0o755))
		c.must(os.Symlink("usr/"+name, c.host("/"+name)))
	}
	c.Folder("/tmp", 0, 0o1777)
	c.Folder("/var/mail", 8, 0o2775)
	c.Folder("/home/user", CellUser, 0o755)
	c.Folder("/home/other", CellUser+1, 0o755)
	c.must(os.MkdirAll(c.host("/run"), 0o755))
	c.must(os.MkdirAll(c.host("/var/log"), 0o755))
	c.must(os.Symlink("/run", c.host("/var/run")))
	c.Write("/etc/passwd", cellUsers)
	var groups strings.Builder
	for line := range strings.Lines(cellUsers) {
		f := strings.Split(line, ":")
		fmt.Fprintf(&groups, "%s:x:%s:%s\n", f[0], f[3], cellMembers[f[0]])
	}
	c.Write("/etc/group", groups.String())
	c.Write("/etc/hosts", "127.0.0.1 localhost mx.lab.test\n")
	c.Write("/etc/mailname", "mx.lab.test\n")
	c.Write("/etc/services", "smtp 25/tcp\nlmtp 24/tcp\nimap2 143/tcp imap\n")
	c.must(os.MkdirAll(c.host("/dev"), 0o755))
	for name, minor := range map[string]int{"null": 3, "zero": 5, "random": 8, "urandom": 9} {
		c.must(syscall.Mknod(c.host("/dev/"+name), syscall.S_IFCHR, 1<<8|minor)) // of Linux's memory devices, major 1
		c.must(os.Chmod(c.host("/dev/"+name), 0o666))
	}
}

// cellMembers are the further members of a group: who may use spamsim's sockets.
var cellMembers = map[string]string{"spamsim": "Debian-exim,dovecot,user"}

// host is where a path of the cell lies as the test sees it.
func (c *Cell) host(path string) string { return filepath.Join(c.Dir, path) }

func (c *Cell) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatalf("cell: %v", err)
	}
}

// unpacked copies a package's programs and configuration, not its documentation, and the libraries of its programs.
func (c *Cell) unpacked(dir string) {
	c.t.Helper()
	c.must(filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		inside := strings.TrimPrefix(path, dir)
		switch {
		case err != nil:
			return err
		case e.IsDir() && (inside == "/usr/share/doc" || inside == "/usr/share/man" || inside == "/lib/systemd"):
			return fs.SkipDir
		case e.IsDir():
			return os.MkdirAll(c.host(inside), 0o755)
		case e.Type() == fs.ModeSymlink:
			target, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(target, c.host(inside))
		}
		return c.install(path, inside)
	}))
}

// Install puts a program of this machine into the cell, with its libraries.
func (c *Cell) Install(path, inside string) {
	c.t.Helper()
	c.must(c.install(path, inside))
}

// install copies a file, its mode included, and what it loads if it is a program.
func (c *Cell) install(path, inside string) error {
	if err := copyFile(path, c.host(inside)); err != nil {
		return err
	}
	for _, lib := range c.libs.of(path) {
		if _, err := os.Stat(c.host(lib.inside)); err == nil {
			continue
		}
		if err := copyFile(lib.path, c.host(lib.inside)); err != nil {
			return err
		}
	}
	return nil
}

// copyFile copies a file with its mode, and makes the folders above it.
func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	// A child that is forked while a program is open for writing keeps it so, and nobody can run it ("text file busy").
	syscall.ForkLock.RLock()
	err = os.WriteFile(to, text, 0o600)
	syscall.ForkLock.RUnlock()
	if err != nil {
		return err
	}
	return os.Chmod(to, info.Mode()) // setuid too, which the umask and WriteFile drop
}

// Write writes a file of the cell that everybody may read.
func (c *Cell) Write(path, text string) {
	c.t.Helper()
	c.must(os.MkdirAll(filepath.Dir(c.host(path)), 0o755))
	c.must(os.WriteFile(c.host(path), []byte(text), 0o644))
	c.must(os.Chmod(c.host(path), 0o644))
}

// Script writes a program of the cell.
func (c *Cell) Script(path, text string) {
	c.t.Helper()
	c.Write(path, text)
	c.must(os.Chmod(c.host(path), 0o755))
}

// Symlink makes a link in the cell, and the folders above it.
func (c *Cell) Symlink(target, path string) {
	c.t.Helper()
	c.must(os.MkdirAll(filepath.Dir(c.host(path)), 0o755))
	c.must(os.Symlink(target, c.host(path)))
}

// Rename moves a file of the cell.
func (c *Cell) Rename(from, to string) {
	c.t.Helper()
	c.must(os.Rename(c.host(from), c.host(to)))
}

// Read returns a file of the cell; nothing where there is none.
func (c *Cell) Read(path string) string {
	text, _ := os.ReadFile(c.host(path))
	return string(text)
}

// Folder makes a folder of the cell that belongs to a user and his group.
func (c *Cell) Folder(path string, user int, mode os.FileMode) {
	c.t.Helper()
	c.must(os.MkdirAll(c.host(path), 0o755))
	c.must(os.Chown(c.host(path), user, user))
	c.must(syscall.Chmod(c.host(path), uint32(mode))) // os.Chmod has bits of its own above 0777
}

// Command is a program of the cell, run by root; its path is that in the cell. It is in a session of its own.
func (c *Cell) Command(path string, args ...string) *exec.Cmd {
	cmd := exec.Command(path, args...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=/usr/sbin:/usr/bin", "HOME=/root", "GORACE=atexit_sleep_ms=0"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Chroot: c.Dir, Setsid: true}
	return cmd
}

// As makes a command that of another user of the cell, and of further groups.
func As(cmd *exec.Cmd, user uint32, groups ...uint32) *exec.Cmd {
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: user, Gid: user, Groups: groups}
	return cmd
}

// Mails returns the messages in a maildir of the cell, in the order of their names.
func (c *Cell) Mails(maildir string) [][]byte {
	var all [][]byte
	for _, sub := range []string{"cur", "new"} {
		paths, _ := filepath.Glob(filepath.Join(c.host(maildir), sub, "*"))
		for _, path := range paths {
			if raw, err := os.ReadFile(path); err == nil {
				all = append(all, raw)
			}
		}
	}
	return all
}
