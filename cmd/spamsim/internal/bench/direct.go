package bench

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"time"
)

// direct is the rate of Postfix's smtp-source straight to its smtp-sink, on as many kept connections and with messages of
// as many octets; nil where they are not installed.
func direct(ctx context.Context, messages, octets int) (*float64, error) {
	source, err := findTool("smtp-source")
	if err != nil {
		return nil, nil
	}
	sink, err := findTool("smtp-sink")
	if err != nil {
		return nil, nil
	}
	addr, err := freeAddr()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 3*patience)
	defer cancel()
	args := []string{addr, "100"}
	if os.Geteuid() == 0 {
		args = append([]string{"-u", "nobody"}, args...) // it wants to be told when it runs as root
	}
	stop, err := startServer(ctx, exec.CommandContext(ctx, sink, args...), addr)
	if err != nil {
		return nil, err
	}
	defer stop()
	best := 0.0
	for range 3 {
		begun := time.Now()
		c := exec.CommandContext(ctx, source, "-d", "-s", strconv.Itoa(connections), "-m", strconv.Itoa(messages), "-l", strconv.Itoa(octets), addr)
		if out, err := c.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("smtp-source: %w: %s", err, out)
		}
		best = max(best, rounded(float64(messages)/time.Since(begun).Seconds()))
	}
	return &best, nil
}

// findTool looks where programs are, and where Postfix puts its tools on systems that keep that out of users' paths.
func findTool(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	return exec.LookPath("/usr/sbin/" + name)
}

// freeAddr is a port of loopback that was free just now.
func freeAddr() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// startServer starts a program that listens at addr, and returns once it does. stop kills it, since it does not end by itself.
func startServer(ctx context.Context, c *exec.Cmd, addr string) (stop func(), err error) {
	var out bytes.Buffer
	c.Stderr = &out
	if err := c.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	stop = func() {
		_ = c.Process.Kill()
		<-ended
	}
	for {
		if conn, err := net.Dial("tcp", addr); err == nil {
			return stop, conn.Close()
		}
		select {
		case err := <-ended:
			return nil, fmt.Errorf("%s: %w: %s", c.Path, err, bytes.TrimSpace(out.Bytes()))
		case <-ctx.Done():
			stop()
			return nil, ctx.Err()
		case <-time.After(10 * time.Millisecond):
		}
	}
}
