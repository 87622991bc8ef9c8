package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/term"

	"spamsim/cmd/spamsim/internal/config"
)

// All output goes through the methods of app in this file. What a command was asked for goes to standard output;
// remarks, progress and errors go to standard error, where each line begins with "spamsim: ". Text out of messages is
// shown through printable.

// An app is what every command shares: the streams, and the flags of all commands.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	env            config.Env
	configFile     string
	storePath      string
	quiet          bool

	saying sync.Mutex // of standard error, to which a store tells its errors at any time
	bar    *progress  // on the terminal now, nil where none is
}

// printf writes to standard output.
func (a *app) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(a.stdout, format, args...)
	return err
}

// json writes a value as one line on standard output. What could make a terminal show something else is escaped: JSON has
// it in strings alone, where that means the same.
func (a *app) json(v any) error {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	var out strings.Builder
	for _, r := range b.String() {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return a.printf("%s", out.String())
}

// warn says what is wrong, also when quiet.
func (a *app) warn(format string, args ...any) {
	a.saying.Lock()
	defer a.saying.Unlock()
	if a.bar != nil {
		a.bar.hide()
	}
	for line := range strings.SplitSeq(fmt.Sprintf(format, args...), "\n") {
		fmt.Fprintf(a.stderr, "spamsim: %s\n", printable(line))
	}
}

// note remarks on what is being done.
func (a *app) note(format string, args ...any) {
	if !a.quiet {
		a.warn(format, args...)
	}
}

// hint says what may help, below an error.
func (a *app) hint(format string, args ...any) {
	a.saying.Lock()
	defer a.saying.Unlock()
	fmt.Fprintf(a.stderr, format+"\n", args...)
}

// An input is standard input, which says that it waits where a person may not expect it.
type input struct {
	io.Reader
	app  *app
	read bool

	interrupted context.Context // ends a read for which nothing comes
}

// Read reads standard input.
func (i *input) Read(p []byte) (int, error) {
	if f, ok := i.Reader.(*os.File); ok && !i.read && term.IsTerminal(int(f.Fd())) {
		i.app.note("reading standard input, up to its end (Ctrl-D)")
	}
	i.read = true
	type result struct {
		n   int
		err error
	}
	own, done := make([]byte, len(p)), make(chan result, 1) // p is its owner's again where nobody waits any more
	go func() {
		n, err := i.Reader.Read(own)
		done <- result{n, err}
	}()
	select {
	case r := <-done:
		return copy(p, own[:r.n]), r.err
	case <-i.interrupted.Done():
		return 0, i.interrupted.Err()
	}
}

// usage marks an error as one of usage.
func usage(err error) error {
	if err == nil || errors.Is(err, errUsage) {
		return err
	}
	return usageError{err}
}

// usageError is an error of usage that reads as the error itself.
type usageError struct{ error }

func (e usageError) Unwrap() error        { return e.error }
func (e usageError) Is(target error) bool { return target == errUsage }

// printable makes text from anywhere safe to show: control characters, the bidirectional controls, with which text
// can be made to read as something else, and what is no UTF-8 become U+FFFD; tabs and line ends become spaces.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// shorten cuts text to n characters for a column.
func shorten(s string, n int) string {
	r := []rune(printable(s))
	if len(r) <= n {
		return string(r)
	}
	return string(r[:n-1]) + "…"
}
