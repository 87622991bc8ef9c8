// Package source reads mail from where people keep it: mbox files (mboxrd and mboxo, also gzipped), maildirs, folders
// of raw messages, single files, standard input. Mail streams: one message at a time is in memory.
package source

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Errors of a Message.
var (
	// ErrTooLarge is a message over the limit, of which nothing is handed out. The mail after it is read on.
	ErrTooLarge = errors.New("message is larger than the limit")
	// ErrMboxFolder is a folder whose name says that it is an mbox file.
	ErrMboxFolder = errors.New("is a folder, not an mbox file: name the mbox file inside it")
	// ErrEmptyFolder is a folder in which no message was found.
	ErrEmptyFolder = errors.New("holds no messages")
)

// A Message is one raw message, or what kept it from being read.
type Message struct {
	Name  string    // "FILE", or "FILE#N" in an mbox, N from 0; "-" is standard input
	Raw   []byte    // without the mbox's own line and quoting; owned by the receiver
	Stamp time.Time // when the mbox says that it arrived, else zero
	Err   error     // names the file; Raw is nil
}

// DefaultLimit is how large a message may be, in octets, where Options says nothing.
const DefaultLimit = 64 << 20

// Options of a Read.
type Options struct {
	Stdin io.Reader
	Limit int64 // octets of one message, 0: DefaultLimit
}

// Read yields every message of the paths in order: a folder's in the order of their names, a maildir's "cur" and "new"
// by name, "-" or no path at all is standard input. In folders only files are read: pipes, sockets and devices are passed
// over. A path that cannot be read yields one Message with an error, and the next path is taken.
func Read(paths []string, o Options) iter.Seq[Message] {
	if o.Limit == 0 {
		o.Limit = DefaultLimit
	}
	if len(paths) == 0 {
		paths = []string{"-"}
	}
	return func(yield func(Message) bool) {
		r := &reader{Options: o, yield: yield}
		for _, p := range paths {
			if !r.path(p) {
				return
			}
		}
	}
}

// A reader hands out messages; its methods return false when the receiver wants no more.
type reader struct {
	Options
	yield func(Message) bool
}

// tooLarge says what the limit is.
func (r *reader) tooLarge() error { return fmt.Errorf("%w of %d octets", ErrTooLarge, r.Limit) }

func (r *reader) fail(name string, err error) bool {
	var path *fs.PathError
	if errors.As(err, &path) { // it names the file itself, in another place
		err = path.Err
	}
	return r.yield(Message{Name: name, Err: fmt.Errorf("%s: %w", name, err)})
}

func (r *reader) path(path string) bool {
	if path == "-" {
		return r.stream("-", r.Stdin)
	}
	info, err := os.Stat(path)
	if err != nil {
		return r.fail(path, err)
	}
	if info.IsDir() {
		return r.folder(path)
	}
	return r.file(path)
}

func (r *reader) file(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return r.fail(path, err)
	}
	defer f.Close()
	return r.stream(path, f)
}

// folder reads a maildir or any other folder.
func (r *reader) folder(dir string) bool {
	files, err := maildir(dir)
	if files == nil && err == nil {
		if ext := filepath.Ext(dir); ext == ".mbox" || ext == ".mbx" {
			return r.fail(dir, ErrMboxFolder)
		}
		return r.tree(dir)
	}
	if err != nil && !r.fail(dir, err) {
		return false
	}
	return r.files(files)
}

func (r *reader) files(paths []string) bool {
	for _, p := range paths {
		if !r.file(p) {
			return false
		}
	}
	return true
}

// maildir lists the messages of a maildir by file name, which begins with the time of delivery: "new" and "cur"
// together, since a mail program moves mail from the one to the other. It is nil where dir is no maildir.
func maildir(dir string) ([]string, error) {
	var files []string
	for _, sub := range []string{"cur", "new"} {
		entries, err := os.ReadDir(filepath.Join(dir, sub))
		if errors.Is(err, fs.ErrNotExist) && sub == "cur" {
			return nil, nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return files, err
		}
		for _, e := range entries {
			path := filepath.Join(dir, sub, e.Name())
			if !strings.HasPrefix(e.Name(), ".") && !e.IsDir() && !special(path, e.Type()) {
				files = append(files, path)
			}
		}
	}
	slices.SortFunc(files, func(a, b string) int { return strings.Compare(filepath.Base(a), filepath.Base(b)) })
	if files == nil {
		files = []string{} // an empty maildir is a maildir
	}
	return files, nil
}

// special says whether what lies in a folder is no file but a pipe, a socket or a device, or leads to one: of a pipe nobody
// may ever write the end. Named by itself it is read: a shell passes <(command) so.
func special(path string, mode fs.FileMode) bool {
	if mode&fs.ModeSymlink != 0 {
		info, err := os.Stat(path)
		if err != nil {
			return false // the reader tells
		}
		mode = info.Mode()
	}
	return mode&(fs.ModeNamedPipe|fs.ModeSocket|fs.ModeDevice|fs.ModeIrregular) != 0
}

// tree reads the regular files under dir in the order of their names, maildirs' "tmp" and names with a dot left out. A folder
// below it that cannot be read keeps nobody from the others.
func (r *reader) tree(dir string) bool {
	var files []string
	more, failed := true, false
	root := dir + string(filepath.Separator) // where dir is a link, this is what it leads to
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			failed = true
			if more = r.fail(filepath.Clean(path), err); !more {
				return fs.SkipAll
			}
		case path != root && strings.HasPrefix(e.Name(), "."), e.IsDir() && e.Name() == "tmp":
			if e.IsDir() && path != root {
				return filepath.SkipDir
			}
		case e.Type().IsRegular():
			files = append(files, path)
		case e.Type()&fs.ModeSymlink != 0:
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				files = append(files, path)
			}
		}
		return nil
	})
	if err == nil && files == nil && !failed {
		err = ErrEmptyFolder
	}
	if err != nil {
		return r.fail(dir, err)
	}
	return more && r.files(files)
}
