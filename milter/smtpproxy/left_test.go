//go:build linux

package smtpproxy

import (
	"crypto/tls"
	"net"
	"testing"
	"time"
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
