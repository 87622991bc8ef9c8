package control

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
)

// SocketOf is the control socket of a store: beside it, under its name with ".sock".
func SocketOf(store string) string { return store + ".sock" }

// Listen opens a Unix socket with mode 0660, and removes it when it is closed. A socket that lies there is taken for
// left over from a daemon that was killed, and is replaced: the caller knows that nobody serves it, as who holds the store
// knows of the control socket.
func Listen(socket string) (*Socket, error) {
	switch info, err := os.Lstat(socket); {
	case err == nil && info.Mode()&fs.ModeSocket == 0:
		return nil, fmt.Errorf("%s is there and is no socket", socket)
	case err == nil:
		if err := os.Remove(socket); err != nil {
			return nil, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	name, done, err := short(socket)
	if err != nil {
		return nil, err
	}
	defer done()
	l, err := bind(name)
	if err != nil {
		return nil, fmt.Errorf("socket %s: %w", socket, err)
	}
	out := Adopt(l.(*net.UnixListener), socket)
	if err := os.Chmod(socket, 0o660); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	out.Keep(false)
	return out, nil
}

// bind listens so that others cannot connect in the moment before the mode is set: on Linux a socket's file gets the mode
// that the socket has (unix_bind in net/unix/af_unix.c), less the umask. That is the whole process's and stays as it is,
// since doors that are open already write files. Elsewhere the mode of a socket may not be changed (EINVAL).
func bind(name string) (net.Listener, error) {
	narrow := func(_, _ string, c syscall.RawConn) error {
		var err error
		if failed := c.Control(func(fd uintptr) { err = syscall.Fchmod(int(fd), 0o660) }); failed != nil {
			return failed
		}
		if errors.Is(err, syscall.EINVAL) {
			return nil
		}
		return err
	}
	c := net.ListenConfig{Control: narrow}
	return c.Listen(context.Background(), "unix", name)
}

// A Socket listens, and removes its file when it is closed, unless it is to be kept.
type Socket struct {
	*net.UnixListener
	path string
	kept atomic.Bool
}

// Adopt takes a listener on a socket's file that another process opened. The file is kept until Keep says otherwise.
func Adopt(l *net.UnixListener, socket string) *Socket {
	l.SetUnlinkOnClose(false) // its name may be the short one, which is no more
	s := &Socket{UnixListener: l, path: socket}
	s.kept.Store(true)
	return s
}

// Keep says whether the file stays where it is when the socket is closed, since another process listens there too.
func (s *Socket) Keep(is bool) { s.kept.Store(is) }

// Close stops listening.
func (s *Socket) Close() error {
	if s.kept.Load() {
		return s.UnixListener.Close()
	}
	if err := os.Remove(s.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, s.UnixListener.Close())
	}
	return s.UnixListener.Close()
}

// maxSocket is how long the name of a Unix socket may be everywhere: sun_path has 104 octets on the smallest.
const maxSocket = 100

// short returns a name by which a socket with a long name can be reached until done is called: through the open
// folder, as Linux offers it.
func short(socket string) (name string, done func(), err error) {
	if len(socket) <= maxSocket {
		return socket, func() {}, nil
	}
	dir, err := os.Open(filepath.Dir(socket))
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), filepath.Base(socket)), func() { dir.Close() }, nil
}
