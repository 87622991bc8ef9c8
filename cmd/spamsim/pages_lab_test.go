package main_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"spamsim/cmd/spamsim/internal/demo"
	"spamsim/cmd/spamsim/internal/lab"
)

// A step is one command of the pages, and what a reader would see.
type step struct {
	command string
	says    string // pattern in what it prints; "" where it prints nothing
	reads   string // a file, on standard input
	status  int
	stays   bool                          // it runs on once it has said that
	then    func(r *reader, t *testing.T) // what the reader does next
}

// story are the commands of the pages in the order in which somebody would come to them: README.md first, then the pages of
// help while the daemon runs.
var story = []step{
	{command: "go run ./cmd/spamsim demo", says: `campaign: one word in twenty changed in each copy +10 +6 +5 `},
	{command: "go build ./cmd/spamsim"},
	{command: "./spamsim backtest ~/Maildir archive.mbox.gz", says: `^112 messages,`},
	{command: "./spamsim check message.eml", says: `^message.eml: clean`},
	{command: "./spamsim train --ham ~/Maildir/.Newsletters", says: `^1 messages learnt`},
	{command: "./spamsim forget newsletter.eml", says: `^1 messages forgotten`},
	{command: "./spamsim serve", says: "msg=serving", stays: true, then: (*reader).sends},

	{command: "spamsim stats", says: `enforcing would have .* of 31 messages`},
	{command: "spamsim campaigns list --by size", says: `Save on your`},
	{command: "spamsim campaigns list", says: `Save on your`},
	{command: "spamsim campaigns show 7f3a19c2", says: `^copies +6, `},
	{command: "spamsim explain message.eml", says: `What would change that`},
	{command: "spamsim check --tag --learn --quiet", reads: "message.eml", says: `^X-Spamsim: clean;`},
	{command: "spamsim train --ham letter.eml", says: `^1 messages learnt`},
	{command: "spamsim campaigns label ID --ham", says: `has label ham`},
	{command: "spamsim campaigns label 7f3a19c2 --ham --name 'our letter'", says: `our letter`},
	{command: "spamsim top", says: ` a minute, 6 copies`, stays: true, then: (*reader).interrupts},
	{command: "spamsim campaigns export --rspamd > /etc/rspamd/local.d/maps.d/spamsim.map"},
	{command: "spamsim campaigns export --postfix > /etc/postfix/spamsim_checks"},
	{command: "spamsim backtest --clock received ~/Maildir archive.mbox.gz", says: `^112 messages,`},
	{command: "spamsim backtest --sweep --clock received --spam ~/Maildir/.Junk --ham ~/Maildir", says: `THRESHOLD`},
	{command: "spamsim calibrate ~/Maildir", says: `54 messages of 12 words and more, 500 are needed`, status: 2}, // the script has enough
	{command: "curl --unix-socket /var/lib/spamsim/spamsim.db.sock --data-binary @a.eml" +
		" 'http://spamsim/check?learn=true&sender=a@x.example&recipient=b@site.example&client=192.0.2.7'", says: `"verdict":`},

	{command: "spamsim config check", says: `no mistakes`},
	{command: "spamsim config diff", says: `^nothing: the daemon works by this`},
	{command: "systemctl reload spamsim", then: (*reader).hasReloaded},
	{command: "spamsim backup /var/backups/spamsim.db", says: `octets`},
	{command: "spamsim forget --recipient user@site.example", says: `as recipient: 0 messages forgotten`},
	{command: "spamsim forget --sender person@example.com", says: `as sender: 0 messages forgotten`},
	{command: "spamsim campaigns drop 7f3a19c2", says: `dropped, with 6 messages`},
	{command: "systemctl stop spamsim"},
	{command: "install -o spamsim -g spamsim -m 0600 /var/backups/spamsim.db /var/lib/spamsim/spamsim.db"},
	{command: "systemctl start spamsim", then: (*reader).hasRestored},

	{command: "install -m 755 spamsim /usr/bin/"},
	{command: "install -D -m 644 configs/systemd/spamsim.sysusers /usr/lib/sysusers.d/spamsim.conf && systemd-sysusers"},
	{command: "install -D -m 644 configs/systemd/spamsim.toml /etc/spamsim/spamsim.toml"},
	{command: "install -m 644 configs/systemd/spamsim.service /etc/systemd/system/"},
	{command: "systemctl daemon-reload && systemctl enable --now spamsim"},
	{command: "install -m 644 configs/systemd/spamsim.socket /etc/systemd/system/"},
	{command: "systemctl enable --now spamsim.socket"},
}

// untried are the commands that TestPages does not run, each with the reason.
var untried = map[string]string{
	"go test ./...": "it is what runs this test",
	"make test":     "go test ./... again",
	"make build":    "go build without cgo: .ci/release makes that program twice",
	"make lint":     "steps of .ci/run",
	"install -m 755 spamsim.new /usr/bin/spamsim.tmp && mv /usr/bin/spamsim.tmp /usr/bin/spamsim": "the tests of upgrade put one program in another's place",
	"spamsim upgrade":       "TestLedgerUpgraded does, while mail comes",
	"spamsim doctor":        "looks at the Postfix of this machine: the tests of doctor run it on one of their own",
	"spamsim stats --peers": "the reader has no peers; TestPeersAreShown and the tests of store/replica have",
	"go test ./store -run '^$' -bench 'ApplyNewClusters|ApplyCounts' -benchtime 20x": ".ci/run runs each benchmark once",
	"spamsim bench --quick --svg lookups.svg":                                        "takes 150 s and all of the machine; bench-measures-what-is-named.txt runs its parts",
	".ci/deb && apt-get install ./dist/spamsim_*.deb":                                "installs into the machine: .ci/deb-try does, in CI",
	"docker build -f configs/docker/Dockerfile -t spamsim .":                         "wants a container engine",
}

// A reader is somebody who does what the pages say, in a network of his own, with a copy of the sources, a home and mail.
type reader struct {
	dir     string // his sources, where he stands
	home    string
	cluster string // ID of the campaign that he sees
	env     []string
	stays   []*exec.Cmd // what he started and goes on, the last one last
}

// newReader gives him what the pages take for granted: a maildir, an archive, and a few messages.
func newReader(t *testing.T) *reader {
	t.Helper()
	if _, err := os.Stat("/etc/spamsim/spamsim.toml"); err == nil {
		lab.Skip(t, "spamsim is installed here: its configuration would be that of the commands")
	}
	lab.Need(t, "curl")
	lab.OwnNetwork(t)
	base := t.TempDir()
	r := &reader{dir: base + "/spamsim", home: base + "/home"}
	r.copySources(t)
	r.mail(t)
	for _, dir := range []string{"backups", "etc/rspamd/local.d/maps.d", "etc/postfix", "etc/systemd/system", "usr/bin", "usr/lib/sysusers.d"} {
		if err := os.MkdirAll(filepath.Join(r.home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	caches, err := exec.Command("go", "env", "GOCACHE", "GOMODCACHE", "GOPATH").Output()
	if err != nil {
		t.Fatal(err)
	}
	words := strings.Split(string(caches), "\n")
	r.env = append(os.Environ(), "HOME="+r.home, "PATH="+r.dir+":"+os.Getenv("PATH"), "XDG_STATE_HOME=", "SPAMSIM_CONFIG=", "NO_COLOR=1",
		"GOCACHE="+words[0], "GOMODCACHE="+words[1], "GOPATH="+words[2], "GOFLAGS=")
	t.Cleanup(func() {
		for len(r.stays) > 0 {
			_ = r.end(syscall.SIGKILL)
		}
		if t.Failed() {
			t.Logf("the daemon's log:\n%s", r.printed(serving))
		}
	})
	return r
}

// copySources copies what a build needs.
func (r *reader) copySources(t *testing.T) {
	t.Helper()
	if err := os.Mkdir(r.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"go.mod", "go.sum", "cmd", "milter", "parse", "nilsimsa", "simhash", "store", "configs"} {
		if out, err := exec.Command("cp", "-r", filepath.Join(root, name), r.dir).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
}

// mail writes his mail: what is unrelated into the maildir and the archive, a campaign into .Junk.
func (r *reader) mail(t *testing.T) {
	t.Helper()
	var archive bytes.Buffer
	zip := gzip.NewWriter(&archive)
	n := 0
	put := func(path string, m demo.Mail) {
		full := filepath.Join(r.home, path)
		if err := errors.Join(os.MkdirAll(filepath.Dir(full), 0o755), os.WriteFile(full, bytes.ReplaceAll(m.Raw, []byte("\r\n"), []byte("\n")), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range demo.Stream(7) {
		n++
		name := fmt.Sprintf("%d.x.lab", 1767225600+n)
		switch {
		case m.Kind == demo.Pills:
			put("Maildir/.Junk/cur/"+name+":2,S", m)
		case n%2 == 0:
			put("Maildir/cur/"+name+":2,S", m)
		default:
			fmt.Fprintf(zip, "From %s Thu Jan  1 00:%02d:%02d 2026\n%s\n", m.From, n/60, n%60, bytes.ReplaceAll(m.Raw, []byte("\r\n"), []byte("\n")))
		}
	}
	issue := demo.Issue(7)
	put("Maildir/.Newsletters/cur/1767225600.x.lab:2,S", issue)
	if err := errors.Join(os.MkdirAll(r.home+"/Maildir/.Newsletters/new", 0o755), os.MkdirAll(r.home+"/Maildir/new", 0o755),
		os.MkdirAll(r.home+"/Maildir/.Junk/new", 0o755), zip.Close(), os.WriteFile(r.dir+"/archive.mbox.gz", archive.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]demo.Mail{"message.eml": demo.Issue(8), "newsletter.eml": issue, "letter.eml": demo.Issue(9), "a.eml": demo.Issue(10)} {
		put("../spamsim/"+name, m)
	}
}

// TestPages does what the pages say, command by command, on the ports and with the settings that a reader would have: from the
// sources to a campaign that is called bulk in his maildir, and on to all that he may do with it.
func TestPages(t *testing.T) {
	if lab.Race {
		return // it runs programs that are built without the detector
	}
	r := newReader(t)
	for _, s := range story {
		for _, part := range strings.Split(r.local(s.command), " && ") {
			if do, args := standIn(part); do != nil {
				do(r, t, args)
				continue
			}
			r.runs(t, part, s)
		}
		if s.then != nil {
			s.then(r, t)
		}
		if t.Failed() {
			return // what comes next stands on this
		}
	}
}

// local puts the reader's own places and what he saw in the place of those in a command.
func (r *reader) local(command string) string {
	return strings.NewReplacer("/var/lib/spamsim/", r.home+"/.local/state/spamsim/", "/var/backups/", r.home+"/backups/",
		" /etc/", " "+r.home+"/etc/", " /usr/", " "+r.home+"/usr/", "-o spamsim -g spamsim", "-o root -g root",
		"7f3a19c2", r.cluster, " ID ", " "+r.cluster+" ").Replace(command)
}

// standIns are programs whose own effect is on the machine, and what the test does in their place.
var standIns = map[string]func(*reader, *testing.T, string){
	"systemctl":        (*reader).systemctl,
	"systemd-sysusers": func(*reader, *testing.T, string) {}, // makes a user
}

func standIn(command string) (do func(*reader, *testing.T, string), args string) {
	name, args, _ := strings.Cut(command, " ")
	return standIns[name], args
}

// systemctl does to the reader's daemon what systemd would do to the unit's. What enables a unit that he already runs by hand
// is not tried: .ci/deb-try runs what the installed unit says.
func (r *reader) systemctl(t *testing.T, args string) {
	t.Helper()
	switch args {
	case "stop spamsim":
		if err := r.end(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	case "start spamsim":
		r.runs(t, serving, step{command: serving, says: "msg=serving", stays: true})
	case "reload spamsim":
		_ = r.stays[0].Process.Signal(syscall.SIGHUP)
	case "daemon-reload", "enable --now spamsim", "enable --now spamsim.socket":
	default:
		t.Errorf("nobody says what stands in for systemctl %s", args)
	}
}

// serving is the command that runs the daemon.
const serving = "./spamsim serve"

// runs has a shell run a command, and waits for its end, or for what it says where it goes on.
func (r *reader) runs(t *testing.T, command string, s step) {
	t.Helper()
	name := r.output(command)
	_ = os.Remove(name)
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close() // the process has its own
	cmd := exec.Command("sh", "-c", "exec "+command)
	if strings.Contains(command, "~") {
		cmd.Args[2] = command // exec is for what gets signals
	}
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = r.dir, r.env, out, out
	if s.reads != "" {
		mail, err := os.ReadFile(filepath.Join(r.dir, s.reads))
		if err != nil {
			t.Fatal(err)
		}
		cmd.Stdin = bytes.NewReader(mail)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	says := regexp.MustCompile("(?m)" + s.says)
	if s.stays {
		r.stays = append(r.stays, cmd)
		lab.Eventually(t, command+" says "+s.says, func() bool { return says.MatchString(r.printed(command)) })
		return
	}
	_ = cmd.Wait()
	if got := r.printed(command); cmd.ProcessState.ExitCode() != s.status || !says.MatchString(got) {
		t.Errorf("%s: status %d, want %d, and %q in\n%s", command, cmd.ProcessState.ExitCode(), s.status, s.says, got)
	}
}

// output is the file of what a command prints.
func (r *reader) output(command string) string {
	return filepath.Join(r.home, regexp.MustCompile(`\W+`).ReplaceAllString(command, "-")+".out")
}

// printed is what a command has printed so far.
func (r *reader) printed(command string) string {
	text, _ := os.ReadFile(r.output(command))
	return string(text)
}

// end ends what was started last and goes on.
func (r *reader) end(sig syscall.Signal) error {
	last := len(r.stays) - 1
	cmd := r.stays[last]
	r.stays = r.stays[:last]
	_ = cmd.Process.Signal(sig)
	return cmd.Wait()
}

// sends sends mail through the daemon: six copies of a campaign among other mail. The fifth and sixth are bulk, and the header
// says of which cluster.
func (r *reader) sends(t *testing.T) {
	stream, _ := campaign(6, 25)
	var boxed [][]byte
	for _, m := range stream {
		if reply := lab.Send(t, "127.0.0.1:10025", m.From, []string{m.To}, m.Raw); reply[0] != '2' {
			t.Fatalf("%s: %s", m.Subject, reply)
		}
	}
	paths, _ := filepath.Glob(r.home + "/.local/state/spamsim/mail/new/*")
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		boxed = append(boxed, bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n")))
	}
	got, copies := verdicts(t, boxed), 0
	for _, m := range stream {
		if m.Kind == demo.Pills {
			copies++
		}
		v := got[messageID(m)]
		if want := m.Kind == demo.Pills && copies >= 5; v == "" || strings.HasPrefix(v, "bulk;") != want {
			t.Errorf("%s, copy %d: %q, want bulk %v", m.Subject, copies, v, want)
		}
		if id := regexp.MustCompile(`cluster=(\w{8});`).FindStringSubmatch(v); copies == 6 && id != nil {
			r.cluster = id[1]
		}
	}
	if r.cluster == "" {
		t.Fatalf("no header names the campaign's cluster: %v", got)
	}
}

// interrupts ends what was started last as Ctrl-C does.
func (r *reader) interrupts(t *testing.T) {
	if err := r.end(syscall.SIGINT); err != nil {
		t.Error(err)
	}
}

// hasReloaded waits for the daemon's word that it took up the configuration.
func (r *reader) hasReloaded(t *testing.T) {
	lab.Eventually(t, "the daemon reloads", func() bool { return strings.Contains(r.printed(serving), "msg=reloaded") })
}

// hasRestored looks for the campaign that was dropped after the backup was taken.
func (r *reader) hasRestored(t *testing.T) {
	r.runs(t, "spamsim campaigns show "+r.cluster, step{says: "our letter"})
}
