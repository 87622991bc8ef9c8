package handover

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// A Predecessor is the old process as the new one sees it. A nil one is none: nobody has to be told anything.
type Predecessor struct {
	*Talk
	sockets []inherited
	yours   bool
}

// An inherited is a listener that came from the predecessor.
type inherited struct {
	Socket
	net.Listener
}

// Receive takes what this process was given, where the environment says that it was; else it returns nil.
func Receive(getenv func(string) string) (*Predecessor, error) {
	switch v := getenv(variable); v {
	case "":
		return nil, nil
	case asHeir:
		return receive(firstPassed)
	default:
		return nil, fmt.Errorf("%w: %s=%q", ErrTalk, variable, v)
	}
}

func receive(first int) (*Predecessor, error) {
	unix.CloseOnExec(first)
	talk, err := newTalk(os.NewFile(uintptr(first), "handover"))
	if err != nil {
		return nil, err
	}
	p := &Predecessor{Talk: talk}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	note, err := p.Hear(ctx, Sockets)
	if err != nil {
		return nil, errors.Join(err, p.Close())
	}
	for i, s := range note.Sockets {
		fd := first + 1 + i
		unix.CloseOnExec(fd)
		file := os.NewFile(uintptr(fd), s.Door)
		l, err := net.FileListener(file)
		_ = file.Close() // the listener has a copy
		if err != nil {
			err = fmt.Errorf("handover: %s: %w", s.Door, err)
			return nil, p.Finish(err)
		}
		p.sockets = append(p.sockets, inherited{s, l})
	}
	return p, nil
}

// Passed returns the listeners that the service manager opened, by the names of their doors.
func (p *Predecessor) Passed() map[string][]net.Listener {
	out := map[string][]net.Listener{}
	for _, s := range p.sockets {
		if s.Address == "" {
			out[s.Door] = append(out[s.Door], s.Listener)
		}
	}
	return out
}

// Opened returns the listeners that the predecessor opened.
func (p *Predecessor) Opened() map[Socket]net.Listener {
	out := map[Socket]net.Listener{}
	for _, s := range p.sockets {
		if s.Address != "" {
			out[s.Socket] = s.Listener
		}
	}
	return out
}

// Await waits until everything is this process's. A predecessor that has ended by then has left it all.
func (p *Predecessor) Await(ctx context.Context) error {
	if _, err := p.Hear(ctx, Yours); err != nil && !errors.Is(err, ErrEnded) {
		return err
	}
	p.yours = true
	return nil
}

// Finish says why this process ends, if it ends before everything was its own, and returns that.
func (p *Predecessor) Finish(err error) error {
	if p == nil {
		return err
	}
	if err != nil && !p.yours {
		_ = p.Tell(Note{Word: failed, Error: err.Error()}) // it may not listen any more
	}
	return errors.Join(err, p.Close())
}
