package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/milter/filter"
)

// letters writes an mbox of n letters, each unlike the others.
func letters(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "From a@b Mon Jan  1 00:00:00 2001\nMessage-ID: <%d@x.example>\nSubject: letter %d\n\n", i, i)
		for j := range 60 {
			fmt.Fprintf(&b, "word%d%c", (i*7919+j*104729)%10007, " \n"[j%10/9])
		}
		b.WriteString("\n")
	}
	file := filepath.Join(t.TempDir(), "letters")
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestInterrupted stops a training amid its mail: the message at hand is finished, what was taken is on disk, and the
// command says how far it came.
func TestInterrupted(t *testing.T) {
	var stdout, stderr bytes.Buffer
	a := &app{stdout: &stdout, stderr: &stderr, env: testEnv(t), quiet: true}
	ctx, cancel := context.WithCancel(t.Context())
	l := &learning{app: a, verb: "learnt"}
	n := 0
	err := l.run(ctx, []string{letters(t, 10)}, func(ctx context.Context, s control.Service, raw []byte) (filter.Outcome, error) {
		if n++; n == 4 {
			cancel()
		}
		return s.Train(ctx, raw, filter.Spam)
	})
	if !errors.Is(err, context.Canceled) || a.finish(nil, err) != statusSignal {
		t.Errorf("%v", err)
	}
	if d := cmp.Diff("4 messages learnt; interrupted before the end\n", stdout.String()); d != "" {
		t.Error(d)
	}
	stdout.Reset()
	l = &learning{app: a, verb: "learnt"}
	if err := l.run(t.Context(), []string{letters(t, 10)}, func(ctx context.Context, s control.Service, raw []byte) (filter.Outcome, error) {
		return s.Train(ctx, raw, filter.Spam)
	}); err != nil {
		t.Error(err)
	}
	if d := cmp.Diff("6 messages learnt; not learnt: 4 known\n", stdout.String()); d != "" {
		t.Error(d)
	}
}

// TestOwnFailureEndsTraining tells what was taken before.
func TestOwnFailureEndsTraining(t *testing.T) {
	a := &app{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}, env: testEnv(t), quiet: true}
	n := 0
	err := (&learning{app: a, verb: "learnt"}).run(t.Context(), []string{letters(t, 5)},
		func(context.Context, control.Service, []byte) (filter.Outcome, error) {
			if n++; n == 3 {
				return filter.Outcome{}, fmt.Errorf("%w: gone", control.ErrUnavailable)
			}
			return filter.Outcome{Done: true}, nil
		})
	if err == nil || !strings.HasSuffix(err.Error(), "#2: the daemon does not answer: gone (2 messages were taken before)") || !temporary(err) {
		t.Errorf("%v", err)
	}
}
