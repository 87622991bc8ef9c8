package handover

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A Program is what is started as the successor.
type Program struct {
	Path string // where this process's own was started from, whatever lies there now
	Args []string
	Env  []string
}

// Self is the program of this process, with its arguments. What the service manager told this process alone is left out.
func Self() (Program, error) {
	path, err := exec.LookPath(os.Args[0])
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return Program{}, fmt.Errorf("handover: where this program lies: %w", err)
	}
	env := slices.DeleteFunc(os.Environ(), func(e string) bool {
		return strings.HasPrefix(e, "LISTEN_") || strings.HasPrefix(e, "WATCHDOG_PID=") || strings.HasPrefix(e, variable+"=")
	})
	return Program{path, os.Args, env}, nil
}

// A Starter starts the successor with these descriptors behind the standard ones.
type Starter func(files []*os.File) (*os.Process, error)

// Start starts the program as a child of this process.
func (p Program) Start(files []*os.File) (*os.Process, error) { return p.start(asHeir, files) }

func (p Program) start(as string, files []*os.File) (*os.Process, error) {
	cmd := exec.Command(p.Path)
	cmd.Args = p.Args
	cmd.Env = append(slices.Clip(p.Env), variable+"="+as)
	cmd.ExtraFiles = files
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("handover: %w", err)
	}
	go func() { _ = cmd.Wait() }() // what it has to say of its end it says over the talk
	return cmd.Process, nil
}

// A Successor is the new process as the old one sees it.
type Successor struct {
	*Talk
	*os.Process
}

// Begin starts a successor and gives it copies of the sockets, whose files stay the caller's.
func Begin(start Starter, sockets []Socket, files []*os.File) (*Successor, error) {
	ours, theirs, err := pair(unix.SOCK_STREAM)
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	talk, err := newTalk(ours)
	if err != nil {
		return nil, err
	}
	process, err := start(append([]*os.File{theirs}, files...))
	if err != nil {
		return nil, errors.Join(err, talk.Close())
	}
	s := &Successor{talk, process}
	if err := s.Tell(Note{Word: Sockets, Sockets: sockets}); err != nil {
		s.End()
		return nil, err
	}
	return s, nil
}

// Copy copies a listener's descriptor. Its File method is not for this: what it returns makes the listener block, here and in
// every process that has it, as soon as it is passed on (os.File.Fd), and one that blocks cannot be closed.
func Copy(l syscall.Conn) (*os.File, error) {
	raw, err := l.SyscallConn()
	if err != nil {
		return nil, fmt.Errorf("handover: %w", err)
	}
	copied, failed := -1, error(nil)
	if err := raw.Control(func(fd uintptr) { copied, failed = unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, firstPassed) }); err != nil {
		failed = err
	}
	if failed != nil {
		return nil, fmt.Errorf("handover: %w", failed)
	}
	return os.NewFile(uintptr(copied), "listener"), nil
}

// End ends a successor that is not to be one.
func (s *Successor) End() {
	_ = s.Talk.Close()
	_ = s.Kill() // it may have ended
}

// pair makes two sockets that are connected. Not every system takes SOCK_CLOEXEC: until both are marked no program is started.
func pair(kind int) (a, b *os.File, err error) {
	syscall.ForkLock.RLock()
	fds, err := unix.Socketpair(unix.AF_UNIX, kind, 0)
	if err == nil {
		unix.CloseOnExec(fds[0])
		unix.CloseOnExec(fds[1])
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, fmt.Errorf("handover: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "handover"), os.NewFile(uintptr(fds[1]), "handover"), nil
}
