// Package handover is how a daemon makes room for its successor: the program that lies now where its own was started from.
//
// The old one starts the new one with a connection as descriptor 3 and its listening sockets as those behind it, says in the
// environment that it did, and both talk in lines of JSON, each a Note:
//
//	old  sockets   which they are, in order
//	new  ready     its configuration is good, it can listen wherever that says; else error
//	old  take      the store is closed
//	new  serving   it holds the store and answers at the control socket; else error
//	old  yours     the sockets' files are the new one's to remove, and the service manager knows it
//	old  done      the last message of the old one is delivered; with what was not judged
//
// Until "yours" the new one may end, or be ended, and the old one goes on as if nothing had been. A connection that ends says
// that its process has.
package handover

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"time"
)

// The variable of the environment, and what it says.
const (
	variable = "SPAMSIM_HANDOVER"
	asHeir   = "1" // the version of the talk
	asKeeper = "keeper"
)

// firstPassed is the first descriptor behind the standard ones.
const firstPassed = 3

// The words of a Note.
const (
	Sockets = "sockets"
	Ready   = "ready"
	Take    = "take"
	Serving = "serving"
	Yours   = "yours"
	Done    = "done"
	failed  = "error"
)

// Errors of a handover.
var (
	// ErrRefused is a successor that says why it cannot be one.
	ErrRefused = errors.New("the new program says")
	// ErrEnded is a process at the other end that has ended.
	ErrEnded = errors.New("the other process has ended")
	// ErrTalk is a process at the other end that says something else than it should.
	ErrTalk = errors.New("the other process is of a version that does not know this")
)

// A Socket tells which one a descriptor is.
type Socket struct {
	Door    string `json:"door"`
	Address string `json:"address,omitempty"` // as the configuration writes it; "" where the service manager opened it
}

// A Note is one line of the talk. Fields beside Word belong to some words.
type Note struct {
	Word     string           `json:"word"`
	Sockets  []Socket         `json:"sockets,omitempty"`
	Version  string           `json:"version,omitempty"`  // of the new program, with ready
	Control  string           `json:"control,omitempty"`  // its control socket, with serving
	Unjudged map[string]int64 `json:"unjudged,omitempty"` // messages that passed so, by door, with done
	Error    string           `json:"error,omitempty"`
}

// A Talk is one end of the connection.
type Talk struct {
	conn net.Conn
	in   *json.Decoder
}

// newTalk talks over a descriptor, which it takes.
func newTalk(file *os.File) (*Talk, error) {
	conn, err := net.FileConn(file)
	_ = file.Close() // the connection has a copy
	if err != nil {
		return nil, fmt.Errorf("handover: %w", err)
	}
	return &Talk{conn, json.NewDecoder(conn)}, nil
}

// patience bounds how long a note may take to be sent: the other one reads.
const patience = 10 * time.Second

// Tell sends a note.
func (t *Talk) Tell(n Note) error {
	if err := t.conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if err := json.NewEncoder(t.conn).Encode(n); err != nil {
		return fmt.Errorf("%w: %w", ErrEnded, err)
	}
	return nil
}

// Hear waits for a note of that word, until ctx is done. After an error nothing more is heard.
func (t *Talk) Hear(ctx context.Context, word string) (n Note, err error) {
	_ = t.conn.SetReadDeadline(time.Time{})
	stop := context.AfterFunc(ctx, func() { _ = t.conn.SetReadDeadline(time.Unix(1, 0)) })
	defer stop()
	err = t.in.Decode(&n)
	switch {
	case err == nil && n.Word == failed:
		return n, fmt.Errorf("%w: %s", ErrRefused, n.Error)
	case err == nil && n.Word != word:
		return n, fmt.Errorf("%w: %q in the place of %q", ErrTalk, n.Word, word)
	case err == nil:
		return n, nil
	case ctx.Err() != nil:
		return n, fmt.Errorf("waiting for %q: %w", word, ctx.Err())
	}
	return n, fmt.Errorf("%w before it said %q", ErrEnded, word)
}

// Close ends the talk, which the other one notices.
func (t *Talk) Close() error { return t.conn.Close() }
