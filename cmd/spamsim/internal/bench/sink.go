package bench

import (
	"bufio"
	"bytes"
	"net"
	"sync"
	"sync/atomic"
)

// A sink is a next hop that takes every message and keeps none.
type sink struct {
	l     net.Listener
	wg    sync.WaitGroup
	taken atomic.Int64 // messages
}

func startSink() (*sink, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &sink{l: l}
	s.wg.Go(s.accept)
	return s, nil
}

func (s *sink) addr() string { return s.l.Addr().String() }

// close waits for the sessions, which end when their clients hang up.
func (s *sink) close() {
	s.l.Close()
	s.wg.Wait()
}

func (s *sink) accept() {
	for {
		conn, err := s.l.Accept()
		if err != nil {
			return
		}
		s.wg.Go(func() {
			defer conn.Close()
			s.serve(conn)
		})
	}
}

// serve speaks SMTP, with PIPELINING as servers do nowadays: replies wait until there is nothing left to read.
func (s *sink) serve(conn net.Conn) {
	r, w := bufio.NewReaderSize(conn, 64<<10), bufio.NewWriter(conn)
	reply := "220 sink.example ESMTP"
	for {
		w.WriteString(reply + "\r\n")
		if r.Buffered() == 0 && w.Flush() != nil {
			return
		}
		line, err := r.ReadSlice('\n')
		if err != nil {
			return
		}
		switch verb := bytes.ToUpper(line[:min(4, len(line))]); string(verb) {
		case "EHLO":
			reply = "250-sink.example\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SIZE 104857600"
		case "DATA":
			w.WriteString("354 go ahead\r\n")
			if w.Flush() != nil || !skipContent(r) {
				return
			}
			s.taken.Add(1)
			reply = "250 2.0.0 taken"
		case "QUIT":
			w.WriteString("221 2.0.0 bye\r\n")
			w.Flush()
			return
		default:
			reply = "250 2.0.0 ok"
		}
	}
}

// skipContent reads up to the line that is one dot; false where the connection ends before.
func skipContent(r *bufio.Reader) bool {
	for begun := true; ; {
		line, err := r.ReadSlice('\n')
		if begun && string(line) == ".\r\n" {
			return true
		}
		if err != nil && err != bufio.ErrBufferFull {
			return false
		}
		begun = err == nil
	}
}
