package main

import (
	"errors"
	"net"
	"os"
	"sync"
	"syscall"
)

// connected returns the two ends of a Unix connection. It has no name: that of a socket in a folder for temporary files may
// be longer than the 108 octets which a socket's name has room for (unix(7)), and the folder may not be there.
// No program is started by whoever needs them.
func connected() (a, b net.Conn, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		return nil, nil, os.NewSyscallError("socketpair", err)
	}
	if a, err = connOf(fds[0]); err != nil {
		return nil, nil, errors.Join(err, syscall.Close(fds[1]))
	}
	if b, err = connOf(fds[1]); err != nil {
		return nil, nil, errors.Join(err, a.Close())
	}
	return a, b, nil
}

// connOf is the connection of a socket, which is the connection's from then on.
func connOf(fd int) (net.Conn, error) {
	f := os.NewFile(uintptr(fd), "socketpair")
	defer f.Close() // the connection has a duplicate
	return net.FileConn(f)
}

// An onlyOne is a listener to whom one client has come, and no other can.
type onlyOne struct {
	conn   net.Conn // nil once it was accepted
	closed chan struct{}
	once   sync.Once
}

func (l *onlyOne) Accept() (net.Conn, error) {
	if c := l.conn; c != nil {
		l.conn = nil
		return c, nil
	}
	<-l.closed
	return nil, net.ErrClosed
}

func (l *onlyOne) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *onlyOne) Addr() net.Addr { return &net.UnixAddr{Net: "unix"} }
