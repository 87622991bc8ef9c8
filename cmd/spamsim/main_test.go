package main

import (
	"errors"
	"os"
	"os/exec"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the scripts call spamsim as a program of its own.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"spamsim": func() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) },
	})
}

// TestScripts runs testdata/script: each file is named for a behaviour.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"status": exits,
		},
		Setup: func(e *testscript.Env) error {
			e.Vars = append(e.Vars, "XDG_STATE_HOME="+e.WorkDir+"/state", "SPAMSIM_CONFIG=", "TMPDIR="+e.WorkDir+"/tmp")
			return os.MkdirAll(e.WorkDir+"/tmp", 0o755)
		},
	})
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
