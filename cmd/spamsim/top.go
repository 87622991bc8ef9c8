package main

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"spamsim/cmd/spamsim/internal/control"
	"spamsim/store"
)

// topEvery is how often top looks.
const topEvery = time.Second

func newTop(a *app) *cobra.Command {
	var once bool
	c := &cobra.Command{
		Use:   "top",
		Short: "Watch the live campaigns and the rates of the daemon",
		Long: `Shows how much mail the daemon judges and which campaigns run, the liveliest first, and shows it anew every second
until it is interrupted. Where standard output is no terminal it writes a line a second.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			conf, err := a.load()
			if err != nil {
				return err
			}
			return a.use(conf, toRead, func(s control.Service) error {
				return a.top(cmd.Context(), s, once, topEvery)
			})
		},
	}
	c.Flags().BoolVar(&once, "once", false, "show it once and end")
	a.storeFlag(c)
	return c
}

// A sighting is what top sees at one time.
type sighting struct {
	at        time.Time
	stats     control.Stats
	campaigns []store.Campaign // the liveliest
}

// topCampaigns is how many campaigns top asks for: more than a screen has lines.
const topCampaigns = 100

func sight(ctx context.Context, s control.Service) (*sighting, error) {
	stats, err := s.Stats(ctx)
	if err != nil {
		return nil, err
	}
	list, err := s.Campaigns(ctx, store.Live, topCampaigns)
	return &sighting{time.Now(), stats, list}, err
}

// top shows what it sees until ctx is done, which is how people end it.
func (a *app) top(ctx context.Context, s control.Service, once bool, every time.Duration) (err error) {
	first, err := sight(ctx, s)
	if err != nil {
		return err
	}
	if first.stats.Since == nil && !once {
		a.note("no daemon is running: nothing will change")
		once = true
	}
	if once {
		return a.printf("%s", strings.Join(frame(first, first), "\n")+"\n")
	}
	show := a.topLine
	if f, ok := a.stdout.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		if err := a.printf("%s", screenOpen); err != nil {
			return err
		}
		defer func() { err = firstError(err, a.printf("%s", screenClose)) }()
		show = func(before, now *sighting) error { return draw(f, frame(before, now)) }
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for before, now := first, first; ; {
		if err := show(before, now); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		before = now
		if now, err = sight(ctx, s); ctx.Err() != nil {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// What terminals are told (ECMA-48, and xterm's private modes): another screen without a cursor, whose end brings back what
// was there; to the corner; what is right of here is gone; and what is below.
const (
	screenOpen  = "\x1b[?1049h\x1b[?25l"
	screenClose = "\x1b[?25h\x1b[?1049l"
	screenHome  = "\x1b[H"
	clearRight  = "\x1b[K"
	clearBelow  = "\x1b[J"
)

// draw shows lines on a terminal, in place of those before, as many and as much of each as there is room for.
func draw(f *os.File, lines []string) error {
	width, height, err := term.GetSize(int(f.Fd()))
	if err != nil || width < 1 || height < 1 {
		width, height = 80, 24
	}
	var b strings.Builder
	b.WriteString(screenHome)
	for i, l := range lines[:min(len(lines), height)] {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(fit(l, width) + clearRight)
	}
	b.WriteString(clearBelow)
	_, err = io.WriteString(f, b.String())
	return err
}

// fit is as much of a line as fits into so many columns.
func fit(line string, width int) string {
	n := 0
	for i, r := range line {
		if n += columnsOf(r); n > width {
			return line[:i]
		}
	}
	return line
}
