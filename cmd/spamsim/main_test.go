package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"net"
	"net/smtp"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"spamsim/cmd/spamsim/internal/demo"
	"spamsim/cmd/spamsim/internal/lab"
)

// hurried is a program: spamsim, for whose mail an hour passes in a minute.
const hurried = "spamsim-hurried"

// TestMain lets the scripts call spamsim as a program of its own.
func TestMain(m *testing.M) {
	program := func() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
	testscript.Main(lab.Leakless{M: m}, map[string]func(){
		"spamsim": program,
		hurried: func() {
			began := time.Now()
			machineTime = func() time.Time { return began.Add(60 * time.Since(began)) }
			program()
		},
	})
}

// TestScripts runs testdata/script: each file is named for a behaviour.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status":   exits,
			"expand":   expand,
			"waitfor":  waitFor,
			"sendmail": sendMail,
			"verdict":  verdict,
			"cluster":  clusterID,
		},
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, "XDG_STATE_HOME="+e.WorkDir+"/state", "SPAMSIM_CONFIG=", "TMPDIR="+e.WorkDir+"/tmp",
				"GORACE=atexit_sleep_ms=0") // else each command takes a second to end under the race detector
			return os.MkdirAll(e.WorkDir+"/tmp", 0o755)
		},
	})
}

// clusterID is "cluster NAME FILE", which sets a variable to the id of the cluster that a message is a copy of.
func clusterID(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(ts.Exec("spamsim", "check", "--json", args[1]))
	var l struct{ Cluster string }
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &l))
	ts.Setenv(args[0], l.Cluster)
}

// exits is the script command "status N COMMAND ARG...", which runs a command that must exit with status N.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: status N COMMAND ARG...")
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}

// expand is "expand FILE", which writes FILE from FILE.in with the environment's variables filled in.
func expand(ts *testscript.TestScript, _ bool, args []string) {
	text := os.Expand(ts.ReadFile(args[0]+".in"), ts.Getenv)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o644))
}

// waitFor is "waitfor SOCKET", which returns once somebody serves it.
func waitFor(ts *testscript.TestScript, _ bool, args []string) {
	for range 3000 {
		if c, err := net.Dial("unix", ts.MkAbs(args[0])); err == nil {
			c.Close()
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("nobody serves %s", args[0])
}

// sendMail is "sendmail SOCKET FROM TO FILE", which sends a file over a Unix socket, as if from a network of its own for
// each sender.
func sendMail(ts *testscript.TestScript, _ bool, args []string) {
	conn, err := net.Dial("unix", ts.MkAbs(args[0]))
	ts.Check(err)
	c, err := smtp.NewClient(conn, "localhost")
	ts.Check(err)
	defer c.Close()
	ts.Check(c.Hello("client.example"))
	sum := crc32.ChecksumIEEE([]byte(args[1]))
	ts.Check(send(c, demo.Mail{From: args[1], To: args[2], Client: fmt.Sprintf("198.18.%d.%d", sum>>8&255, 1+sum%250),
		Raw: []byte(strings.ReplaceAll(ts.ReadFile(args[3]), "\n", "\r\n"))}))
	ts.Check(c.Quit())
}

// verdict is "verdict WORD", which is what the header of the newest message in the maildir must say.
func verdict(ts *testscript.TestScript, _ bool, args []string) {
	files, err := filepath.Glob(ts.MkAbs("state/mail/new/*"))
	ts.Check(err)
	var newest string
	var at time.Time
	for _, f := range files {
		info, err := os.Stat(f)
		ts.Check(err)
		if info.ModTime().After(at) {
			newest, at = f, info.ModTime()
		}
	}
	h := headerOf([]byte(ts.ReadFile(newest)))
	if h[""] != args[0] {
		ts.Fatalf("verdict %q, want %q: %v", h[""], args[0], h)
	}
}
