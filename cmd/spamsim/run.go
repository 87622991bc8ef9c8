package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/control"
)

// The exit statuses. Mail programs know 75 as EX_TEMPFAIL: they keep the message and try again.
const (
	statusDone    = 0
	statusBulk    = 1 // check without --tag: the message is bulk
	statusUsage   = 2 // wrong usage, or a file that cannot be read
	statusTemp    = 75
	statusSignal  = 130 // interrupted, 128 + SIGINT as shells count
	usageTemplate = "Run '%s --help' for how it is used."
)

// A status is an exit status that is no error, or one that was reported already.
type status int

func (s status) Error() string { return "exit status" }

// errUsage marks errors of usage, which get a hint at --help.
var errUsage = errors.New("usage")

// run runs one command line and returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{stdout: stdout, stderr: stderr, env: config.Host()}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a.stdin = &input{Reader: stdin, app: a, interrupted: ctx}
	defer context.AfterFunc(ctx, stop)() // a second signal kills
	root, help := newRoot(a), &output{Writer: stdout}
	root.SetArgs(args)
	root.SetOut(help)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = help.err // cobra, which writes it, does not look
	}
	return a.finish(cmd, err)
}

// An output remembers its first error.
type output struct {
	io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	n, err := o.Writer.Write(p)
	o.err = firstError(o.err, err)
	return n, err
}

// finish reports an error and returns the exit status for it.
func (a *app) finish(cmd *cobra.Command, err error) int {
	var s status
	var stopped *interruption
	switch {
	case err == nil:
		return statusDone
	case errors.As(err, &s):
		return int(s)
	case errors.As(err, &stopped):
		a.warn("%v", stopped)
		return statusSignal
	case errors.Is(err, context.Canceled):
		a.warn("interrupted")
		return statusSignal
	}
	a.warn("%v", err)
	if errors.Is(err, errUsage) {
		a.hint(usageTemplate, cmd.CommandPath())
	}
	if temporary(err) {
		return statusTemp
	}
	return statusUsage
}

// temporary tells whether the same command may succeed later.
func temporary(err error) bool { return errors.As(err, new(tempError)) || control.Temporary(err) }

// newRoot is the whole command tree.
func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:                        "spamsim",
		Short:                      "Finds bulk mail by similarity",
		Long:                       intro,
		SilenceUsage:               true,
		SilenceErrors:              true,
		SuggestionsMinimumDistance: 2,
		DisableAutoGenTag:          true,
		Args:                       known,
		RunE:                       func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	root.PersistentFlags().StringVar(&a.configFile, "config", "", "configuration `file` (else $SPAMSIM_CONFIG, "+config.SystemFile+", the built-in one)")
	root.PersistentFlags().BoolVarP(&a.quiet, "quiet", "q", false, "no progress and no remarks on standard error")
	for _, g := range groups {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, command := range g.commands {
			c := command(a)
			c.GroupID = g.id
			c.Args = usageArgs(c.Args)
			root.AddCommand(c)
		}
	}
	addTopics(root)
	addCobras(root)
	return root
}

// addCobras adds the commands that cobra brings. Of itself it answers a page or shell that there is none of with other help, and
// status 0.
func addCobras(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Run, c.RunE = nil, func(_ *cobra.Command, args []string) error { return help(root, args) }
		case "completion":
			c.Args, c.RunE = usageArgs(cobra.NoArgs), func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
		}
	}
}

// help shows the help of a command or topic.
func help(root *cobra.Command, args []string) error {
	c, rest, err := root.Find(args)
	if err != nil || len(rest) > 0 {
		return usage(fmt.Errorf("no help for %q: \"spamsim help\" lists the commands and topics", strings.Join(args, " ")))
	}
	c.InitDefaultHelpFlag()
	return c.Help()
}

// known refuses a word that is no command, and names the nearest ones.
func known(root *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	err := fmt.Errorf("unknown command %q", args[0])
	if near := root.SuggestionsFor(args[0]); len(near) > 0 {
		err = fmt.Errorf("%w; did you mean %s?", err, strings.Join(near, " or "))
	}
	return usage(err)
}

// usageArgs makes errors of a check of arguments errors of usage.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	if check == nil {
		return nil
	}
	return func(cmd *cobra.Command, args []string) error { return usage(check(cmd, args)) }
}

const intro = `spamsim finds bulk mail by similarity: it remembers the codes of recent mail and says of each
new message whether it is one of many near-copies.

  spamsim demo               see it at work, on generated mail
  spamsim serve              filter mail: SMTP on 127.0.0.1:10025, judged mail into a maildir
  spamsim check < message    judge one message`
