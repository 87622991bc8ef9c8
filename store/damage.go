package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// ErrDamaged is returned by Open for a file of spamsim that cannot be read whole.
var ErrDamaged = errors.New("the store is damaged")

// openMark is what the name of a store is followed by in that of an empty file that lies beside it while it is open for writing.
// One that is found when the store is opened tells of an unclean stop.
const openMark = ".open"

// ours are octets that are in each store, wherever they are: the key and the value of the format lie side by side.
var ours = append(bytes.Clone(keyFormat), formatName...)

// inspect looks through a file that was not closed as it should be, or is small, while nobody else has it open. The error is ErrDamaged.
// It comes before bbolt has the file, not beside the mail: a page that points nowhere ends the process in whatever goroutine
// bbolt follows it, the one that commits among them. What Open reads after it takes as long: 0.3 to 0.5 s and the same for
// 645 MB in memory, on two busy cores of an AMD EPYC. A large one that was closed well is asked for its length alone: it may have been
// cut since, as a backup is that comes back onto a full disk.
func inspect(path string) error {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil // bbolt says it better
	}
	f, err := os.Open(path)
	if err != nil {
		return nil // so it does of this
	}
	defer f.Close()
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		return nil // in use, which bbolt will say
	}
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return nil
	}
	check := checkLength
	if _, err := os.Stat(path + openMark); err == nil || info.Size() <= quickSize {
		check = checkPages
	}
	if err := check(f, info.Size()); err != nil {
		return blame(path, err)
	}
	return nil
}

// quickSize is that of a file that is looked through in some hundredths of a second.
const quickSize = 64 << 20

// markOpen leaves the mark beside a file that is about to be opened for writing. It comes before bbolt, which may end the process at
// a page that is damaged: the next start will look. unmark takes it away again, where it was not there before.
func (s *Store) markOpen(path string) (unmark func()) {
	if s.opts.ReadOnly {
		return func() {}
	}
	_, before := os.Stat(path + openMark)
	s.tell(os.WriteFile(path+openMark, nil, 0o600)) // without it an unclean stop will not be noticed
	return func() {
		if before != nil {
			_ = os.Remove(path + openMark)
		}
	}
}

// blame says of a file that bbolt could not read whether it is a damaged one of ours or another program's.
func blame(path string, why error) error {
	if isOurs(path) {
		return fmt.Errorf("%s: %w: %w", path, ErrDamaged, why)
	}
	return fmt.Errorf("%s: %w: %w", path, ErrForeign, why)
}

// isOurs says whether a file has the octets that each of our stores has.
func isOurs(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	const part = 1 << 20
	buf, kept := make([]byte, part+len(ours)), 0
	for {
		n, err := io.ReadFull(f, buf[kept:])
		have := buf[:kept+n]
		if bytes.Contains(have, ours) {
			return true
		}
		if err != nil {
			return false
		}
		kept = copy(buf, have[len(have)-len(ours)+1:])
	}
}

// setAside gives a damaged file a name that says so, and returns it.
func setAside(path string) (aside string, err error) {
	stamp := time.Now().UTC().Format("20060102T150405.000")
	aside = path + ".damaged-" + stamp
	if err := os.Rename(path, aside); err != nil {
		return "", fmt.Errorf("set the damaged store aside: %w", err)
	}
	return aside, nil
}
