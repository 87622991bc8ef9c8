package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/cmd/spamsim/internal/lab"
)

// longRun is a command on a terminal of its own, with a state folder of its own.
type longRun struct {
	*exec.Cmd
	stdout        bytes.Buffer
	terminal      *os.File
	sofar, screen func() string // standard error, by a terminal
	dir           string
}

// startLong starts a command whose standard error is a terminal.
func startLong(t *testing.T, stdin io.Reader, args ...string) *longRun {
	t.Helper()
	r := &longRun{Cmd: exec.Command("spamsim", args...), dir: t.TempDir()}
	r.terminal, r.sofar, r.screen = liveTerminal(t, 24, 100)
	if err := os.Mkdir(r.dir+"/tmp", 0o755); err != nil {
		t.Fatal(err)
	}
	r.Env = append(os.Environ(), "HOME="+r.dir, "XDG_STATE_HOME="+r.dir+"/state", "SPAMSIM_CONFIG=/dev/null", "TMPDIR="+r.dir+"/tmp", "GORACE=atexit_sleep_ms=0")
	r.Stdin, r.Stdout, r.Stderr = stdin, &r.stdout, r.terminal
	r.WaitDelay = lab.Patience // what feeds it ends with its pipe
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	return r
}

// ended waits for the end and returns the status and what stood on the terminal.
func (r *longRun) ended() (status int, screen string) {
	_ = r.Wait()
	return r.ProcessState.ExitCode(), r.screen()
}

// endless is an mbox without end, each letter of other words.
type endless struct {
	n    atomic.Int64 // letters
	left []byte
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.left) == 0 {
		var b bytes.Buffer
		n := e.n.Add(1)
		fmt.Fprintf(&b, "From a@b Mon Jan  1 00:00:00 2001\nMessage-ID: <%d@x.example>\nSubject: letter %d\n\n", n, n)
		for j := range 40 {
			fmt.Fprintf(&b, "word%x%c", uint32(n*40+int64(j))*2654435761, " \n"[j%10/9])
		}
		e.left = append(b.Bytes(), '\n')
	}
	n := copy(p, e.left)
	e.left = e.left[n:]
	return n, nil
}

// TestLongCommandsInterrupted: a command that reads mail without end shows on a terminal how much it has read, and Ctrl-C ends
// it with status 130 and the number; a store holds what was said to be learnt, and a bench leaves no files.
func TestLongCommandsInterrupted(t *testing.T) {
	for command, last := range map[string]string{
		"train --spam":            `interrupted`,
		"backtest":                `interrupted: replayed \d+ messages; the rest is not in what was printed`,
		"calibrate":               `interrupted: counted \d+ messages; the background stays as it is`,
		"group":                   `interrupted: read \d+ messages`,
		"bench --only lookup":     `interrupted: remembered \d+ messages; nothing is left of them`,
		"backtest --quiet --json": `interrupted: replayed \d+ messages; the rest is not in what was printed`,
	} {
		if lab.Race && strings.HasPrefix(command, "bench") {
			continue // making the words of a language up takes most of ten seconds
		}
		t.Run(command, func(t *testing.T) {
			args, quiet := strings.Fields(command), strings.Contains(command, "quiet")
			if args[0] != "bench" {
				args = append(args, "-")
			}
			r := startLong(t, &endless{}, args...)
			lab.Eventually(t, "it has begun", func() bool {
				return regexp.MustCompile(`(learnt|replayed|counted|read|remembered) [1-9]`).MatchString(r.sofar()) || quiet && r.far()
			})
			_ = r.Process.Signal(syscall.SIGINT)
			status, screen := r.ended()
			if status != statusSignal || !regexp.MustCompile(`(?m)spamsim: `+last+`\r?$`).MatchString(screen) {
				t.Errorf("status %d, at the end %q", status, screen[max(0, len(screen)-300):])
			}
			if quiet && strings.Count(screen, "\n") != 1 {
				t.Errorf("more than the last word: %q", screen)
			}
			if left, err := os.ReadDir(r.dir + "/tmp"); err != nil || len(left) > 0 {
				t.Errorf("left behind: %v, %v", left, err)
			}
			r.holds(t)
		})
	}
}

// far tells whether a command that says nothing is at work: it has taken more than a pipe holds.
func (r *longRun) far() bool { return r.Stdin.(*endless).n.Load() > 500 }

// holds checks that the store opens, and holds as many messages as were said to be learnt.
func (r *longRun) holds(t *testing.T) {
	t.Helper()
	if r.Args[1] != "train" {
		return
	}
	var learnt int
	if n, err := fmt.Sscanf(r.stdout.String(), "%d messages learnt", &learnt); n != 1 || learnt == 0 || !strings.HasSuffix(r.stdout.String(), "; interrupted before the end\n") {
		t.Fatalf("%v: said %q", err, r.stdout.String())
	}
	stats := exec.Command("spamsim", "--quiet", "stats", "--json")
	stats.Env = r.Env
	out, err := stats.Output()
	var s control.Stats
	if err := firstError(err, json.Unmarshal(out, &s)); err != nil || s.Held.Messages != learnt {
		t.Errorf("the store holds %d messages, %d were learnt: %v", s.Held.Messages, learnt, err)
	}
	if _, err := os.Stat(filepath.Join(r.dir, "state/spamsim/spamsim.db.open")); !os.IsNotExist(err) {
		t.Errorf("the store was not closed: %v", err)
	}
}

// TestInterruptedWhileNothingComes: Ctrl-C ends a command that waits for standard input.
func TestInterruptedWhileNothingComes(t *testing.T) {
	silent, speaker, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	defer speaker.Close()
	for command, said := range map[string]string{
		"train --ham -": "0 messages learnt; interrupted before the end\n", "check -": "", "explain -": "",
	} {
		r := startLong(t, silent, strings.Fields(command)...)
		lab.Eventually(t, "it has begun", func() bool { return strings.Contains(r.sofar(), "spamsim: store ") })
		_ = r.Process.Signal(syscall.SIGINT)
		if status, screen := r.ended(); status != statusSignal || r.stdout.String() != said {
			t.Errorf("%s: status %d, %q, %q", command, status, r.stdout.String(), screen)
		}
	}
}

// TestQuietOnTerminal: with --quiet nothing stands on a terminal where all goes well, and without it no bar stays.
func TestQuietOnTerminal(t *testing.T) {
	mail := letters(t, 20)
	for _, quiet := range []bool{true, false} {
		r := startLong(t, nil, "train", "--ham", fmt.Sprintf("--quiet=%v", quiet), mail)
		status, screen := r.ended()
		if status != 0 || r.stdout.String() != "20 messages learnt\n" {
			t.Errorf("status %d, %q", status, r.stdout.String())
		}
		if (screen == "") != quiet || !quiet && !strings.Contains(screen, "spamsim: store ") {
			t.Errorf("quiet %v: %q", quiet, screen)
		}
	}
}
