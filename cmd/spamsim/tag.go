package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"spamsim/cmd/spamsim/internal/config"
	"spamsim/cmd/spamsim/internal/control"
	"spamsim/milter/filter"
)

// runTag is check --tag: the message goes out whatever happens, once it was read.
func (k *checker) runTag(ctx context.Context, a *app, name string) error {
	in, err := a.open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	conf, confErr := a.load()
	limit := int64(unconfiguredLimit)
	if confErr == nil {
		limit = int64(conf.Limits.MaxJudgedSize)
	}
	head, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return tempError{err}
	}
	postmark := postmarkOf(head)
	raw := head[len(postmark):]
	var j filter.Judgement
	switch {
	case confErr != nil:
		a.warn("%v", confErr)
		j = filter.Pass(hostID(a.env), filter.Error, "configuration")
	case int64(len(head)) > limit:
		j = filter.Pass(conf.ID, filter.Skipped, "size")
	default:
		j = k.judgement(ctx, a, conf, raw)
	}
	if confErr == nil {
		j = configuredActions(conf).carriedOut(&filter.Envelope{Door: "check"}, j) // what the action is beside the fields is the agent's affair
	}
	if confErr == nil && conf.CompatibilityFields {
		j = j.WithCompatibility(conf.ID)
	}
	return a.writeTagged(postmark, filter.Apply(raw, j), in)
}

// unconfiguredLimit is how much of a message is held where the configuration cannot be read, in octets.
const unconfiguredLimit = 10 << 20

// judgement judges the message; what goes wrong is told and becomes verdict error.
func (k *checker) judgement(ctx context.Context, a *app, conf *config.Loaded, raw []byte) (j filter.Judgement) {
	ctx, cancel := withPatience(ctx)
	defer cancel()
	err := a.use(conf, k.access(), func(s control.Service) error {
		var err error
		j, err = s.Check(ctx, raw, k.ask)
		return err
	})
	if err != nil {
		a.warn("%v", err)
		return filter.Pass(conf.ID, filter.Error, "store")
	}
	return j
}

// hostID is the name in the header where the configuration cannot be read.
func hostID(env config.Env) string {
	host, err := env.Hostname()
	if err != nil || strings.ContainsAny(host, " ;\r\n\t") {
		return "localhost"
	}
	return host
}

// writeTagged writes the message in three parts: the mbox's line, what was tagged, what was not read yet.
func (a *app) writeTagged(postmark, tagged []byte, rest io.Reader) error {
	for _, part := range []io.Reader{bytes.NewReader(postmark), bytes.NewReader(tagged), rest} {
		if _, err := io.Copy(a.stdout, part); err != nil {
			return tempError{err}
		}
	}
	return nil
}

// A tempError is one after which the same command may succeed.
type tempError struct{ error }

func (e tempError) Unwrap() error { return e.error }

// postmarkOf returns the line "From ..." that delivery agents put before a message, which must stay its first one.
func postmarkOf(raw []byte) []byte {
	if !bytes.HasPrefix(raw, []byte("From ")) {
		return nil
	}
	return raw[:bytes.IndexByte(raw, '\n')+1]
}

// open opens a file, or standard input.
func (a *app) open(name string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(a.stdin), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || info.IsDir() {
		f.Close()
		return nil, firstError(err, errors.New(name+" is a folder: --tag takes one message"))
	}
	return f, nil
}
