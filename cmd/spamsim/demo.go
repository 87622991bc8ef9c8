package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/smtp"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/control"
	"spamsim/cmd/spamsim/internal/demo"
	"spamsim/milter/filter"
	"spamsim/store"
)

func newDemo(a *app) *cobra.Command {
	var seed uint64
	var pace time.Duration
	c := &cobra.Command{
		Use:   "demo",
		Short: "See it at work on generated mail",
		Long: `Runs the daemon in this process, on a free port of the loopback interface and with a store of its own, and
sends it a generated mail stream in which campaigns are hidden. Shows each verdict as it falls, read from the mail as
it was delivered, and ends with a summary. Nothing is left behind.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.demo(cmd.Context(), seed, pace) },
	}
	c.Flags().Uint64Var(&seed, "seed", 1, "`number` of the mail stream")
	c.Flags().DurationVar(&pace, "pace", 60*time.Millisecond, "`time` between messages")
	return c
}

// statusPipe is how shells tell of a program that wrote what nobody reads: 128 + SIGPIPE.
const statusPipe = 141

// demo runs the demonstration in a folder that goes away with it, also where the terminal or the reader of its output does.
func (a *app) demo(ctx context.Context, seed uint64, pace time.Duration) (err error) {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	defer func() {
		if errors.Is(err, syscall.EPIPE) {
			err = status(statusPipe) // nobody would read more
		}
	}()
	dir, err := scratch("spamsim-demo-*")
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, os.RemoveAll(dir)) }()
	conf, err := demoConfig(dir)
	if err != nil {
		return err
	}
	if err := keyStore(conf.Store.Path); err != nil {
		return err
	}
	d, err := startDaemon(conf, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer func() { err = firstError(err, d.stop(5*time.Second)) }()
	s := &show{app: a, pace: pace, maildir: filepath.Join(dir, "mail", "new"), seen: map[string]bool{}}
	if err := s.learn(ctx, control.SocketOf(conf.Store.Path), demo.Issue(seed)); err != nil {
		return err
	}
	if err := s.play(ctx, d.smtp[0], demo.Stream(seed)); err != nil {
		return err
	}
	return s.summary()
}

// demoConfig is the built-in configuration in a folder of its own and on a free port.
func demoConfig(dir string) (*config.Loaded, error) {
	env := config.Host()
	env.Getenv = func(string) string { return "" }
	env.HomeDir = func() (string, error) { return dir, nil }
	env.System = filepath.Join(dir, "none")
	conf, err := config.Load("", env)
	if err != nil {
		return nil, err
	}
	conf.SMTP.Listen = []config.Address{{Network: "tcp", Addr: "127.0.0.1:0"}}
	conf.SMTP.NextHop = "maildir:" + filepath.Join(dir, "mail")
	conf.Store.Path = filepath.Join(dir, "spamsim.db")
	return conf, nil
}

// keyStore makes the demonstration's store with a key that is no secret, so that two runs show the same figures.
func keyStore(path string) error {
	s, err := store.Open(path, store.Options{Key: scratchKey})
	if err != nil {
		return err
	}
	return s.Close()
}

// A show sends mail and tells what became of it.
type show struct {
	*app
	pace    time.Duration
	maildir string
	seen    map[string]bool
	n       int
	scores  [len(demo.Kinds)]score
}

// A score is what became of the mail of one kind.
type score struct {
	sent, bulk, exempt, abstain int
	first                       int // the copy that was called bulk first, 0 where none was
}

// learn teaches the newsletter through the control socket, as the command train would.
func (s *show) learn(ctx context.Context, socket string, m demo.Mail) error {
	c, err := control.Dial(socket)
	if err != nil {
		return err
	}
	defer c.Close()
	if _, err := c.Train(ctx, m.Raw, filter.Ham); err != nil {
		return err
	}
	return s.printf("One issue of a newsletter was learnt as good mail. Now the mail of a morning comes in:\n\n%4s  %-8s %6s %6s  %-28s %s\n",
		"", "verdict", "sigma", "copies", "from", "subject")
}

// play sends the stream.
func (s *show) play(ctx context.Context, addr net.Addr, stream []demo.Mail) error {
	c, err := smtp.Dial(addr.String())
	if err != nil {
		return err
	}
	defer c.Close()
	if err := c.Hello("demo.example"); err != nil {
		return err
	}
	for _, m := range stream {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(s.pace):
		}
		if err := send(c, m); err != nil {
			return err
		}
		if err := s.verdict(m); err != nil {
			return err
		}
	}
	return c.Quit()
}

// send sends one message, with the address of its client told as a mail server in front would tell it.
func send(c *smtp.Client, m demo.Mail) error {
	id, err := c.Text.Cmd("XFORWARD ADDR=%s", m.Client)
	if err != nil {
		return err
	}
	c.Text.StartResponse(id)
	_, _, err = c.Text.ReadResponse(250)
	c.Text.EndResponse(id)
	if err != nil {
		return err
	}
	if err := c.Mail(m.From); err != nil {
		return err
	}
	if err := c.Rcpt(m.To); err != nil {
		return err
	}
	w, err := c.Data()
	if err != nil {
		return err
	}
	if _, err := w.Write(m.Raw); err != nil {
		return err
	}
	return w.Close()
}

// verdict finds the message in the maildir, where it lies once it was accepted, and tells what its header says.
func (s *show) verdict(m demo.Mail) error {
	files, err := os.ReadDir(s.maildir)
	if err != nil {
		return err
	}
	for _, f := range files {
		if s.seen[f.Name()] {
			continue
		}
		s.seen[f.Name()] = true
		raw, err := os.ReadFile(filepath.Join(s.maildir, f.Name()))
		if err != nil {
			return err
		}
		return s.tell(m, headerOf(raw))
	}
	return errors.New("a message that was accepted is not in the maildir")
}

// headerOf reads the X-Spamsim field of a message: the verdict under "", else key and value.
func headerOf(raw []byte) map[string]string {
	out := map[string]string{}
	header, _, _ := strings.Cut(strings.ReplaceAll("\n"+string(raw), "\r\n", "\n"), "\n\n")
	_, text, _ := strings.Cut(strings.ReplaceAll(header, "\n\t", " "), "\nX-Spamsim: ")
	text, _, _ = strings.Cut(text, "\n")
	for part := range strings.SplitSeq(text, ";") {
		key, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			key, value = "", key
		}
		out[key] = value
	}
	return out
}

func (s *show) tell(m demo.Mail, h map[string]string) error {
	s.n++
	sc := &s.scores[m.Kind]
	sc.sent++
	switch h[""] {
	case "bulk":
		sc.bulk++
		if sc.first == 0 {
			sc.first = sc.sent
		}
	case "exempt":
		sc.exempt++
	case "abstain":
		sc.abstain++
	}
	return s.printf("%4d  %-8s %6s %6s  %-28s %s\n", s.n, h[""], h["sigma"], h["copies"], shorten(m.From, 28), shorten(m.Subject, 40))
}

// summary prints the table at the end.
func (s *show) summary() error {
	var b strings.Builder
	fmt.Fprintf(&b, "\nWhat that mail was, which spamsim was not told:\n\n")
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "WHAT WAS SENT\tMESSAGES\tCALLED BULK\tFIRST AT COPY\tOTHERWISE")
	for kind, sc := range s.scores {
		first, other := "-", "-"
		if sc.first > 0 {
			first = fmt.Sprint(sc.first)
		}
		switch {
		case sc.exempt > 0:
			other = fmt.Sprintf("%d exempt: bulk that people want", sc.exempt)
		case sc.abstain > 0:
			other = fmt.Sprintf("%d abstained: too little text", sc.abstain)
		}
		fmt.Fprintf(t, "%s\t%d\t%d\t%s\t%s\n", demo.Kinds[kind], sc.sent, sc.bulk, first, other)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	b.WriteString("\nThe fifth copy of a campaign is the first that is bulk (bulk.count). Now try it on mail of your own:\n" +
		"  spamsim backtest ~/Maildir     what would have been flagged\n" +
		"  spamsim serve                  filter mail\n")
	return s.printf("%s", b.String())
}
