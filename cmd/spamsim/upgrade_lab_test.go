package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/cmd/spamsim/internal/lab"
	"spamsim/milter/filter"
)

// An installed is a daemon whose program and configuration the test replaces.
type installed struct {
	*lab.Spamsim
	t       *testing.T
	program string
	addr    string
	sink    *lab.Sink
}

// install runs a daemon by a link to the program, with further lines of configuration.
func install(t *testing.T, more string) *installed {
	t.Helper()
	i := &installed{t: t, program: filepath.Join(t.TempDir(), "spamsim"), addr: lab.FreeAddr(t), sink: lab.StartSink(t, lab.SinkConfig{})}
	i.Spamsim = lab.StartSpamsim(t, more+proxyTo(i.addr, i.sink.Addr))
	i.Stop()
	i.put("")
	i.Program = i.program
	i.Start()
	return i
}

// put installs a program: a script of the shell, or the true one for "".
func (i *installed) put(script string) {
	i.t.Helper()
	next := i.program + ".new"
	var err error
	if script != "" {
		err = os.WriteFile(next, []byte("#!/bin/sh\n"+script), 0o755)
	} else {
		var path string
		if path, err = exec.LookPath("spamsim"); err == nil {
			err = os.Symlink(path, next)
		}
	}
	if err == nil {
		err = os.Rename(next, i.program)
	}
	if err != nil {
		i.t.Fatal(err)
	}
}

// judges fails the test unless a message is taken and judged.
func (i *installed) judges() {
	i.t.Helper()
	before := len(i.sink.Mails())
	if reply := lab.Send(i.t, i.addr, "a@lab.test", []string{"b@lab.test"}, []byte("Subject: x\r\n\r\nx\r\n")); reply[0] != '2' {
		i.t.Fatal(reply)
	}
	if mails := i.sink.Wait(i.t, before+1); !strings.HasPrefix(string(mails[before].Content), "X-Spamsim: abstain; reason=short") {
		i.t.Errorf("arrived %q", mails[before].Content)
	}
}

// TestUpgradeRefused: a program that does not start, or ends, or says that it cannot, at whatever moment, changes nothing: the
// daemon goes on, whatever it had been told, and a good program takes its place later.
func TestUpgradeRefused(t *testing.T) {
	const talk = "read -r line <&3; "
	for _, sandbox := range []bool{true, false} {
		t.Run(fmt.Sprint("sandbox ", sandbox), func(t *testing.T) {
			i := install(t, fmt.Sprintf("sandbox = %v\n", sandbox))
			pid := i.Pid()
			for _, c := range []struct{ script, want string }{
				{"exit 3\n", `the other process has ended before it said "ready"`},
				{"echo nonsense >&3\n", "has ended"},
				{`echo '{"word":"serving"}' >&3; exec sleep 1000`, "does not know this"},
				{talk + `echo '{"word":"error","error":"no such port"}' >&3`, "the new program says: no such port"},
				{talk + `echo '{"word":"ready","version":"9"}' >&3` + "\n" + talk + "exit 1", `has ended before it said "serving"`},
				{talk + `echo '{"word":"ready"}' >&3` + "\n" + talk + `echo '{"word":"error","error":"no store"}' >&3` + "\nexec sleep 1000", "the new program says: no store"},
			} {
				i.put(c.script)
				said, err := i.Try("upgrade")
				if err == nil || !strings.Contains(said, c.want) || !strings.Contains(said, "the daemon before goes on") {
					t.Errorf("%s: %v, said %q", c.script, err, said)
				}
				i.judges()
			}
			if err := os.Remove(i.program); err != nil {
				t.Fatal(err)
			}
			if said, err := i.Try("upgrade"); err == nil || !strings.Contains(said, "no such file") {
				t.Errorf("without a program: %v, %q", err, said)
			}
			i.put("")
			i.judges()
			if i.Pid() != pid {
				t.Error("another process serves")
			}
			i.Upgrade()
			i.judges()
			i.Stop()
		})
	}
}

// TestUpgradeWhileEnding: who asked for an upgrade is told that the daemon ends amid it, and not that it goes on.
func TestUpgradeWhileEnding(t *testing.T) {
	i := install(t, "sandbox = false\n")
	begun := filepath.Join(t.TempDir(), "begun")
	i.put("read -r line <&3; : >" + begun + "; exec sleep 1000")
	said := make(chan string, 1)
	go func() {
		text, err := i.Try("upgrade")
		said <- fmt.Sprint(text, err)
	}()
	lab.Eventually(t, "the new program runs", func() bool { _, err := os.Stat(begun); return err == nil })
	i.Stop()
	if text := <-said; !strings.Contains(text, "the daemon is ending") || strings.Contains(text, "goes on") {
		t.Errorf("said %q", text)
	}
}

// edit replaces a text in the daemon's configuration.
func (i *installed) edit(old, next string) {
	i.t.Helper()
	text, err := os.ReadFile(i.File())
	if err != nil || !strings.Contains(string(text), old) {
		i.t.Fatalf("no %q in %q, %v", old, text, err)
	}
	if err := os.WriteFile(i.File(), []byte(strings.Replace(string(text), old, next, 1)), 0o644); err != nil {
		i.t.Fatal(err)
	}
}

// TestUpgradeConfig: the new program goes by the configuration of now. Where it cannot, it says so, and the old one goes on by
// the one before; where it listens elsewhere, what nobody wants any more is closed.
func TestUpgradeConfig(t *testing.T) {
	dir := t.TempDir()
	i := install(t, fmt.Sprintf("[milter]\nlisten = [\"unix:%s/one\"]\n", dir))
	other, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, c := range []struct{ old, next, want string }{
		{"[milter]", "[miter]", "unknown key"},
		{"[miter]", fmt.Sprintf("[dccifd]\nlisten = [%q]\n[milter]", other.Addr()), "address already in use"},
		{fmt.Sprintf("[dccifd]\nlisten = [%q]\n", other.Addr()), fmt.Sprintf("[tls]\ncertificate = \"%s/none\"\nkey = \"%s/none\"\n", dir, dir), "no such file"},
	} {
		i.edit(c.old, c.next)
		if said, err := i.Try("upgrade"); err == nil || !strings.Contains(said, c.want) {
			t.Errorf("%s: %v, %q", c.next, err, said)
		}
		i.judges()
		if conn, err := net.Dial("unix", dir+"/one"); err != nil {
			t.Error(err)
		} else {
			conn.Close()
		}
	}
	i.edit(fmt.Sprintf("[tls]\ncertificate = \"%s/none\"\nkey = \"%s/none\"\n", dir, dir), "")
	i.edit(dir+"/one", dir+"/two")
	i.Upgrade()
	i.judges()
	lab.Eventually(t, "the sockets are those of now", func() bool {
		left, _ := filepath.Glob(dir + "/*")
		return len(left) == 1 && left[0] == dir+"/two"
	})
	i.Stop()
	if left, _ := filepath.Glob(dir + "/*"); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

// TestUpgradeUnderManager: the service manager is told which process it is now, by the old one, and that it is ready, by the
// new one; sockets that the manager opened are the new one's too, and stay.
func TestUpgradeUnderManager(t *testing.T) {
	m := newManager(t)
	socket := filepath.Join(t.TempDir(), "smtp")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	file, err := l.(*net.UnixListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	sink := lab.StartSink(t, lab.SinkConfig{})
	s := lab.StartUnit(t, proxyTo("127.0.0.1:1", sink.Addr), lab.Unit{Notify: m.path, Name: "smtp", Passed: []*os.File{file}})
	if got := m.next(); got != "READY=1" {
		t.Errorf("told %q", got)
	}
	for range 2 {
		s.Upgrade()
		for _, want := range []string{fmt.Sprintf("MAINPID=%d", s.Pid()), "READY=1"} {
			if got := m.next(); got != want {
				t.Errorf("told %q, want %q", got, want)
			}
		}
	}
	retired(t, s, 2)
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	greeting := make([]byte, 4)
	if _, err := io.ReadFull(conn, greeting); err != nil || string(greeting) != "220 " {
		t.Errorf("over the socket: %q, %v", greeting, err)
	}
	s.Stop()
	if got := m.next(); got != "STOPPING=1" {
		t.Errorf("told %q", got)
	}
	if _, err := os.Stat(socket); err != nil {
		t.Error(err)
	}
}

// TestUpgradeForOthers: who watches, and who has a connection to the control socket, goes on with the new daemon, which tells
// what the old one had counted into the store.
func TestUpgradeForOthers(t *testing.T) {
	web, dir := lab.FreeAddr(t), t.TempDir()
	i := install(t, fmt.Sprintf("[http]\nlisten = [%q]\n[dccifd]\nlisten = [\"unix:%s/dccifd\"]\n[store]\npath = \"%s/s.db\"\n", web, dir, dir))
	c, err := control.Dial(control.SocketOf(dir + "/s.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if o, err := c.Train(t.Context(), offer(1), filter.Spam); err != nil || !o.Done {
		t.Fatalf("%+v, %v", o, err)
	}
	before, err := c.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		i.Upgrade()
		after, err := c.Stats(t.Context())
		if err != nil || !after.Since.After(*before.Since) || after.Held.Messages != 1 {
			t.Errorf("%+v, %v; before %+v", after, err, before)
		}
		before = after
		resp, err := http.Get("http://" + web + "/readyz")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			t.Errorf("ready: %s", resp.Status)
		}
		conn, err := net.Dial("unix", dir+"/dccifd")
		if err != nil {
			t.Fatal(err)
		}
		conn.Close()
		i.judges()
	}
	http.DefaultClient.CloseIdleConnections()
	i.Stop()
	modes(t, map[string]os.FileMode{dir + "/s.db": 0o600})
	if left, _ := filepath.Glob(dir + "/*"); len(left) != 1 {
		t.Errorf("left behind: %q", left)
	}
}
