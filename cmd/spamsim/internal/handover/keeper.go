package handover

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A daemon that is confined to its own files runs no program, and what it would run were confined as it is. A keeper is a
// process beside it that it has started before: it sleeps until it is asked to start the successor, and can do nothing else.
// Both speak in packets: a request is one octet and brings the descriptors (unix(7), SCM_RIGHTS), the answer is the number of
// the process, or an error behind a "!".

// maxKept bounds the descriptors of one request (SCM_MAX_FD).
const maxKept = 253

// maxAnswer bounds an answer, octets.
const maxAnswer = 1 << 10

// errKeeper is a keeper that cannot do what it is there for.
var errKeeper = errors.New("the process that starts successors")

// IsKeeper says whether this process was started to be one.
func IsKeeper(getenv func(string) string) bool { return getenv(variable) == asKeeper }

// Keep starts a keeper and returns what asks it. It ends when this process does.
func (p Program) Keep() (Starter, error) {
	ours, theirs, err := pair(unix.SOCK_SEQPACKET)
	if err != nil {
		return nil, err
	}
	defer theirs.Close()
	conn, err := net.FileConn(ours)
	_ = ours.Close() // the connection has a copy
	if err != nil {
		return nil, fmt.Errorf("handover: %w", err)
	}
	if _, err := p.start(asKeeper, []*os.File{theirs}); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return func(files []*os.File) (*os.Process, error) { return askKeeper(conn.(*net.UnixConn), files) }, nil
}

// askKeeper has a keeper start the successor.
func askKeeper(conn *net.UnixConn, files []*os.File) (*os.Process, error) {
	var fds []int
	for _, f := range files {
		fds = append(fds, int(f.Fd()))
	}
	if _, _, err := conn.WriteMsgUnix([]byte{0}, unix.UnixRights(fds...), nil); err != nil {
		return nil, fmt.Errorf("%w: %w", errKeeper, err)
	}
	b := make([]byte, maxAnswer)
	n, err := conn.Read(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errKeeper, err)
	}
	pid, err := strconv.Atoi(string(b[:n]))
	if err != nil {
		return nil, fmt.Errorf("%w: %s", errKeeper, strings.TrimPrefix(string(b[:n]), "!"))
	}
	return os.FindProcess(pid) // with a handle of it, so that no other process is meant later
}

// Serve is a keeper's life: it starts this program as often as it is asked to, until nobody can ask any more. A reload of
// all processes of the program is none of its business.
func (p Program) Serve() error {
	signal.Ignore(syscall.SIGHUP)
	unix.CloseOnExec(firstPassed)
	file := os.NewFile(firstPassed, "handover")
	conn, err := net.FileConn(file)
	_ = file.Close() // the connection has a copy
	if err != nil {
		return fmt.Errorf("%w: %w", errKeeper, err)
	}
	return p.keep(conn.(*net.UnixConn))
}

func (p Program) keep(conn *net.UnixConn) error {
	defer conn.Close()
	one, oob := make([]byte, 1), make([]byte, unix.CmsgSpace(4*maxKept))
	for {
		n, oobn, _, _, err := conn.ReadMsgUnix(one, oob)
		if n == 0 || errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w: %w", errKeeper, err)
		}
		answer := ""
		switch process, err := p.startWith(oob[:oobn]); {
		case err != nil:
			answer = fmt.Sprintf("!%.*s", maxAnswer-1, err.Error())
		default:
			answer = strconv.Itoa(process.Pid)
		}
		if _, err := conn.Write([]byte(answer)); err != nil {
			return fmt.Errorf("%w: %w", errKeeper, err)
		}
	}
}

// startWith starts the successor with the descriptors of a control message.
func (p Program) startWith(oob []byte) (*os.Process, error) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil, err
	}
	var files []*os.File
	defer func() {
		for _, f := range files {
			f.Close()
		}
	}()
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return nil, err
		}
		for _, fd := range fds {
			unix.CloseOnExec(fd)
			files = append(files, os.NewFile(uintptr(fd), "passed"))
		}
	}
	return p.Start(files)
}
