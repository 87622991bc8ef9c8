package lab

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A Postfix is a running private instance: own configuration, queue and data folders, own loopback ports, no systemd.
type Postfix struct {
	Addr   string // where clients send
	Inject string // where filtered mail comes back: no filter, no milter

	dir    string
	master *exec.Cmd
}

// StartPostfix starts an instance that lives until the test ends. It needs Debian's postfix and root and skips the
// test otherwise. Where the test fails, the instance's log is printed.
func StartPostfix(t testing.TB, c PostfixConfig) *Postfix {
	t.Helper()
	Need(t, "postfix")
	if c.Addr == "" {
		c.Addr = FreeAddr(t)
	}
	if c.Inject == "" {
		c.Inject = FreeAddr(t)
	}
	p := &Postfix{Addr: c.Addr, Inject: c.Inject, dir: postfixDir(t)}
	p.write(t, "conf/main.cf", c.main(p.dir))
	p.write(t, "conf/master.cf", c.master())
	p.run(t, "postfix", "-c", p.dir+"/conf", "check")
	p.start(t)
	Eventually(t, "postfix listens on "+p.Addr, func() bool { return listens(p.Addr) && listens(p.Inject) })
	return p
}

// owners are the folders of an instance that Postfix does not make by itself, and who owns each.
var owners = map[string]string{".": "root", "conf": "root", "queue": "root", "data": "postfix", "mail": "nobody"}

// postfixDir makes the instance's folders. They lie beside, not inside, the test's own folder: Postfix's processes
// change users and must be able to walk there.
func postfixDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "spamsim-postfix-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	for name, owner := range owners {
		if err := makeFolder(filepath.Join(dir, name), owner); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// makeFolder makes a folder that everybody may read, whatever the umask says.
func makeFolder(path, owner string) error {
	u, err := user.Lookup(owner)
	if err != nil {
		return err
	}
	uid, _ := strconv.Atoi(u.Uid)
	gid, _ := strconv.Atoi(u.Gid)
	if err := os.MkdirAll(path, 0o755); err != nil {
		return err
	}
	return errors.Join(os.Chown(path, uid, gid), os.Chmod(path, 0o755))
}

// write writes a file of the configuration and dates it back: Postfix waits two seconds rather than read a file that
// may still be changing.
func (p *Postfix) write(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join(p.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	past := time.Now().Add(-time.Minute)
	if err := os.Chtimes(path, past, past); err != nil {
		t.Fatal(err)
	}
}

// run runs one of Postfix's commands to its end and returns what it printed; warnings are left out.
func (p *Postfix) run(t testing.TB, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command("/usr/sbin/"+name, args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSpace(string(out))
}

// start runs Postfix until the test ends.
func (p *Postfix) start(t testing.TB) {
	t.Helper()
	p.launch(t)
	t.Cleanup(func() {
		p.Stop()
		if t.Failed() {
			t.Logf("postfix log:\n%s", p.Log())
		}
	})
}

// launch runs Postfix's master as our own child, in a session of its own since it ends its children by process group.
// It stops by itself after ten minutes (-e), should the test be killed.
func (p *Postfix) launch(t testing.TB) {
	t.Helper()
	daemons := p.run(t, "postconf", "-c", p.dir+"/conf", "-h", "daemon_directory")
	p.master = exec.Command(daemons+"/master", "-c", p.dir+"/conf", "-d", "-e", "600")
	p.master.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := p.master.Start(); err != nil {
		t.Fatal(err)
	}
}

// Stop ends the instance and returns once nothing listens any more: master does not wait for its children.
func (p *Postfix) Stop() {
	_ = p.master.Process.Signal(syscall.SIGTERM)
	_ = p.master.Wait() // SIGTERM is no clean exit to Wait
	for end := time.Now().Add(Patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if !listens(p.Addr) && !listens(p.Inject) {
			return
		}
	}
}

// running tells whether a process of the group runs; one that is dead and was not waited for does not.
func running(group int) bool {
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range stats {
		text, _ := os.ReadFile(path)
		_, rest, _ := strings.Cut(string(text), ") ")
		if f := strings.Fields(rest); len(f) > 2 && f[2] == strconv.Itoa(group) && f[0] != "Z" && f[0] != "X" {
			return true
		}
	}
	return false
}

// Kill ends the instance in the middle of whatever it does, all its processes at once, and starts it again. In between it
// calls dead.
func (p *Postfix) Kill(t testing.TB, dead func()) {
	t.Helper()
	_ = syscall.Kill(-p.master.Process.Pid, syscall.SIGKILL)
	_ = p.master.Wait()
	Eventually(t, "nothing of postfix runs", func() bool { return !running(p.master.Process.Pid) })
	dead()
	p.launch(t)
	Eventually(t, "postfix listens again on "+p.Addr, func() bool { return listens(p.Addr) && listens(p.Inject) })
}

// Config is the folder of main.cf and master.cf.
func (p *Postfix) Config() string { return filepath.Join(p.dir, "conf") }

// Log returns what Postfix logged so far.
func (p *Postfix) Log() string {
	text, _ := os.ReadFile(filepath.Join(p.dir, "log"))
	return string(text)
}

// WaitLog waits for a log line that matches the pattern and returns the match with its groups.
func (p *Postfix) WaitLog(t testing.TB, pattern string) []string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	var found []string
	Eventually(t, "postfix logs "+pattern, func() bool {
		found = re.FindStringSubmatch(p.Log())
		return found != nil
	})
	return found
}

// Queued counts the messages that Postfix has taken and not yet got rid of. A file that it still writes, or was writing when
// it was killed, cannot be executed; one that it has taken can.
func (p *Postfix) Queued() int {
	n := 0
	for _, queue := range []string{"incoming", "active", "deferred", "hold"} {
		_ = filepath.WalkDir(filepath.Join(p.dir, "queue", queue), func(_ string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return nil // a file may be gone by now
			}
			if info, err := e.Info(); err == nil && info.Mode()&0o100 != 0 {
				n++
			}
			return nil
		})
	}
	return n
}

// Drain waits until the queue is empty. It asks for another attempt at what is deferred once a second: one alone passes over a
// message that is just being deferred.
func (p *Postfix) Drain(t testing.TB) {
	t.Helper()
	var asked time.Time
	Eventually(t, "the queue is empty", func() bool {
		if time.Since(asked) > time.Second {
			p.run(t, "postqueue", "-c", p.dir+"/conf", "-f")
			asked = time.Now()
		}
		return p.Queued() == 0
	})
}

// Mailbox returns the messages in the maildir so far, oldest first, with the Return-Path, X-Original-To and
// Delivered-To fields that Postfix puts on top of what it delivers cut off.
func (p *Postfix) Mailbox() [][]byte {
	var all [][]byte
	paths, _ := filepath.Glob(filepath.Join(p.dir, "mail/inbox/new/*")) // names begin with the time
	for _, path := range paths {
		if raw, err := os.ReadFile(path); err == nil {
			all = append(all, cutDelivery(raw))
		}
	}
	return all
}

// cutDelivery removes the fields of the last delivery.
func cutDelivery(raw []byte) []byte {
	for _, name := range []string{"Return-Path:", "X-Original-To:", "Delivered-To:"} {
		if line, rest, ok := strings.Cut(string(raw), "\n"); ok && strings.HasPrefix(line, name) {
			raw = []byte(rest)
		}
	}
	return raw
}

// WaitMailbox waits until the maildir holds n messages and returns them.
func (p *Postfix) WaitMailbox(t testing.TB, n int) [][]byte {
	t.Helper()
	Eventually(t, strconv.Itoa(n)+" messages in the mailbox", func() bool { return len(p.Mailbox()) >= n })
	return p.Mailbox()
}

// listens tells whether a server accepts connections there.
func listens(addr string) bool {
	c, err := dialer.Dial("tcp", addr)
	if err != nil {
		return false
	}
	c.Close()
	return true
}
