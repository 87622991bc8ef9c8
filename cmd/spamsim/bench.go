package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"spamsim/cmd/spamsim/internal/bench"
)

// A benchmark is what the flags of bench say.
type benchmark struct {
	json, quick bool
	markdown    bool
	only        []string
	svg         string // a file
}

func newBench(a *app) *cobra.Command {
	b := &benchmark{}
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure how fast spamsim is on this machine",
		Long: `Measures the Nilsimsa digest, the scan of 256-bit codes, lookups in a store that grows to ten million messages
where the memory is there, and the whole way of a message through the SMTP proxy, with mail that it makes up. Neither the
configured store nor any mail of yours is touched. With --quick it ends within 150 seconds on two cores of 2021; without,
ten million messages may take hours. "spamsim help speed" says how to read it.`,
		Example: "  spamsim bench --quick --svg lookups.svg\n" +
			"  spamsim bench --only digest,scan --json",
		Args: func(cmd *cobra.Command, args []string) error { return errors.Join(cobra.NoArgs(cmd, args), b.check()) },
		RunE: func(cmd *cobra.Command, _ []string) error { return b.run(cmd.Context(), a) },
	}
	f := c.Flags()
	f.BoolVar(&b.json, "json", false, "print JSON")
	f.BoolVar(&b.markdown, "markdown", false, "print a table in Markdown, as the README has it")
	f.BoolVar(&b.quick, "quick", false, "end within 150 seconds, with as many remembered messages as that allows")
	f.StringSliceVar(&b.only, "only", bench.Parts, "`parts` to measure")
	f.StringVar(&b.svg, "svg", "", "write a picture of the lookups' time and memory to `file`")
	return c
}

// check looks at what was asked for.
func (b *benchmark) check() error {
	for _, part := range b.only {
		if !slices.Contains(bench.Parts, part) {
			return fmt.Errorf("--only is %q: write some of %s", part, strings.Join(bench.Parts, ","))
		}
	}
	if b.json && b.markdown {
		return fmt.Errorf("--json and --markdown: choose one")
	}
	if b.svg != "" && !slices.Contains(b.only, "lookup") {
		return fmt.Errorf("--svg shows the lookups: add lookup to --only")
	}
	return nil
}

func (b *benchmark) run(ctx context.Context, a *app) error {
	r, err := b.measure(ctx, a)
	if err != nil {
		return err
	}
	if b.json {
		return a.json(r)
	}
	if b.markdown {
		return a.printf("%s", r.Markdown())
	}
	return a.printf("%s", r.Table())
}

// measure measures, and draws the picture. It may take hours: what can fail otherwise is tried before.
func (b *benchmark) measure(ctx context.Context, a *app) (_ *bench.Report, err error) {
	o := bench.Full()
	if b.quick {
		o = bench.Quick()
	}
	o.Parts = b.only
	if b.svg != "" {
		undo, wrong := tryWriting(b.svg)
		if wrong != nil {
			return nil, fmt.Errorf("--svg: %w", wrong)
		}
		defer func() {
			if err != nil {
				undo()
			}
		}()
	}
	p := a.progress("remembered", 0)
	defer p.done()
	o.Tell = func(what string) { a.note("%s", what) }
	o.Remember = p.add
	r, err := bench.Run(ctx, o)
	p.done()
	if err != nil {
		return nil, p.stopped(err, "; nothing is left of them")
	}
	if b.svg != "" {
		err = os.WriteFile(b.svg, []byte(r.SVG()), 0o644)
	}
	return r, err
}
