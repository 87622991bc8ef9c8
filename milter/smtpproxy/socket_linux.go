package smtpproxy

import (
	"crypto/tls"
	"errors"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// left says whether a peer has ended its side of a connection, also where octets before that wait to be read. It asks the
// kernel, so that no goroutine has to have heard of it first.
func left(conn net.Conn) bool {
	gone := false
	err := control(conn, func(fd uintptr) {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLRDHUP}}
		n, err := unix.Poll(p, 0)
		gone = err == nil && n > 0 && p[0].Revents&(unix.POLLRDHUP|unix.POLLHUP|unix.POLLERR) != 0
	})
	return gone || err != nil && !errors.Is(err, errNoSocket)
}

// cork keeps what is written from now on until the connection is closed: a last word and the end then need one packet.
func cork(conn net.Conn) {
	_ = control(conn, func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_CORK, 1) })
}

// errNoSocket is a connection that has none beneath.
var errNoSocket = errors.New("no socket")

// control calls f with the socket beneath a connection. Other errors than errNoSocket mean that it is closed.
func control(conn net.Conn, f func(fd uintptr)) error {
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	s, ok := conn.(syscall.Conn)
	if !ok {
		return errNoSocket
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(f)
}
