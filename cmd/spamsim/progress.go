package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// A progress tells how far a long command has come: a bar where standard error is a terminal, else a plain line every
// few seconds, nothing when quiet.
type progress struct {
	app         *app
	what        string // past participle: "replayed", "learnt"
	bar         *progressbar.ProgressBar
	total       int64 // octets, 0 where unknown
	n           int
	octets      int64
	begun, told time.Time
}

// tellEvery is how often a plain line is written.
const tellEvery = 10 * time.Second

// progress begins one over total octets, 0 where that is not known.
func (a *app) progress(what string, total int64) *progress {
	p := &progress{app: a, what: what, total: total, begun: time.Now(), told: time.Now()}
	f, ok := a.stderr.(*os.File)
	if a.quiet || !ok || !term.IsTerminal(int(f.Fd())) {
		return p
	}
	size := total
	if size == 0 {
		size = -1 // a spinner
	}
	p.bar = progressbar.NewOptions64(size,
		progressbar.OptionSetWriter(f), progressbar.OptionSetDescription(what), progressbar.OptionShowBytes(true),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true))
	a.show(p)
	return p
}

// show makes it the one on the terminal, nil none.
func (a *app) show(p *progress) {
	a.saying.Lock()
	defer a.saying.Unlock()
	a.bar = p
}

// add counts one message.
func (p *progress) add(octets int) {
	p.n++
	p.octets += int64(octets)
	switch {
	case p.bar != nil:
		p.bar.Describe(fmt.Sprintf("%s %d", p.what, p.n))
		_ = p.bar.Add64(int64(octets)) // fails only where the bar is full already
	case time.Since(p.told) >= tellEvery:
		p.told = time.Now()
		p.app.note("%s %d messages%s", p.what, p.n, p.share())
	}
}

// advance tells of octets that are of no message.
func (p *progress) advance(octets int64) {
	p.octets += octets
	switch {
	case p.bar != nil:
		_ = p.bar.Add64(octets) // fails only where the bar is full already
	case time.Since(p.told) >= tellEvery:
		p.told = time.Now()
		p.app.note("%s %d octets%s", p.what, p.octets, p.share())
	}
}

// share is how much of the whole is done, and how long the rest may take.
func (p *progress) share() string {
	if p.total == 0 || p.octets == 0 {
		return ""
	}
	done := min(1, float64(p.octets)/float64(p.total))
	left := time.Duration(float64(time.Since(p.begun)) * (1 - done) / done)
	return fmt.Sprintf(", %.0f %%, about %v left", 100*done, left.Round(time.Second))
}

// stopped is the error of a command that ended for err: an interrupt says how far it came.
func (p *progress) stopped(err error, and string) error {
	if !errors.Is(err, context.Canceled) {
		return err
	}
	return &interruption{fmt.Sprintf("interrupted: %s %d messages%s", p.what, p.n, and)}
}

// An interruption is context.Canceled for people.
type interruption struct{ text string }

func (i *interruption) Error() string { return i.text }

func (i *interruption) Unwrap() error { return context.Canceled }

// hide clears the bar's line; the next message draws it again.
func (p *progress) hide() {
	_ = p.bar.Clear() // a terminal that is gone is no reason to fail
}

// done ends it.
func (p *progress) done() {
	if p.bar != nil {
		p.hide()
		p.app.show(nil)
	}
}

// sizeOf adds up the files of the paths, for a progress bar; it is 0 where that cannot be told: for standard input and
// for what is compressed.
func sizeOf(paths []string) int64 {
	var total int64
	known := true
	for _, p := range paths {
		known = known && p != "-"
		_ = filepath.WalkDir(p, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return nil // whoever reads the mail will say so
			}
			known = known && filepath.Ext(path) != ".gz"
			if info, err := e.Info(); err == nil && info.Mode().IsRegular() {
				total += info.Size()
			}
			return nil
		})
	}
	if !known {
		return 0
	}
	return total
}
