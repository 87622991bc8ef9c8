//go:build linux

package smtpproxy

import (
	"crypto/tls"
	"io"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestLeft: the kernel knows at once that a peer has hung up, whatever it sent before and nobody has read.
func TestLeft(t *testing.T) {
	for _, network := range []string{"tcp", "unix"} {
		for _, unread := range []string{"", "QUIT\r\n"} {
			for name, wrap := range map[string]func(net.Conn) net.Conn{
				"plain": func(c net.Conn) net.Conn { return c },
				"TLS":   func(c net.Conn) net.Conn { return tls.Server(c, &tls.Config{}) },
			} {
				far, near := pair(t, network)
				if _, err := far.Write([]byte(unread)); err != nil {
					t.Fatal(err)
				}
				if left(wrap(near)) {
					t.Errorf("%s, %s: left before it hung up", network, name)
				}
				far.Close()
				if !left(wrap(near)) {
					t.Errorf("%s, %s, %q unread: not left", network, name, unread)
				}
				near.Close()
				if !left(wrap(near)) {
					t.Errorf("%s, %s: not left when closed here", network, name)
				}
			}
		}
	}
}

// TestMissed: a message that was answered soon is not held against a client that ends its side early.
func TestMissed(t *testing.T) {
	far, near := pair(t, "tcp")
	c := &client{conn: near}
	far.Close()
	if c.missed(time.Now()) || !c.missed(time.Now().Add(-2*watchAfter)) {
		t.Error("at once, or not after a while")
	}
	near.Close()
}

// TestCork: a last word and the end of the connection are one packet, also beneath TLS.
func TestCork(t *testing.T) {
	for name, c := range map[string]struct {
		cork func(net.Conn)
		want uint32
	}{
		"as it is":  {func(net.Conn) {}, 2},
		"corked":    {cork, 1},
		"under TLS": {func(c net.Conn) { cork(tls.Server(c, &tls.Config{})) }, 1},
	} {
		far, near := pair(t, "tcp")
		before := packets(t, far)
		c.cork(near)
		if _, err := near.Write([]byte("221 Bye\r\n")); err != nil {
			t.Fatal(err)
		}
		near.Close()
		if said, err := io.ReadAll(far); err != nil || string(said) != "221 Bye\r\n" {
			t.Errorf("%s: %q, %v", name, said, err)
		}
		if n := packets(t, far) - before; n != c.want {
			t.Errorf("%s: %d packets, want %d", name, n, c.want)
		}
		far.Close()
	}
}

// packets is how many a connection has taken in.
func packets(t *testing.T, conn net.Conn) uint32 {
	t.Helper()
	var info *unix.TCPInfo
	err := control(conn, func(fd uintptr) { info, _ = unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO) })
	if err != nil || info == nil {
		t.Fatal(err, "no TCP_INFO")
	}
	return info.Segs_in
}

// pair is a connection, both its ends.
func pair(t *testing.T, network string) (far, near net.Conn) {
	t.Helper()
	addr := "127.0.0.1:0"
	if network == "unix" {
		addr = t.TempDir() + "/s"
	}
	l, err := net.Listen(network, addr)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if far, err = net.Dial(network, l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	if near, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	return far, near
}
