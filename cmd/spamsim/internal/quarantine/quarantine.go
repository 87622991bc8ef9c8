// Package quarantine keeps messages that were held back, with their envelopes, until somebody releases them.
//
// It is a maildir, so that any mail reader shows it, with one folder more:
//
//	tmp/                   files that are being written
//	new/NAME, cur/NAME:2,* the messages; lines end in LF
//	envelope/NAME.json     the envelope of each, written before its message is shown
//
// NAME is the time in UTC and eight random octets. Folders are for their owner alone (0700), files too (0600). File and
// folder are on disk before Keep returns.
package quarantine

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"spamsim/milter/filter"
)

// Errors of a Box.
var (
	ErrNotThere = errors.New("no such message in the quarantine")
	ErrBusy     = errors.New("somebody else is at work on it")
)

// An Envelope is how a message came, and so how it goes on when it is released.
type Envelope struct {
	Sender     string    `json:"sender"`     // "" is the null sender
	Recipients []string  `json:"recipients"` // of which none has the message yet
	Client     string    `json:"client"`     // IP address, "" where unknown
	Helo       string    `json:"helo"`
	QueueID    string    `json:"queue_id"` // at the MTA that it came from, "" where it told none
	Time       time.Time `json:"time"`     // of its arrival
}

// A Box is a quarantine. Its methods may be called from many goroutines and processes.
type Box struct{ dir string }

// At returns the quarantine in a folder, which need not exist.
func At(dir string) *Box { return &Box{dir} }

// Prepare makes the folders that are missing.
func (b *Box) Prepare() error {
	for _, sub := range []string{"tmp", "new", "cur", "envelope"} {
		if err := os.MkdirAll(filepath.Join(b.dir, sub), 0o700); err != nil {
			return fmt.Errorf("quarantine: %w", err)
		}
	}
	return nil
}

// Keep takes a message, whose lines end in CRLF. Once it returns nil the message is on disk, on an error it is not there.
func (b *Box) Keep(env *filter.Envelope, raw []byte) error {
	name := newName(time.Now())
	e := Envelope{env.Sender, env.Recipients, env.ClientAddr, env.Helo, env.QueueID, env.Time}
	if err := b.write(b.envelope(name), e.encode()); err != nil {
		return fmt.Errorf("quarantine: %w", err)
	}
	if err := b.write(filepath.Join("new", name), bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n"))); err != nil {
		_ = os.Remove(filepath.Join(b.dir, b.envelope(name)))
		return fmt.Errorf("quarantine: %w", err)
	}
	return nil
}

// newName makes a name that no other message has; names sort by time.
func newName(now time.Time) string {
	var chance [8]byte
	_, _ = rand.Read(chance[:])
	return fmt.Sprintf("%s-%x", now.UTC().Format("20060102T150405"), chance)
}

// names are those that newName makes; nothing else may become part of a path.
var names = regexp.MustCompile(`^\d{8}T\d{6}-[0-9a-f]{16}$`)

func (b *Box) envelope(name string) string { return filepath.Join("envelope", name+".json") }

func (e *Envelope) encode() []byte {
	text, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		panic(err) // strings and a time
	}
	return append(text, '\n')
}

// write makes a file of the box appear whole and last, or not at all.
func (b *Box) write(name string, data []byte) error {
	target := filepath.Join(b.dir, name)
	f, err := os.CreateTemp(filepath.Join(b.dir, "tmp"), "")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), target)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return err
	}
	if err := syncDir(filepath.Dir(target)); err != nil {
		_ = os.Remove(target)
		return err
	}
	return nil
}

// syncDir makes a folder's entries last.
func syncDir(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return f.Sync()
}

// missing tells whether an error is that of a file that is not there.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
