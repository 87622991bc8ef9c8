package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"spamsim/nilsimsa"
)

// A coder is what the flags of code say.
type coder struct {
	mail     bool
	original bool // the lines of the original nilsimsa program
	skip     bool // -s
	sum      bool // -a
	mbox     bool
}

func newCode(a *app) *cobra.Command {
	k := &coder{}
	c := &cobra.Command{
		Use:   "code [FILE...]",
		Short: "Print the codes of files",
		Long: `Prints "NILSIMSA SIMHASH NAME" of each file, or of standard input: the codes of its bytes as they are, or with
--mail of the text that is judged when it is a message.

With --nilsimsa, or one of -s, -a and --mbox, the lines are those of the original nilsimsa program (0.2.4): the code and
the name of the file without its folder. An argument that is no file is then a code: 64 hexadecimal digits, of more the
last 64. The exit status is spamsim's: 2 where an argument cannot be read.`,
		Example: "  spamsim code --mail message.eml\n  spamsim code -s *.eml",
		RunE:    func(_ *cobra.Command, files []string) error { return k.run(a, files) },
	}
	f := c.Flags()
	f.BoolVar(&k.mail, "mail", false, "codes of the message's text")
	f.BoolVar(&k.original, "nilsimsa", false, "the original program's lines")
	f.BoolVarP(&k.skip, "skip-header", "s", false, "leave out all up to the first empty line")
	f.BoolVarP(&k.sum, "aggregate", "a", false, "one code of all files together")
	f.BoolVar(&k.mbox, "mbox", false, "each message of mbox files")
	for _, other := range []string{"nilsimsa", "skip-header", "aggregate", "mbox"} {
		c.MarkFlagsMutuallyExclusive("mail", other)
	}
	return c
}

func (k *coder) run(a *app, files []string) error {
	if len(files) == 0 {
		files = []string{"-"}
	}
	bad := &unread{app: a}
	line, end := a.codeLine(k.mail), func() error { return nil }
	if k.original || k.skip || k.sum || k.mbox {
		o := &original{app: a, coder: *k}
		line, end = o.file, o.end
	}
	for _, f := range files {
		if err := line(f); err != nil {
			if !errors.As(err, new(readError)) || errors.Is(err, context.Canceled) {
				return err
			}
			bad.add(err)
		}
	}
	return firstError(end(), bad.err())
}

// A readError is a file that could not be read; the next one is taken.
type readError struct{ error }

func (e readError) Unwrap() error { return e.error }

// readFile reads a file, or standard input where the name is "-".
func (a *app) readFile(name string) ([]byte, error) {
	var raw []byte
	var err error
	if name == "-" {
		raw, err = io.ReadAll(a.stdin)
	} else {
		raw, err = os.ReadFile(name)
	}
	if err != nil {
		var path *os.PathError
		if errors.As(err, &path) {
			err = path.Err
		}
		return nil, readError{fmt.Errorf("%s: %w", name, err)}
	}
	return raw, nil
}

// codeLine returns what prints the codes of one file.
func (a *app) codeLine(mail bool) func(name string) error {
	return func(name string) error {
		raw, err := a.readFile(name)
		if err != nil {
			return err
		}
		c := codesOf(raw, mail)
		return a.printf("%s %016x %s\n", c.nilsimsa, c.simhash, printable(name))
	}
}

// An original prints what the original program printed.
type original struct {
	*app
	coder
	all nilsimsa.Digest // for -a
}

// file prints the code of one argument, or adds it up.
func (o *original) file(name string) error {
	if _, err := os.Stat(name); err != nil && name != "-" {
		code, err := nilsimsa.ParseTail(name)
		if err != nil {
			return readError{fmt.Errorf("%s: invalid code or file name", name)}
		}
		if o.sum {
			o.all.AddCode(code)
			return nil
		}
		return o.printf("%s %s\n", code, printable(name))
	}
	raw, err := o.readFile(name)
	if err != nil {
		return err
	}
	base := filepath.Base(name)
	if !o.mbox {
		return o.text(base, raw)
	}
	messages := originalMbox(raw)
	if messages == nil {
		return readError{fmt.Errorf("%s: empty mbox file", name)}
	}
	for i, m := range messages {
		if err := o.text(fmt.Sprintf("%s#%d", base, i), m); err != nil {
			return err
		}
	}
	return nil
}

// text prints the code of one message, or adds it up.
func (o *original) text(name string, raw []byte) error {
	if o.skip {
		raw = afterHeader(raw)
	}
	if o.sum {
		o.all.Write(raw) // never fails
		o.all.Break()
		return nil
	}
	return o.printf("%s %s\n", nilsimsa.Sum(raw), printable(name))
}

// end prints the code of all, where one was asked for.
func (o *original) end() error {
	if !o.sum {
		return nil
	}
	return o.printf("%s\n", o.all.Code())
}
