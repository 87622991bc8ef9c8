package main

import (
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/lab"
)

// unit reads a unit file of configs/systemd: all values of a key, in their order.
func unit(t *testing.T, name string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile("../../configs/systemd/" + name)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]string{}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "[") {
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			t.Fatalf("%s: %q", name, line)
		}
		out[key] = append(out[key], value)
	}
	return out
}

// TestUnits: the unit files fit the program: its command, its signal, its doors, its time to stop, the folder that it may write.
func TestUnits(t *testing.T) {
	service, socket := unit(t, "spamsim.service"), unit(t, "spamsim.socket")
	conf, err := config.Load("../../configs/systemd/spamsim.toml", testEnv(t))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"Type": "notify", "ExecStart": "/usr/bin/spamsim serve", "ExecReload": "/bin/kill -HUP $MAINPID", "User": "spamsim",
		"StateDirectory": strings.TrimPrefix(conf.StateDir, "/var/lib/"), "CapabilityBoundingSet": "", "ProtectSystem": "strict",
	} {
		if got := service[key]; !slices.Equal(got, []string{want}) {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if got := strings.Join(service["SystemCallFilter"], " "); !strings.Contains(got, "landlock_create_ruleset landlock_add_rule landlock_restrict_self") {
		t.Errorf("the daemon cannot confine itself: SystemCallFilter %q", got)
	}
	stop, err := time.ParseDuration(service["TimeoutStopSec"][0])
	if err != nil || stop < conf.Limits.StopTime.Duration+10*time.Second {
		t.Errorf("TimeoutStopSec is %v, limits.stop_time %v, %v", stop, conf.Limits.StopTime, err)
	}
	if name := socket["FileDescriptorName"]; len(name) != 1 || !slices.Contains(doorNames, name[0]) {
		t.Errorf("FileDescriptorName %q is no door", name)
	}
	if got := socket["ListenStream"]; len(got) != 1 || got[0] != conf.SMTP.Listen[0].String() {
		t.Errorf("ListenStream %q, smtp.listen %v", got, conf.SMTP.Listen)
	}
}

// TestUnitsVerified asks systemd of the unit files, where it is installed. (Nothing else needs it.)
func TestUnitsVerified(t *testing.T) {
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Log("no systemd-analyze here: TestUnits alone has looked at the units")
		return
	}
	dir := t.TempDir()
	for _, name := range []string{"spamsim.service", "spamsim.socket"} {
		text, err := os.ReadFile("../../configs/systemd/" + name)
		if err != nil {
			t.Fatal(err)
		}
		here := strings.ReplaceAll(string(text), "/usr/bin/spamsim", "/bin/true") // a program must be there
		if err := os.WriteFile(filepath.Join(dir, name), []byte(here), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{
		{"verify", "--man=no", filepath.Join(dir, "spamsim.service"), filepath.Join(dir, "spamsim.socket")},
		{"security", "--no-pager", "--offline=yes", "--threshold=15", filepath.Join(dir, "spamsim.service")}, // tenths
	} {
		if out, err := exec.Command(analyze, args...).CombinedOutput(); err != nil {
			t.Errorf("systemd-analyze %s: %v\n%s", args[0], err, out)
		}
	}
}

// TestUnitLives runs the daemon as a unit with sockets: it says when it is ready and that it reloads, takes mail on what
// was opened for it and nowhere else, and a client that connects while it is restarted is served then.
func TestUnitLives(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	l.Close() // the file is left, which systemd would hold
	m := newManager(t)
	d := lab.StartUnit(t, "[smtp]\nlisten = [\"127.0.0.1:1\"]\n", lab.Unit{Notify: m.path, Name: "smtp", Passed: []*os.File{file}})
	if got := m.next(); got != "READY=1" {
		t.Errorf("told %q", got)
	}
	d.Signal(syscall.SIGHUP)
	for _, want := range []string{"RELOADING=1", "READY=1"} {
		if got := m.next(); got != want {
			t.Errorf("told %q, want %q", got, want)
		}
	}
	send := func() {
		t.Helper()
		if reply := lab.Send(t, l.Addr().String(), "a@x.example", []string{"b@site.example"}, []byte("Subject: x\r\n\r\nx\r\n")); reply[0] != '2' {
			t.Errorf("%q", reply)
		}
	}
	send()
	d.Stop()
	if got := m.next(); got != "STOPPING=1" {
		t.Errorf("told %q", got)
	}
	waits, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer waits.Close()
	d.Start()
	greeting := make([]byte, 4)
	_ = waits.SetReadDeadline(time.Now().Add(lab.Patience))
	if _, err := waits.Read(greeting); err != nil || string(greeting) != "220 " {
		t.Errorf("who connected during the restart hears %q, %v", greeting, err)
	}
	send()
}

// TestUnknownSocket: a socket that is passed for no door is a mistake that is told.
func TestUnknownSocket(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, err = startOn(map[string][]net.Listener{"spamsim.socket": {l}}, testConfig(t, ""), slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), `"spamsim.socket" (write FileDescriptorName=smtp or lmtp`) {
		t.Errorf("%v", err)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("the socket is still open")
	}
}

// TestContainer: the Dockerfile copies what is there, ends in an image without a shell whose user is nobody, and its
// configuration is good and keeps state where the volume is.
func TestContainer(t *testing.T) {
	text, err := os.ReadFile("../../configs/docker/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	conf, err := config.Load("../../configs/docker/spamsim.toml", testEnv(t))
	if err != nil {
		t.Fatal(err)
	}
	last := map[string]string{} // of the last stage
	for line := range strings.Lines(strings.ReplaceAll(string(text), "\\\n", " ")) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		if word == "FROM" {
			last = map[string]string{}
		}
		last[word] = strings.TrimSpace(rest)
		if word != "COPY" || strings.HasPrefix(rest, "--from") {
			continue
		}
		for _, name := range strings.Fields(rest)[:len(strings.Fields(rest))-1] {
			if _, err := os.Stat("../../" + name); err != nil {
				t.Errorf("COPY %s: %v", name, err)
			}
		}
	}
	_, port, _ := net.SplitHostPort(conf.SMTP.Listen[0].Addr)
	for word, want := range map[string]string{"FROM": "scratch", "USER": "65532:65532", "VOLUME": conf.StateDir,
		"ENTRYPOINT": `["/spamsim"]`, "CMD": `["serve"]`, "EXPOSE": port + " 9465"} {
		if last[word] != want {
			t.Errorf("%s is %q, want %q", word, last[word], want)
		}
	}
}
