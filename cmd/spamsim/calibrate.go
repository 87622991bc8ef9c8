package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/spf13/cobra"

	"spamsim/cmd/spamsim/internal/source"
	"spamsim/parse"
	"spamsim/store"
)

func newCalibrate(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "calibrate PATH...",
		Short: "Fit the background to this site's mail",
		Long: `Counts in this site's mail how common words and turns are, and writes the result beside the store, where the daemon reads
it when it starts. Mail of all kinds is right, a few thousand messages of some weeks; copies and threads in it do no
harm. Then it shows how true sigma is on this mail: what share of messages that have little in common with any other
reaches each sigma, with the shipped background and with this mail's, each half of it held against the background of the
other. No text is kept. To go back, remove the file that it names.`,
		Example: "  spamsim calibrate /var/mail/archive.mbox.gz ~/Maildir",
		Args:    cobra.MinimumNArgs(1),
		RunE:    func(cmd *cobra.Command, paths []string) error { return a.calibrate(cmd.Context(), paths, asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print the evidence as JSON")
	a.storeFlag(c)
	return c
}

func (a *app) calibrate(ctx context.Context, paths []string, asJSON bool) error {
	conf, err := a.load()
	if err != nil {
		return err
	}
	scratch, err := store.Open("", store.Options{Key: scratchKey})
	if err != nil {
		return err
	}
	defer scratch.Close()
	bad := &unread{app: a}
	c, err := a.countAll(ctx, paths, bad)
	if err != nil {
		return err
	}
	report, err := c.Report(scratch)
	if err != nil {
		return firstError(fmt.Errorf("%w; the background stays as it is", err), bad.err())
	}
	file := conf.Store.Path + store.BackgroundFile
	if err := replaceFile(file, c.Background(scratch)); err != nil {
		return err
	}
	if asJSON {
		err = a.json(newCalibrationLine(&report, file))
	} else {
		err = a.calibration(&report, file)
	}
	return firstError(err, bad.err())
}

// countAll reads mail on all cores.
func (a *app) countAll(ctx context.Context, paths []string, bad *unread) (*store.Calibrator, error) {
	type traced struct {
		trace  *store.Trace
		octets int
		err    error
	}
	bar := a.progress("counted", sizeOf(paths))
	defer bar.done()
	c := &store.Calibrator{}
	read := func(m source.Message) traced {
		if m.Err != nil {
			return traced{err: m.Err}
		}
		return traced{store.NewTrace(parse.Parse(m.Raw, parse.Limits{})), len(m.Raw), nil}
	}
	for t := range inOrder(source.Read(paths, source.Options{Stdin: a.stdin}), runtime.GOMAXPROCS(0), read) {
		if ctx.Err() != nil {
			return nil, bar.stopped(ctx.Err(), "; the background stays as it is")
		}
		if t.err != nil {
			bad.add(t.err)
			continue
		}
		bar.add(t.octets)
		c.Add(t.trace)
	}
	return c, nil
}

// replaceFile puts a whole file in the place of another, or of none.
func replaceFile(path string, data []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	_, err = f.Write(data)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// A calibrationLine is what calibrate --json prints.
type calibrationLine struct {
	Messages  int           `json:"messages"`
	Unrelated int           `json:"unrelated"`
	Stored    [2]int        `json:"stored"`
	Pairs     int           `json:"pairs"`
	File      string        `json:"file"`
	Shipped   []scriptShare `json:"shipped"`
	Fitted    []scriptShare `json:"fitted"`
}

// A scriptShare is how often sigma reached its levels in mail of one script.
type scriptShare struct {
	Script   string       `json:"script"`
	Messages int          `json:"messages"`
	Scale    float64      `json:"scale"`
	Levels   []levelShare `json:"levels"`
}

// A levelShare is the share of messages that reach a sigma, with its 95 % interval, and what is true.
type levelShare struct {
	Sigma float64 `json:"sigma"`
	True  float64 `json:"true"`
	Share float64 `json:"share"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

func newCalibrationLine(r *store.CalibrationReport, file string) calibrationLine {
	return calibrationLine{r.Messages, r.Unrelated, r.Stored, r.Pairs, file, scriptShares(r.Shipped), scriptShares(r.Fitted)}
}

func scriptShares(all []store.Calibration) []scriptShare {
	out := []scriptShare{}
	for _, c := range all {
		s := scriptShare{Script: c.Script.String(), Messages: c.Messages, Scale: c.Scale}
		for i, level := range store.CalibrationSigma {
			over := share{c.Over[i], c.Messages}
			low, high := over.interval()
			s.Levels = append(s.Levels, levelShare{level, store.CalibrationChance[i], over.part(), low, high})
		}
		out = append(out, s)
	}
	return out
}

// calibration prints the evidence for people.
func (a *app) calibration(r *store.CalibrationReport, file string) error {
	text := fmt.Sprintf("%d messages, %d of them unrelated to all others; %d pairs, among %d and %d stored\n\n"+
		"                               sigma 1 (true: 15.9 %%)       sigma 2 (2.3 %%)           sigma 2.5 (0.6 %%)\n",
		r.Messages, r.Unrelated, r.Pairs, r.Stored[0], r.Stored[1])
	for _, part := range []struct {
		name string
		all  []scriptShare
	}{{"shipped background", scriptShares(r.Shipped)}, {"with this mail", scriptShares(r.Fitted)}} {
		for _, s := range part.all {
			text += fmt.Sprintf("%-20s %-8s", part.name, s.Script)
			for _, l := range s.Levels {
				text += fmt.Sprintf("  %6s %% (%s to %s)", percent(l.Share), percent(l.Low), percent(l.High))
			}
			text += fmt.Sprintf("  scale %.2f, %d messages\n", s.Scale, s.Messages)
		}
	}
	return a.printf("%s\nwritten: %s\nThe daemon reads it when it starts; scale it finds by itself.\n", text, file)
}
