package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/control"
	"spamsim/cmd/spamsim/internal/doctor"
	"spamsim/store"
)

// statusDanger is doctor's exit status where something is dangerous.
const statusDanger = 1

// A diagnosis is what doctor prints as JSON.
type diagnosis struct {
	Config    string           `json:"config"` // the file
	Dangerous bool             `json:"dangerous"`
	Findings  []doctor.Finding `json:"findings"`
	Postfix   []doctor.Advice  `json:"postfix"` // what to add to its files
}

func newDoctor(a *app) *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Try the site as its mail servers use it, and say what is lost or dangerous",
		Long: `Connects to each listener and to the next hop as a mail server would, looks at the daemon, at the files and at the
Postfix of this host (or of the folder in $MAIL_CONFIG), and says leg by leg what is offered (ok), what gets lost, and
what is dangerous: mail lost, sent twice, or relayed for strangers. What could not be tried is unknown. No message is
sent, and none counted as a copy. The lines that Postfix needs for this configuration stand at the end.

Run it on the host and as the user of the daemon. Exit status: 0, or 1 where something is dangerous.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			conf, err := a.load()
			if err != nil {
				return err
			}
			d := diagnose(cmd.Context(), conf)
			if asJSON {
				err = a.json(d)
			} else {
				err = a.diagnosis(d)
			}
			if err == nil && d.Dangerous {
				return status(statusDanger)
			}
			return err
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	a.storeFlag(c)
	return c
}

// diagnose tries everything.
func diagnose(ctx context.Context, conf *config.Loaded) diagnosis {
	site := &doctor.Site{Config: conf}
	var own []doctor.Finding
	var err error
	if site.NextHopTLS, err = hopTLS(conf.SMTP); err != nil {
		own = append(own, doctor.Finding{Leg: "configuration", Level: doctor.Danger, Text: err.Error()})
	}
	if site.Postfix, err = doctor.FindPostfix(ctx); err != nil {
		own = append(own, doctor.Finding{Leg: "postfix", Level: doctor.Unknown, Text: err.Error()})
	}
	if configuredActions(conf).quarantines() {
		site.Quarantine = quarantineDir(conf)
	}
	if c, err := control.Dial(control.SocketOf(conf.Store.Path)); err == nil {
		c.Close()
		site.Running = true
	}
	d := diagnosis{Config: conf.File, Findings: slices.Concat(own, memory(ctx, conf), doctor.Examine(ctx, site)),
		Postfix: append([]doctor.Advice{}, doctor.Advise(conf)...)}
	d.Dangerous = slices.ContainsFunc(d.Findings, func(f doctor.Finding) bool { return f.Level == doctor.Danger })
	return d
}

// memory looks at the daemon, and where none runs at the store.
func memory(ctx context.Context, conf *config.Loaded) []doctor.Finding {
	found := func(level doctor.Level, format string, args ...any) []doctor.Finding {
		return []doctor.Finding{{Leg: "daemon", Level: level, Text: fmt.Sprintf(format, args...)}}
	}
	c, err := control.Dial(control.SocketOf(conf.Store.Path))
	switch {
	case errors.Is(err, fs.ErrPermission):
		return found(doctor.Unknown, "%v: run doctor as the daemon's user, or one of its group", err)
	case err != nil:
		return append(found(doctor.Danger, "none runs on this store: %v", err), closedStore(conf)...)
	}
	defer c.Close()
	ctx, cancel := withPatience(ctx)
	defer cancel()
	s, err := c.Stats(ctx)
	switch {
	case err != nil:
		return found(doctor.Danger, "%v", err)
	case s.Held.Failures > 0:
		return found(doctor.Danger, "%d of %d writes to the store went wrong; see the log", s.Held.Failures, s.Held.Failures+s.Held.Commits)
	case s.Version != version():
		return found(doctor.Lost, "runs version %s, this is %s: restart it", s.Version, version())
	}
	runs := found(doctor.Good, "runs since %s, %d clusters in %s", s.Since.Local().Format(time.DateTime), s.Held.Clusters, s.Store)
	return append(runs, peersFindings(s.Peers)...)
}

// closedStore opens the store as a command does.
func closedStore(conf *config.Loaded) []doctor.Finding {
	f := doctor.Finding{Leg: "store", Level: doctor.Good, Text: conf.Store.Path + " can be opened"}
	if _, err := os.Stat(conf.Store.Path); errors.Is(err, fs.ErrNotExist) {
		f.Text = conf.Store.Path + " is not there yet: serve makes it"
		return []doctor.Finding{f}
	}
	s, err := store.Open(conf.Store.Path, store.Options{Window: conf.Store.Window.Duration, ReadOnly: true})
	if err == nil {
		err = s.Close()
	}
	if err != nil {
		f.Level, f.Text = doctor.Danger, err.Error()
	}
	return []doctor.Finding{f}
}

// diagnosis prints it for people.
func (a *app) diagnosis(d diagnosis) error {
	var b strings.Builder
	leg := ""
	for _, f := range d.Findings {
		if f.Leg != leg {
			leg = f.Leg
			fmt.Fprintf(&b, "%s\n", printable(leg))
		}
		fmt.Fprintf(&b, "  %-8s %s\n", f.Level, printable(f.Text))
	}
	for _, p := range d.Postfix {
		fmt.Fprintf(&b, "\nPostfix, %s: add to %s\n", p.Title, p.File)
		for _, line := range p.Lines {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	if d.Dangerous {
		b.WriteString("\nsomething is dangerous: see above\n")
	}
	return a.printf("%s", b.String())
}
