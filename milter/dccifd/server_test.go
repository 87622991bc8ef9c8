package dccifd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"spamsim/milter/filter"
)

func TestBothNetworks(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		r := start(t, network, &Server{}, says(bulk))
		if got, want := r.request(t, one+"Subject: x\n\nx\n"), "A\nA\n"+bulkLine; got != want {
			t.Errorf("%s: answered %q, want %q", network, got, want)
		}
		if n := r.Stats(); n.Connections != 1 || n.Messages != 1 || n.Broken != 0 {
			t.Errorf("%s: counted %+v", network, n)
		}
	}
}

// TestLog: a message has one line, with its Message-ID.
func TestLog(t *testing.T) {
	var log bytes.Buffer
	r := start(t, "tcp", &Server{Log: slog.New(slog.NewTextHandler(&log, nil))}, says(bulk))
	r.request(t, one+"Message-ID: <a@x>\n\nx\n")
	if n := strings.Count(log.String(), " message_id=a@x "); n != 1 || strings.Count(log.String(), "msg=message ") != 1 {
		t.Errorf("logged %s", &log)
	}
}

// TestPanicConcernsOneMessage: its client hears of a temporary failure, the next one of its verdict.
func TestPanicConcernsOneMessage(t *testing.T) {
	r := start(t, "tcp", &Server{}, func(a asked) filter.Verdict {
		if strings.Contains(a.raw, "bad") {
			panic("a bug")
		}
		return clean
	})
	if got := r.request(t, one+"bad"); got != failedText {
		t.Errorf("panic: answered %q", got)
	}
	if got := r.request(t, one+"good"); got != "A\nA\n"+cleanLine {
		t.Errorf("afterwards: answered %q", got)
	}
	if n := r.Stats(); n.Failed != 1 || n.Messages != 2 {
		t.Errorf("counted %+v", n)
	}
}

// TestFilterFailed: an own failure of the filter is no verdict.
func TestFilterFailed(t *testing.T) {
	r := start(t, "tcp", &Server{}, says(filter.Verdict{Kind: filter.Error, Reason: "panic"}))
	if got := r.request(t, one+"x"); got != failedText {
		t.Errorf("answered %q", got)
	}
}

// TestJudgingTooLong: the client is not kept waiting, others are judged meanwhile, and what is left behind holds its
// message until it ends.
func TestJudgingTooLong(t *testing.T) {
	release := make(chan struct{})
	r := start(t, "tcp", &Server{JudgeTimeout: 50 * time.Millisecond}, func(a asked) filter.Verdict {
		if a.raw == "slow" {
			<-release
		}
		return clean
	})
	if got := r.request(t, one+"slow"); got != failedText {
		t.Errorf("answered %q", got)
	}
	if r.held.Held() == 0 {
		t.Error("a message that is still judged is not counted as held")
	}
	eventually(t, "another is judged in time", func() bool { return r.request(t, one+"quick") == "A\nA\n"+cleanLine })
	close(release)
	eventually(t, "the slow message is let go", func() bool { return r.held.Held() == 0 })
}

// TestPassSpeaks: what is said of a message that is not judged is the daemon's to count.
func TestPassSpeaks(t *testing.T) {
	var told []string
	s := &Server{MaxMessage: 100, Pass: func(env *filter.Envelope, kind filter.Kind, reason string) filter.Judgement {
		told = append(told, env.Sender+" "+kind.String()+" "+reason)
		return filter.Judgement{Verdict: filter.Verdict{Kind: kind, Reason: reason}}
	}}
	r := start(t, "tcp", s, func(asked) filter.Verdict { panic("a bug") })
	r.request(t, one+"x")
	r.request(t, one+strings.Repeat("x", 101))
	if got := strings.Join(told, ", "); got != "sender@example.org error panic, sender@example.org skipped size" {
		t.Errorf("told %q", got)
	}
}

// TestShutdown: a client that has said nothing is let go, a request under way is answered.
func TestShutdown(t *testing.T) {
	r := start(t, "tcp", &Server{}, says(clean))
	silent, working := r.dial(t), r.dial(t)
	if _, err := io.WriteString(working, one[:20]); err != nil {
		t.Fatal(err)
	}
	eventually(t, "both are in", func() bool {
		begun, _ := r.begun()
		return r.Stats().Sessions == 2 && begun == 1
	})
	down := make(chan error, 1)
	ctx, cancel := context.WithTimeout(context.Background(), watchdog)
	defer cancel()
	go func() { down <- r.Shutdown(ctx) }()
	if answer, err := io.ReadAll(silent); err != nil || len(answer) > 0 {
		t.Errorf("a client that said nothing heard %q, %v", answer, err)
	}
	if _, err := io.WriteString(working, one[20:]+"x"); err != nil {
		t.Fatal(err)
	}
	if got := end(t, working); got != "A\nA\n"+cleanLine {
		t.Errorf("a request under way was answered %q", got)
	}
	if err := <-down; err != nil {
		t.Errorf("Shutdown: %v", err)
	}
	if _, err := net.Dial("tcp", r.addr.String()); err == nil {
		t.Error("it still listens")
	}
	if l, err := net.Listen("tcp", "127.0.0.1:0"); err != nil || !errors.Is(r.Serve(l), ErrServerClosed) {
		t.Errorf("serving again: %v", err)
	}
}

// TestClose cuts what does not end: a client that says nothing more, a judgement that heeds its context.
func TestClose(t *testing.T) {
	r := start(t, "tcp", &Server{}, nil)
	r.hang = true
	idle, judged := r.dial(t), r.dial(t)
	if _, err := io.WriteString(idle, "header\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(judged, one+"x"); err != nil {
		t.Fatal(err)
	}
	if err := judged.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "both are in", func() bool {
		begun, hanging := r.begun()
		return begun == 2 && hanging == 1
	})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := r.Shutdown(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Shutdown: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	for _, conn := range []net.Conn{idle, judged} {
		if answer, _ := io.ReadAll(conn); len(answer) > 0 {
			t.Errorf("a client that was cut heard %q", answer)
		}
	}
	if n := r.Stats(); n.Sessions != 0 || n.Broken != 0 {
		t.Errorf("counted %+v", n)
	}
}

// TestManyAtOnce: more clients than there are places; each gets its own answer.
func TestManyAtOnce(t *testing.T) {
	r := start(t, "unix", &Server{MaxConns: 3, MaxJudging: 2}, func(a asked) filter.Verdict {
		return filter.Verdict{Judged: true, Copies: len(a.raw)}
	})
	var wait sync.WaitGroup
	for i := range 40 {
		conn := r.dial(t)
		wait.Go(func() {
			_, err := io.WriteString(conn, one+strings.Repeat("x", i+1))
			if err := errors.Join(err, conn.(*net.UnixConn).CloseWrite()); err != nil {
				t.Error(err)
				return
			}
			want := fmt.Sprintf("A\nA\nX-DCC-spamsim-Metrics: mx1 1; Body=%d Fuz1=1 Fuz2=1\n\n", i+1)
			if answer, err := io.ReadAll(conn); err != nil || string(answer) != want {
				t.Errorf("request %d: %q, %v", i, answer, err)
			}
		})
	}
	wait.Wait()
}
