package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestDemoLeavesNothing where its output is read no more, or its terminal goes away.
func TestDemoLeavesNothing(t *testing.T) {
	for name, end := range map[string]func(*exec.Cmd, io.Closer) error{
		"reader gone":   func(_ *exec.Cmd, out io.Closer) error { return out.Close() },
		"terminal gone": func(c *exec.Cmd, _ io.Closer) error { return c.Process.Signal(syscall.SIGHUP) },
	} {
		dir, said := t.TempDir(), &strings.Builder{}
		c := exec.Command("spamsim", "demo", "--pace", "10ms")
		c.Env, c.Stderr = append(os.Environ(), "TMPDIR="+dir), said
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := end(c, out); err != nil {
			t.Error(err)
		}
		_, _ = io.Copy(io.Discard, out) // of the one that goes on writing
		var ended *exec.ExitError
		if err := c.Wait(); !errors.As(err, &ended) || !ended.Exited() || ended.ExitCode() < statusSignal {
			t.Errorf("%s: %v, %s", name, err, said)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: %v lie there, %v", name, left, err)
		}
	}
}
