// Package systemd speaks with the service manager that started this process: what state it is in (sd_notify(3)), that it is
// alive (WatchdogSec=), and which sockets were opened for it (sd_listen_fds(3)). Where no manager is, nothing is said and
// nothing was passed.
//
// The two protocols are a datagram and three variables of the environment; a module for them would be longer than they are.
package systemd

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// A Notifier tells the manager of this process. Its methods may be called from many goroutines.
type Notifier struct {
	socket string        // "" where nobody listens
	every  time.Duration // between signs of life, 0 where none are wanted
}

// NewNotifier reads the environment, for the process pid.
func NewNotifier(getenv func(string) string, pid int) *Notifier {
	n := &Notifier{socket: getenv("NOTIFY_SOCKET")}
	usec, err := strconv.ParseUint(getenv("WATCHDOG_USEC"), 10, 53)
	if whose := getenv("WATCHDOG_PID"); err == nil && (whose == "" || whose == strconv.Itoa(pid)) {
		n.every = time.Duration(usec) * time.Microsecond / 2 // as sd_watchdog_enabled(3) advises
	}
	return n
}

// Ready says that the start, or a reload, is done.
func (n *Notifier) Ready() error { return n.send("READY=1") }

// Stopping says that the process is about to end.
func (n *Notifier) Stopping() error { return n.send("STOPPING=1") }

// MainPID says that another process is the service from now on, which then speaks for it.
func (n *Notifier) MainPID(pid int) error { return n.send(fmt.Sprintf("MAINPID=%d", pid)) }

// Reloading says that a reload begins; Ready ends it. The time lets the manager tell this reload from an earlier one.
func (n *Notifier) Reloading() error {
	var now unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &now); err != nil {
		return fmt.Errorf("clock: %w", err)
	}
	return n.send(fmt.Sprintf("RELOADING=1\nMONOTONIC_USEC=%d", now.Nano()/1000))
}

// Live says until ctx is done that the process is alive, as often as the manager wants, each time once alive has returned:
// where it never does, the manager takes the process for dead. A sign that cannot be sent is told to trouble, and the next
// one is tried.
func (n *Notifier) Live(ctx context.Context, alive func(), trouble func(error)) {
	if n.socket == "" || n.every == 0 {
		return
	}
	tick := time.NewTicker(n.every)
	defer tick.Stop()
	for {
		alive()
		if err := n.send("WATCHDOG=1"); err != nil {
			trouble(err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// patience bounds a datagram.
const patience = 5 * time.Second

// send sends one datagram. A socket whose name begins with "@" is an abstract one, as package net has it too.
func (n *Notifier) send(state string) error {
	if n.socket == "" {
		return nil
	}
	conn, err := net.Dial("unixgram", n.socket)
	if err != nil {
		return fmt.Errorf("telling the service manager: %w", err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := conn.Write([]byte(state)); err != nil {
		return fmt.Errorf("telling the service manager: %w", err)
	}
	return nil
}
