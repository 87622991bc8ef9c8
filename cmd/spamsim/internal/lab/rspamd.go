package lab

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// A Rspamd is a running private instance with the modules that the test asks for and no other.
type Rspamd struct {
	Addr string // its normal worker, which speaks HTTP

	dir string
	cmd *exec.Cmd
}

// rspamdConf is the main file. The module's own file and the plugin are those of Debian's package; a short list of
// top-level domains spares ten seconds of start.
const rspamdConf = `options {
  filters = "";
  tempdir = "%[1]s";
  control_socket = "%[1]s/control mode=0600";
  hs_cache_dir = "%[1]s";
  url_tld = "%[1]s/tld";
  dns { nameserver = ["127.0.0.1:1"]; }
}
logging { type = "console"; level = "info"; }
worker "normal" { bind_socket = "%[2]s"; count = 1; }
actions { reject = 15; add_header = 6; greylist = 4; }
lua = "%[1]s/globals.lua";
modules { path = "$PLUGINSDIR/%[3]s.lua"; }
.include "$CONFDIR/modules.d/%[3]s.conf"
`

// rspamdGlobals stands for rspamd's own rules, of which modules want one function. No instance here has a Redis.
const rspamdGlobals = "function rspamd_parse_redis_server() return nil end\n"

// StartRspamd starts an instance with one module, whose local configuration is given. It lives until the test ends. It
// needs Debian's rspamd and skips the test otherwise. Where the test fails, its log is printed.
func StartRspamd(t testing.TB, module, local string) *Rspamd {
	t.Helper()
	Need(t, "rspamd")
	r := &Rspamd{Addr: FreeAddr(t), dir: t.TempDir()}
	for name, text := range map[string]string{
		"rspamd.conf":                 fmt.Sprintf(rspamdConf, r.dir, r.Addr, module),
		"local.d/" + module + ".conf": local,
		"tld":                         "com\nnet\norg\n",
		"globals.lua":                 rspamdGlobals,
	} {
		path := filepath.Join(r.dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r.start(t)
	Eventually(t, "rspamd answers at "+r.Addr, func() bool { return listens(r.Addr) })
	return r
}

// start runs rspamd as our own child; its workers end with it. -i lets root run them as itself.
func (r *Rspamd) start(t testing.TB) {
	t.Helper()
	log, err := os.Create(r.dir + "/log")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close() // the process has its own
	r.cmd = exec.Command("rspamd", "-f", "-i", "-c", r.dir+"/rspamd.conf",
		"--var=LOCAL_CONFDIR="+r.dir, "--var=DBDIR="+r.dir, "--var=RUNDIR="+r.dir)
	r.cmd.Stdout, r.cmd.Stderr = log, log
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = r.cmd.Process.Signal(syscall.SIGTERM)
		_ = r.cmd.Wait() // once its workers are gone
		if t.Failed() {
			text, _ := os.ReadFile(r.dir + "/log")
			t.Logf("rspamd log:\n%s", text)
		}
	})
}

// A Scan is what rspamd is told of a message beside the message.
type Scan struct {
	IP, Helo, From string
	Rcpt           []string
}

// A Symbol is one of those that rspamd found.
type Symbol struct {
	Score   float64  `json:"score"`
	Options []string `json:"options"`
}

// Check has rspamd scan a message and returns the symbols by their names.
func (r *Rspamd) Check(t testing.TB, s Scan, raw []byte) map[string]Symbol {
	t.Helper()
	q, err := http.NewRequest("POST", "http://"+r.Addr+"/checkv2", bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{"IP": s.IP, "Helo": s.Helo, "From": s.From} {
		q.Header.Set(name, value)
	}
	for _, rcpt := range s.Rcpt {
		q.Header.Add("Rcpt", rcpt)
	}
	q.Close = true // nothing is to be left of it when the test ends
	answer, err := (&http.Client{Timeout: Patience}).Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	var result struct {
		Symbols map[string]Symbol `json:"symbols"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&result); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("rspamd answered %s, %v", answer.Status, err)
	}
	return result.Symbols
}
