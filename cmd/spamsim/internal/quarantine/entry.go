package quarantine

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// An Entry is a message in a quarantine.
type Entry struct {
	Name     string
	Envelope Envelope
	Size     int64 // octets as stored

	box  *Box
	path string // of the message
}

// List returns all messages, the oldest first. Messages whose envelope cannot be read are left out: err names them all.
func (b *Box) List() (entries []Entry, err error) {
	var errs []error
	for _, sub := range []string{"new", "cur"} {
		files, err := os.ReadDir(filepath.Join(b.dir, sub))
		if err != nil && !missing(err) {
			return nil, fmt.Errorf("quarantine: %w", err)
		}
		for _, f := range files {
			name, _, _ := strings.Cut(f.Name(), ":") // mail readers add ":2," and flags
			if !names.MatchString(name) {
				continue
			}
			e, err := b.entry(name, filepath.Join(b.dir, sub, f.Name()))
			switch {
			case err == nil:
				entries = append(entries, e)
			case !missing(err): // else it was released meanwhile
				errs = append(errs, fmt.Errorf("quarantine: %s: %w", name, err))
			}
		}
	}
	slices.SortFunc(entries, func(a, b Entry) int { // of one second names are in no order
		return cmp.Or(a.Envelope.Time.Compare(b.Envelope.Time), strings.Compare(a.Name, b.Name))
	})
	return entries, errors.Join(errs...)
}

// entry reads one message's envelope.
func (b *Box) entry(name, path string) (Entry, error) {
	e := Entry{Name: name, box: b, path: path}
	info, err := os.Stat(path)
	if err != nil {
		return e, err
	}
	e.Size = info.Size()
	text, err := os.ReadFile(filepath.Join(b.dir, b.envelope(name)))
	if err != nil {
		return e, err
	}
	return e, json.Unmarshal(text, &e.Envelope)
}

// Find returns the message of a name; the beginning of a name will do where no other begins so. The error wraps
// ErrNotThere where there is none.
func (b *Box) Find(name string) (Entry, error) {
	all, err := b.List()
	var found []Entry
	for _, e := range all {
		if e.Name == name {
			return e, nil
		}
		if name != "" && strings.HasPrefix(e.Name, name) {
			found = append(found, e)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Entry{}, errors.Join(fmt.Errorf("%w: %s", ErrNotThere, name), err)
	}
	return Entry{}, fmt.Errorf("%d names in the quarantine begin with %s", len(found), name)
}

// Message returns the message with CRLF line ends.
func (e *Entry) Message() ([]byte, error) {
	raw, err := os.ReadFile(e.path)
	return bytes.ReplaceAll(raw, []byte("\n"), []byte("\r\n")), err
}

// Lock keeps others, of this process or another, from releasing the message at the same time. The error wraps ErrBusy
// where somebody else has it, ErrNotThere where it is gone.
func (e *Entry) Lock() (unlock func(), err error) {
	f, err := os.Open(e.path)
	if missing(err) {
		return nil, fmt.Errorf("%w: %s", ErrNotThere, e.Name)
	}
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", e.Name, ErrBusy)
	}
	if _, err := os.Stat(e.path); err != nil { // released between the two
		f.Close()
		return nil, fmt.Errorf("%w: %s", ErrNotThere, e.Name)
	}
	return func() { f.Close() }, nil
}

// Remove takes the message out, then its envelope.
func (e *Entry) Remove() error {
	if err := os.Remove(e.path); err != nil {
		return err
	}
	return errors.Join(syncDir(filepath.Dir(e.path)), os.Remove(filepath.Join(e.box.dir, e.box.envelope(e.Name))))
}

// Narrow leaves only these recipients to the message: the others have it.
func (e *Entry) Narrow(recipients []string) error {
	e.Envelope.Recipients = recipients
	return e.box.write(e.box.envelope(e.Name), e.Envelope.encode())
}
