package milter

import (
	"net"
	"syscall"
	"testing"
)

// TestQuickAck: whatever was sent before, what is awaited is acknowledged at once.
func TestQuickAck(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	mode := func() (on int) {
		raw, err := conn.(*net.TCPConn).SyscallConn()
		if err != nil {
			t.Fatal(err)
		}
		_ = raw.Control(func(fd uintptr) { on, _ = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK) })
		return on
	}
	ping := func() {
		t.Helper()
		_, _ = client.Write([]byte("x"))
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write([]byte("y"))
	}
	ping()
	ping()
	if mode() == 1 {
		t.Log("this kernel acknowledges at once by itself")
	}
	quickAck(conn)()
	if mode() != 1 {
		t.Error("acknowledgements are still put off")
	}
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	quickAck(a)() // not TCP: nothing happens
}
